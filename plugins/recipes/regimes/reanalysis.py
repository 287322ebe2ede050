"""Regimes' tables from its recorded loops."""

from __future__ import annotations

from pathlib import Path

from framework.contracts.recipe import Reanalysis, Reanalyzed
from framework.registry import register


@register("reanalysis", "regimes")
class Regimes(Reanalysis):
    """Regimes' tables 1b and 1c, from the directory of its recorded loops."""

    def reanalyze(self, path: Path) -> Reanalyzed:
        from plugins.recipes.regimes._recorded import read_loops
        from plugins.recipes.regimes._tables import changes, corrected_tables, published_tables

        loops = read_loops(path)
        return Reanalyzed(
            published=published_tables(loops),
            corrected=corrected_tables(loops),
            changes=changes(loops),
        )
