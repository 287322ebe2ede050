"""Judge agreement, where two judged the same answers."""

from __future__ import annotations

from collections.abc import Iterator

from framework.analysis.evidence import Evidence
from framework.contracts.section import AddFigure, Section
from framework.registry import register
from framework.reporting.blocks import Block


@register("section", "judges")
class Judges(Section):
    """Judge agreement."""

    place = 500
    figures = ("judges-0",)

    def blocks(self, evidence: Evidence, add_figure: AddFigure) -> Iterator[Block]:
        from plugins.judging.blocks import blocks as agreement
        from plugins.judging.blocks import drawings, pairs

        found = pairs(evidence)
        if found:
            yield from agreement(found)
            for drawing in drawings(found):
                yield from add_figure(drawing)
