"""The loop on the page: why each candidate was promoted or not, and whether TEST confirms it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from framework.analysis.evidence import Evidence
from framework.contracts.section import AddFigure, Section
from framework.registry import register
from framework.reporting.blocks import Block


@register("section", "loop")
class Loop(Section):
    """Improvement loops, shown as in Regimes' tables 1b and 1c and figures 3 to 5."""

    place = 100
    figures = ("loop-0-flips", "loop-0-funnel", "loop-0-trajectory")

    def blocks(self, evidence: Evidence, add_figure: AddFigure) -> Iterator[Block]:
        from plugins.recipes.regimes.loop_page import loops

        yield from loops(evidence, add_figure)

    def reported(self, path: Path) -> Iterator[Block]:
        from plugins.recipes.regimes.loop_page import loops_of, one_loop
        from plugins.recipes.regimes.loop_tables import read_loop

        if (found := read_loop(path)) is not None:
            yield from loops_of(found) if "arms" in found else one_loop(found)

    def result_tables(self, path: Path) -> Iterator[Block]:
        from plugins.recipes.regimes.loop_tables import pooled_of, read_loop

        loops = read_loop(path) or {"arms": {}}
        yield from (pooled_of(loops, arm, arm) for arm in loops["arms"])
