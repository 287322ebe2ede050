"""The Depth paper's formulas, and where each stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from framework.contracts.recipe import AddFigure, Recipe
from framework.registry import register
from framework.reporting.blocks import Block, Table
from plugins.recipes.depth._laws import laws


@register("recipe", "depth/laws")
class Laws(Recipe):
    """The theory's formulas, and where each stands.

    None of them measures anything.
    """

    source = "Depth, sections 3, 8 and 9"
    needs = ""

    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        yield Table(
            anchor="laws",
            caption="Proven: a theorem, given its assumptions. Calibrated: its constants are "
            "fitted to the recall that it then describes. Under-identified: other laws fit as well "
            "at the depths that the paper measured.",
            columns=("function", "source", "standing", "unit", "meaning", "assumes"),
            rows=[
                [law.name, law.source, law.standing, law.unit, law.meaning, "; ".join(law.assumes)]
                for law in laws()
            ],
        )
