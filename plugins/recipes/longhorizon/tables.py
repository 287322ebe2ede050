"""LongHorizon's tables 1-8, from recorded rows or from sweeps over its domains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from framework.contracts.recipe import AddFigure, Recipe
from framework.errors import UserError
from framework.registry import register
from framework.reporting.blocks import Block
from plugins.recipes._cells import table_block
from plugins.recipes.longhorizon._published import published_tables
from plugins.recipes.longhorizon._sources import NEEDS, NEEDS_VERIFIED, origin, rows_of

_CAPTION: Final = (
    ", in the published conventions. Under each number: what the paper prints, and the difference."
)


class _Table(Recipe):
    """A table of the paper; its number is in its name."""

    needs = NEEDS

    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        rows = rows_of(sources)
        number = int(self.name.removeprefix("longhorizon/table"))
        for table in published_tables(rows, partial=True):
            if table.number == number:
                yield origin(rows)
                yield table_block(table, f"table-{number}", _CAPTION)
                return
        raise UserError(f"table {number}: the rows lack its arms or budgets")


@register("recipe", "longhorizon/table1")
class SameAccuracy(_Table):
    """Same decision accuracy, different profiles."""

    source = "LongHorizon, Table 1"


@register("recipe", "longhorizon/table2")
class Means(_Table):
    """Mean of each axis by architecture."""

    source = "LongHorizon, Table 2"


@register("recipe", "longhorizon/table3")
class Paired(_Table):
    """Paired statistics, summaries against retrieval."""

    source = "LongHorizon, Table 3"


@register("recipe", "longhorizon/table4")
class Hypotheses(_Table):
    """The three hypotheses by budget."""

    source = "LongHorizon, Table 4"


@register("recipe", "longhorizon/table5")
class Gate(_Table):
    """The gate of SAM."""

    source = "LongHorizon, Table 5"


@register("recipe", "longhorizon/table6")
class Projection(_Table):
    """DPM against Summ-only, paired."""

    source = "LongHorizon, Table 6"


@register("recipe", "longhorizon/table7")
class Commitment(_Table):
    """Commitment of the verified reader."""

    source = "LongHorizon, Table 7"
    needs = NEEDS_VERIFIED


@register("recipe", "longhorizon/table8")
class Strictness(_Table):
    """Strictness of verification."""

    source = "LongHorizon, Table 8"
    needs = NEEDS_VERIFIED
