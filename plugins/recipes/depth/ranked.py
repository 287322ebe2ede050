"""The Depth paper's curves of a ranking: nDCG by cutoff, and precision against recall."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from framework.analysis.evidence import Job
from framework.analysis.forms import of_memory
from framework.contracts.recipe import AddFigure
from framework.errors import UserError
from framework.registry import register
from framework.reporting.blocks import Block, Text
from framework.statistics.intervals import mean_interval
from framework.store.answers import answer_records
from plugins.recipes.depth._knobs import Curve, Point, Sweep, curves_block, needs, placed
from plugins.recipes.depth._panels import draw

CUTOFFS: Final = (1, 2, 5, 10, 20, 50)
Ranked = tuple[Collection[int], int]
"""The ranks of the evidence that was recalled, and how much evidence there is."""


# As the axis `ranking` has them at its own cutoffs: plugins of other groups are not imported.
def _ndcg(ranked: Ranked, k: int) -> float:
    ranks, n = ranked
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(n, k) + 1))
    return sum(1 / math.log2(rank + 1) for rank in ranks if rank <= k) / ideal


def _precision(ranked: Ranked, k: int) -> float:
    return sum(rank <= k for rank in ranked[0]) / k


def _recall(ranked: Ranked, k: int) -> float:
    return sum(rank <= k for rank in ranked[0]) / ranked[1]


_MEASURES: Final[Mapping[str, Callable[[Ranked, int], float]]] = {
    "nDCG": _ndcg,
    "recall": _recall,
    "precision": _precision,
}


@register("recipe", "depth/figure8")
class Cutoffs(Sweep):
    """nDCG by cutoff, and precision against recall.

    Of the first so many events that an arm recalled, whether or not the budget let them in.
    """

    source = "Depth, Figure 8"
    needs = needs("paper_geometry")

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        placed(jobs)  # one job an arm, or it says what else was varied
        ranked = {job.arm: (job, found) for job in jobs if (found := _ranked(job))}
        if not ranked:
            raise UserError("the records have no evidence with a rank")
        panels = {
            name: {arm: _curve(job, found, of) for arm, (job, found) in ranked.items()}
            for name, of in _MEASURES.items()
        }
        yield Text(
            "Recall and precision at one cutoff are a point of the precision-recall curve; the "
            "area under it is the axis `map` where all is ranked. What is not recalled has no rank."
        )
        yield from add_figure(
            draw(
                self.file, self.title, panels, "cutoff",
                "Means with 95% intervals over cases, by how many events count.",
                logarithmic=True,
            )
        )  # fmt: skip
        for name, curves in panels.items():
            yield curves_block(f"ranked-{name.lower()}", f"{name} by cutoff", "cutoff", curves)


def _ranked(job: Job) -> dict[str, list[Ranked]]:
    """By case, the ranks of its evidence in each of its rows; cases without evidence are left out.

    What the evidence is is said by the axis `ranking`, a line a piece.
    """
    good = {row.key for row in of_memory(job.good)}
    found: dict[str, list[Ranked]] = {}
    for record in answer_records(job.path):
        lines: Sequence[str] = record.get("evidence", {}).get("ranking", ())
        if tuple(record["key"]) in good and lines:
            ranks: Mapping[str, Any] = record["ranks"]
            events = [line.rpartition(": ")[0] for line in lines]
            own = [int(ranks[event]) for event in events if event in ranks]
            found.setdefault(record["key"][0], []).append((own, len(events)))
    return found


def _curve(
    job: Job, found: Mapping[str, Sequence[Ranked]], of: Callable[[Ranked, int], float]
) -> Curve:
    clusters, seed = [job.means.clusters[case] for case in found], int(job.summary["run"]["seed"])
    points = []
    for k in CUTOFFS:
        means = [sum(of(one, k) for one in rows) / len(rows) for rows in found.values()]
        of_all = mean_interval(means, clusters, seed=seed)
        assert of_all.mean is not None
        points.append(
            Point(x=k, mean=of_all.mean, low=of_all.low, high=of_all.high, n=len(means), job=job)
        )
    return points
