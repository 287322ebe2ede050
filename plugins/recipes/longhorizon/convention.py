"""The paired statistics of LongHorizon as published: to reproduce its tables, not to believe them.

Differences from `framework.statistics.paired`: one generator is shared by every comparison, in the
order in which they are made; a Monte Carlo p is count / N, which can be 0; graded values count as a
success from .5 up; a case at several budgets counts as several cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np

from framework.contracts.recipe import Convention
from framework.errors import UserError
from framework.registry import register
from framework.statistics.bootstrap import RESAMPLES, percentile_limits
from framework.statistics.clusters import FloatArray
from framework.statistics.comparison import case_means
from framework.statistics.effects import cohens_h
from framework.statistics.paired import pair
from framework.statistics.proportions import mcnemar

SEED: Final = 20260420


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedComparison:
    """One row of the paper's Tables 3 and 6 (sections 6.1 and 6.5).

    Attributes:
        mean_a: of a.
        mean_b: of b.
        delta: mean_a - mean_b.
        low: 2.5% quantile of the bootstrapped mean differences.
        high: 97.5% quantile.
        permutation_p: share of sign patterns drawn whose mean is at least as far from 0: count / N.
        mcnemar_p: exact, successes from .5 up.
        cohens_h: of the two means.
        n: pairs.
    """

    mean_a: float
    mean_b: float
    delta: float
    low: float
    high: float
    permutation_p: float
    mcnemar_p: float
    cohens_h: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRow:
    """One pair of arms on one axis, all budgets pooled."""

    arm_a: str
    arm_b: str
    axis: str
    found: PublishedComparison


class PublishedDraws:
    """The published convention: its comparisons draw from one generator, so their order matters.

    Which call of which generator the published code made, in which order, is not told by the
    printed numbers: here it is `numpy.random.default_rng(20260420)`, for each comparison the
    bootstrap's indices first and the signs second.
    """

    def __init__(self) -> None:
        self._rng = np.random.default_rng(SEED)

    def compare(self, a: Mapping[str, float], b: Mapping[str, float]) -> PublishedComparison:
        """Compare two arms, case id -> value in [0, 1].

        Raises:
            UnpairedCases: a case that only one of them has.
            ValueError: no case, an undefined value, or one outside [0, 1].
        """
        pairs = pair(dict(a), dict(b))
        n = len(pairs.ids)
        if n == 0 or pairs.undefined:
            raise ValueError("the published convention needs cases, every value defined")
        differences = pairs.a - pairs.b
        drawn = self._rng.integers(0, n, size=(RESAMPLES, n))
        low, high = percentile_limits(differences[drawn].mean(axis=1), 0.95)
        signs = self._rng.integers(0, 2, size=(RESAMPLES, n)) * 2 - 1
        reached = np.abs(signs @ differences) >= abs(differences.sum()) - 1e-12
        mean_a, mean_b = float(pairs.a.mean()), float(pairs.b.mean())
        mcnemar_p = mcnemar(pairs.a, pairs.b).p
        if mcnemar_p is None:
            raise ValueError("the published convention takes values in [0, 1]")
        return PublishedComparison(
            mean_a=mean_a,
            mean_b=mean_b,
            delta=float(differences.mean()),
            low=low,
            high=high,
            permutation_p=float(np.mean(reached)),
            mcnemar_p=mcnemar_p,
            cohens_h=cohens_h(mean_a, mean_b),
            n=n,
        )


@register("convention", "longhorizon")
class LongHorizonConvention(Convention):
    """The conventions of LongHorizon 6.1: to reproduce its numbers, not to draw conclusions."""

    def compare(
        self, rows: Iterable[Mapping[str, Any]], axes: Sequence[str], baseline: str | None
    ) -> list[dict[str, Any]]:
        return [
            {"arm_a": row.arm_a, "arm_b": row.arm_b, "axis": row.axis, **asdict(row.found)}
            for row in published_table(rows, axes=axes, baseline=baseline)
        ]


def published_table(
    rows: Iterable[Mapping[str, Any]],
    *,
    axes: Sequence[str] | None = None,
    baseline: str | None = None,
) -> list[PublishedRow]:
    """Compare arms in the published convention, a case at each of its budgets being a unit.

    One generator serves the whole table, axis by axis and in an axis pair by pair of the sorted
    names, so another arm changes the draws of those after it. Repeats are averaged within their
    case and budget. The convention knows neither undefined values nor amounts: units where either
    side is undefined are left out, and an axis outside [0, 1] has no row.

    Args:
        rows: as `framework.statistics.comparison.case_means` takes them.
        axes: which, in this order; ``None`` takes all found, sorted.
        baseline: compare every other arm with this one; ``None`` compares all pairs.

    Raises:
        UserError: an unknown baseline, or arms on different cases (`UnpairedCases`).
    """
    means = case_means(rows)
    arms = sorted({arm for _, arm in means.values})
    if baseline is not None and baseline not in arms:
        raise UserError(f"baseline {baseline!r} is not among the arms: {', '.join(arms)}")
    pairs = [
        (a, b) if baseline is None else (b if a == baseline else a, baseline)
        for a, b in combinations(arms, 2)
        if baseline is None or baseline in (a, b)
    ]
    convention = PublishedDraws()
    found = []
    for axis in axes or sorted({axis for by_axis in means.values.values() for axis in by_axis}):
        for one, other in pairs:
            budgets = [
                b for b, arm in sorted(means.values) if arm == one and (b, other) in means.values
            ]
            sides = [
                {
                    f"{case} at {budget}": value
                    for budget in budgets
                    for case, value in means.column(budget, arm, axis).items()
                }
                for arm in (one, other)
            ]
            paired = pair(*sides)
            if not len(paired.ids) or not _in_unit(paired.a) or not _in_unit(paired.b):
                continue
            kept = [dict(zip(paired.ids, values, strict=True)) for values in (paired.a, paired.b)]
            found.append(
                PublishedRow(arm_a=one, arm_b=other, axis=axis, found=convention.compare(*kept))
            )
    return found


def _in_unit(values: FloatArray) -> bool:
    return bool(np.all((values >= 0) & (values <= 1)))
