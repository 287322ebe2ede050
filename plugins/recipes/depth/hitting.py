"""Work until a decision is found, against depth (Depth, Theorem 10)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from framework.analysis.evidence import Job
from framework.contracts.recipe import AddFigure
from framework.registry import register
from framework.reporting.blocks import NOTHING, Block, Cell, Table, Text
from plugins.recipes.depth._hops import similarity_hitting_time, traversal_work
from plugins.recipes.depth._knobs import Curve, Point, Sweep, curves_by_depth, needs, placed

_S0, _RHO = 0.70, 0.67
"""What the paper calibrates similarity with, 8.6."""


@register("recipe", "depth/hitting_time")
class HittingTime(Sweep):
    """Work until the decision is found, by depth."""

    source = "Depth, Theorem 10"
    needs = needs("crossover")

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        placed(jobs)
        curves = curves_by_depth(jobs, "recall")
        depths = sorted({float(point.x) for curve in curves.values() for point in curve})
        yield Text(
            "Theorem 10 has traversal pay d operations to reach depth d, and similarity at least "
            "1 / recall, the hitting time over the tasks: of as many retrievals, each as large as "
            "the budget, one finds the decision. So 1 / recall is what is measured of any arm; "
            "growth is that at the last depth over that at the first where both are known. An arm "
            "that walks links within one retrieval pays its hops inside of it: if it is as the "
            "theorem has it, its recall stays, and nothing grows but the hops. The last rows are "
            f"the theorem's own, with the paper's s0 = {_S0:.2f} and rho = {_RHO:.2f} (8.6)."
        )
        yield Table(
            anchor="hitting-time",
            caption="Retrievals until the decision is found, by depth",
            columns=("", *(f"d{depth:g}" for depth in depths), "growth"),
            rows=[
                *([arm, *_cells(curve, depths)] for arm, curve in curves.items()),
                *_of_the_theorem(depths),
            ],
        )


def _cells(curve: Curve, depths: Sequence[float]) -> list[Cell | str]:
    found: Mapping[float, Point] = {float(point.x): point for point in curve}
    known = [1 / found[d].mean for d in depths if d in found and found[d].mean > 0]
    whole = len(known) == len(depths)
    cells = [_inverse(found[depth]) if depth in found else NOTHING for depth in depths]
    return [*cells, f"{known[-1] / known[0]:.1f}" if whole else NOTHING]


def _inverse(point: Point) -> Cell:
    """1 over the mean, and over its limits the other way round; without an end where that is 0."""
    under = ""
    if point.low is not None and point.high is not None:
        most = f"to {1 / point.low:.1f}" if point.low > 0 else "or more"
        under = f"{1 / point.high:.1f} {most}" if point.high > 0 else ""
    if point.mean <= 0:
        return Cell(text="none found", under=under)
    return Cell(text=f"{1 / point.mean:.1f}", under=under, value=1 / point.mean)


def _of_the_theorem(depths: Sequence[float]) -> Iterator[list[Cell | str]]:
    laws = {
        "theorem: traversal, operations": [float(traversal_work(int(d))) for d in depths],
        "theorem: similarity, at least": [similarity_hitting_time(d, _S0, _RHO) for d in depths],
    }
    for name, values in laws.items():
        cells = [Cell(text=f"{value:,.1f}", value=value) for value in values]
        yield [name, *cells, f"{values[-1] / values[0]:,.1f}"]
