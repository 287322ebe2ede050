"""The Depth paper's tables by axis and depth, with what is measured beside what is printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from framework.analysis.evidence import Job
from framework.contracts.recipe import AddFigure
from framework.registry import register
from framework.reporting.blocks import Block
from plugins.recipes._cells import UNDEFINED, Measured, measured
from plugins.recipes._paper_values import printed
from plugins.recipes.depth._beside import Beside, elsewhere, printed_beside
from plugins.recipes.depth._knobs import Sweep, by_depth, needs

_AXES: Final = {
    "table_20": "compliance",
    "table_21": "recall",
    "table_22": "precision",
    "table_23": "f1",
    "table_24": "merge_ready",
    "table_25": "chain_recovery",
}


@register("recipe", "depth/table20")
class AxesByDepth(Sweep):
    """Every axis by arm and depth.

    Beside the printed columns of the generated data set.
    """

    source = "Depth, Tables 20 to 25 and Figure 25"
    needs = needs("paper_geometry")

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        for number, (name, axis) in enumerate(_AXES.items()):
            source = printed("depth")[name]
            if number == 0:
                yield elsewhere(source)
            columns = {f"{axis}, d={depth}": f"syn{depth}" for depth in (1, 2, 3)}
            yield printed_beside(source, columns, jobs, _at_depth)
        drawn = printed("depth")["figure_25"]
        columns = {f"chain_recovery, {column}": column for column in drawn.columns}
        yield printed_beside(drawn, columns, jobs, _at_depth)


def _at_depth(job: Job, column: str) -> Measured:
    axis, _, depth = column.partition(", d=")
    return _by_depth(job, axis).get(depth, UNDEFINED)


def _by_depth(job: Job, axis: str) -> dict[str, Measured]:
    return {f"{point.x:g}": point.measured for point in by_depth(job, axis)}


@register("recipe", "depth/table27")
class Ranking(Sweep):
    """Ranking metrics by arm."""

    source = "Depth, Table 27 and Figure 9"
    needs = needs("paper_geometry")
    axes: ClassVar = {"ndcg_at_10": "nDCG@10 syn", "mrr": "MRR syn", "map": "MAP syn"}

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        source = printed("depth")["table_27"]
        yield elsewhere(source)
        yield printed_beside(
            source, self.axes, jobs, lambda job, axis: measured(job.summary["axes"].get(axis))
        )


@register("recipe", "depth/table31")
class Tokens(Sweep):
    """Tokens of the view by arm.

    The mean over queries, by our counter, beside what the paper spends a query.
    """

    source = "Depth, Tables 31 and 62, Figure 30"
    needs = needs("paper_geometry")

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        for name, column in (("table_31", "tokens"), ("table_62", "synthetic")):
            source = printed("depth")[name]
            if name == "table_31":
                yield elsewhere(source)
            yield printed_beside(source, {"tokens": column}, jobs, _tokens, 0)


def _tokens(job: Job, _: str) -> Measured:
    return Measured(value=job.summary["budget_use"]["mean_view_tokens"])


@register("recipe", "depth/table33")
class DeepCompliance(Beside):
    """Compliance at depth 3, with limits.

    Ours are of 95% over corpora, whose tasks are not independent; the printed ones are Wilson's
    over tasks.
    """

    source = "Depth, Table 33"
    table = "table_33"

    def value(self, job: Job, column: str) -> Measured:
        found = _by_depth(job, "compliance").get("3", UNDEFINED)
        limits = {"compliance": found.value, "low": found.low, "high": found.high}
        return Measured(value=limits[column])
