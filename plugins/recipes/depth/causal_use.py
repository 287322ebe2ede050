"""Kappa under intervention: does a store make better use of what it retains, or retain the easy?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from framework.analysis.evidence import Job
from framework.contracts.recipe import AddFigure
from framework.errors import UserError
from framework.registry import register
from framework.reporting.blocks import Block, Cell, Table, Text
from framework.statistics.bootstrap import unit_sums
from framework.statistics.clusters import MIN_UNITS, FloatArray, units_of
from plugins.recipes._cells import Measured, measured, shown
from plugins.recipes.depth._cases import values
from plugins.recipes.depth._knobs import Sweep, needs

_PAIRS: Final = (("kappa_inserted", "kappa"), ("leak_removed", "leak"))


@register("recipe", "depth/causal_use")
class CausalUse(Sweep):
    """Use as a property of the store, or of the cases that it retains.

    Each arm's kappa and leak, over the cases that it retained and over the others, beside those of
    all cases with the gold put in and taken out.
    """

    source = "Depth, Table 9 and section 17; the paper does not intervene"
    needs = needs("causal_use")

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        done = [job for job in jobs if "kappa_inserted" in job.summary["axes"]]
        if not done:
            raise UserError("no run with protocol=intervene")
        yield Text(
            "Put in: every required item that the view lacks, in the place of other words of the "
            "view; taken out: every one that it has, for other text of the history; of as many "
            "tokens each. The difference is that of kappa with the gold put in and kappa over the "
            "cases retained: where it is below 0 the store retained cases that are easier than the "
            "others. Paired by case, over clusters."
        )
        yield Table(
            anchor="causal-use",
            caption="kappa and leak as observed, and under intervention",
            columns=("", "budget", "p_ret", "kappa", "gold put in", "difference", "leak",
                     "gold taken out", "difference", "effect of the gold", "n"),
            rows=[_row(job) for job in done],
        )  # fmt: skip


def _row(job: Job) -> list[Cell | str]:
    axes = job.summary["axes"]
    return [
        job.arm,
        job.budget,
        shown(measured(axes.get("p_ret_read"))),
        *(cell for pair in _PAIRS for cell in _cells(job, *pair)),
        shown(measured(axes["use_effect"]), sign="+"),
        str(len(values(job, "use_effect"))),
    ]


def _cells(job: Job, put: str, observed: str) -> Iterator[Cell | str]:
    axes = job.summary["axes"]
    yield shown(measured(axes.get(observed)))
    yield shown(measured(axes.get(put)))
    found = gap(values(job, put), values(job, observed), job.means.clusters)
    yield shown(found, sign="+")


def gap(
    everywhere: Mapping[str, float],
    somewhere: Mapping[str, float],
    clusters: Mapping[str, str | None],
) -> Measured:
    """The mean over the cases of `everywhere` minus that over those of `somewhere`, paired.

    Limits of 95% by the delta method with Student's t over clusters: each mean is the ratio of sums
    over them, and the difference is linearised (Cochran 1977, section 6.3). None where the cases of
    `somewhere` count as fewer than 10 clusters; undefined where either has no case.
    """
    if not everywhere or not somewhere:
        return Measured(value=None)
    cases = sorted(everywhere.keys() | somewhere.keys())
    labels = [clusters[case] for case in cases]
    linear: list[FloatArray] = []
    means = []
    for column in (everywhere, somewhere):
        there = np.array([float(case in column) for case in cases])
        top = unit_sums(np.array([column.get(case, 0.0) for case in cases]), labels)
        bottom = unit_sums(there, labels)
        means.append(float(top.sum() / bottom.sum()))
        linear.append((top - means[-1] * bottom) / bottom.mean())
    value = means[0] - means[1]
    kept = units_of(np.ones(len(somewhere)), [clusters[case] for case in somewhere])
    spread = linear[0] - linear[1]
    if kept.effective < MIN_UNITS or not np.ptp(spread) > 0:
        return Measured(value=value)
    from scipy.special import stdtrit

    half = float(stdtrit(len(spread) - 1, 0.975) * spread.std(ddof=1) / len(spread) ** 0.5)
    return Measured(value=value, low=value - half, high=value + half)
