"""LongHorizon's tables from its recorded rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from framework.contracts.recipe import Reanalysis, Reanalyzed
from framework.errors import UserError
from framework.registry import register


@register("reanalysis", "longhorizon")
class LongHorizon(Reanalysis):
    """LongHorizon's tables 1-8, from the CSV of its runs."""

    def reanalyze(self, path: Path) -> Reanalyzed:
        from plugins.recipes.longhorizon._changes import changes
        from plugins.recipes.longhorizon._corrected import corrected_tables
        from plugins.recipes.longhorizon._published import published_tables
        from plugins.recipes.longhorizon._rows import read_rows

        rows = read_rows(path)
        if not rows:
            raise UserError(f"{path} holds no rows")
        try:
            published, corrected = published_tables(rows), corrected_tables(rows)
            listed = changes(rows, published)
        except (KeyError, ZeroDivisionError, ValueError) as error:
            raise UserError(f"{path} is not the whole of the recorded runs: {error}") from None
        return Reanalyzed(published=published, corrected=corrected, changes=listed)

    def rows(self, path: Path) -> Sequence[Mapping[str, Any]] | None:
        from plugins.recipes.longhorizon._rows import read_rows

        if path.suffix != ".csv":
            return None
        return [
            {
                "case_id": row.case_id,
                "arm": row.arm,
                "budget": row.budget,
                "cluster": None,
                "axes": {axis.lower(): value for axis, value in row.axes.items()},
            }
            for row in read_rows(path)
        ]
