"""How recall becomes compliance: by bins of recall, by arm, and what each component adds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from framework.analysis.evidence import Job
from framework.contracts.recipe import AddFigure
from framework.errors import UserError
from framework.registry import register
from framework.reporting.blocks import Block, Cell, Table, Text
from framework.statistics.ratios import ratio_of_means
from plugins.recipes._cells import Measured, against, measured
from plugins.recipes._paper_values import printed
from plugins.recipes.depth._beside import Beside, elsewhere
from plugins.recipes.depth._cases import STAR, difference, gain, is_fair, values
from plugins.recipes.depth._knobs import Sweep, needs

_BINS: Final[dict[str, Callable[[float], bool]]] = {
    "r = 0": lambda r: r == 0,
    "0 < r <= 0.5": lambda r: 0 < r <= 0.5,
    "0.5 < r < 1": lambda r: 0.5 < r < 1,
    "r = 1": lambda r: r == 1,
}
_RECALLS: Final = ("recall", "chain_recall")


@register("recipe", "depth/table45")
class RecallBins(Sweep):
    """Compliance by bin of recall.

    Arms under the budget together, by how much of the governing decision, and of the chain to it,
    was recalled.
    """

    source = "Depth, Table 45"
    needs = needs("paper_geometry")

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        source = printed("depth")["table_45"]
        yield elsewhere(source)
        yield Text(
            "Pooled over all arms under the budget that see no gold, so that the bins hold other "
            "arms in other shares: that compliance rises with recall is not what recall does. "
            "Limits of 95% over corpora."
        )
        jobs = [job for job in jobs if is_fair(job)]
        if not jobs:
            raise UserError("no arm of the sweep keeps to the budget without seeing gold")
        for axis in _RECALLS:
            yield Table(
                anchor=f"bins-{axis}",
                caption=f"Compliance by {axis}, all arms together",
                columns=("", "n", "compliance"),
                rows=[_bin(jobs, axis, name) for name in _BINS],
            )


def _bin(jobs: Sequence[Job], axis: str, name: str) -> list[Cell | str]:
    inside: list[float] = []
    complied: list[float] = []
    clusters: list[str | None] = []
    for job in jobs:
        recalled, success = values(job, axis), values(job, "compliance")
        for case in sorted(recalled.keys() & success.keys()):
            there = float(_BINS[name](recalled[case]))
            inside.append(there)
            complied.append(there * success[case])
            clusters.append(job.means.clusters[case])
    texts = printed("depth")["table_45"].row(name) if axis == "recall" else {}
    count = Measured(value=sum(inside))
    if not sum(inside):
        return [name, against(count, texts.get("n", ""), 0), against(Measured(value=None), "")]
    found = ratio_of_means(complied, inside, clusters)
    share = Measured(value=found.value, low=found.low, high=found.high)
    return [name, against(count, texts.get("n", ""), 0),
            against(share, texts.get("compliance", ""))]  # fmt: skip


@register("recipe", "depth/table46")
class Conversion(Beside):
    """How much of the recall becomes compliance.

    Compliance over recall by arm, as the paper has its use factor: above 1 where more is complied
    with than was recalled, by luck. `kappa` of every report is not that.
    """

    source = "Depth, Table 46 and Figure 40"
    table = "table_46"

    def value(self, job: Job, column: str) -> Measured:
        axis = "kappa_ratio" if column == "conversion" else column
        return measured(job.summary["axes"].get(axis))


@register("recipe", "depth/table44")
class Components(Sweep):
    """What each component of the typed graph adds.

    Recall by depth of its seeds alone, and what following edges and pruning add, paired by task.
    """

    source = "Depth, Table 44"
    needs = needs("pruning")

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        by_arm = {job.arm: job for job in jobs}
        steps = ("typed_graph_no_edges", "typed_graph", "typed_graph_pruned")
        if lacking := [arm for arm in steps if arm not in by_arm]:
            raise UserError(f"the sweep lacks {', '.join(lacking)}")
        seeds, walked, pruned = (by_arm[arm] for arm in steps)
        source = printed("depth")["table_44"]
        yield elsewhere(source)
        yield Text(f"The seeds are five records that words find, without edges. {STAR}")
        depths = sorted(set(map(int, seeds.summary["depths"].values())))
        of_seeds = {
            depth: seeds.summary["strata"][name]["recall"]
            for name, depth in seeds.summary["depths"].items()
        }
        rows: list[list[Cell | str]] = [
            ["similarity seed (vs none)", source.values["similarity seed (vs none)"][0],
             *(against(measured(of_seeds[depth]), "") for depth in depths)],
        ]  # fmt: skip
        for label, more, less in (
            ("link traversal", walked, seeds),
            ("dependency pruning", pruned, walked),
        ):
            rows.append(
                [label, source.values[label][0],
                 *(gain(difference(more, less, "recall", depth), digits=3) for depth in depths)]
            )  # fmt: skip
        yield Table(
            anchor="components",
            caption="Recall of the seeds, and what each step adds to it, by depth",
            columns=("", "printed, depth 3", *(f"d = {depth}" for depth in depths)),
            rows=rows,
        )
