"""Which axes go together."""

from __future__ import annotations

from collections.abc import Iterator

from framework.analysis.evidence import Evidence
from framework.contracts.section import AddFigure, Section
from framework.registry import register
from framework.reporting.blocks import Block, Heading, Table
from framework.reporting.cells import number_cell


@register("section", "correlation")
class Correlation(Section):
    """Correlation of the headline axes over the cases of all runs."""

    place = 870

    def blocks(self, evidence: Evidence, add_figure: AddFigure) -> Iterator[Block]:
        found = evidence.sweep.get("correlation")
        if not found or len(found["axes"]) < 2:
            return
        axes = found["axes"]
        yield Heading("Correlation of axes", "correlation")
        yield Table(
            anchor="correlation-table",
            caption="Spearman's rho over cases and runs. "
            "Correlated axes are not independent evidence.",
            columns=["", *axes],
            rows=[
                [axis, *(number_cell(value, 2) for value in line)]
                for axis, line in zip(axes, found["rho"], strict=True)
            ],
        )
