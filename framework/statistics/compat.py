"""The paired statistics of LongHorizon as published: to reproduce its tables, not to believe them.

Differences from `framework.statistics.paired`: one generator is shared by every comparison, in the
order in which they are made; a Monte Carlo p is count / N, which can be 0; graded values count as a
success from .5 up; a case at several budgets counts as several cases.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from framework.statistics.bootstrap import RESAMPLES, percentile_limits
from framework.statistics.effects import cohens_h
from framework.statistics.paired import pair
from framework.statistics.proportions import mcnemar

__all__ = ["LONGHORIZON_SEED", "LongHorizon", "PublishedComparison"]

LONGHORIZON_SEED: Final = 20260420


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


class LongHorizon:
    """The published convention: its comparisons draw from one generator, so their order matters.

    Which call of which generator the published code made, in which order, is not told by the
    printed numbers: here it is `numpy.random.default_rng(20260420)`, for each comparison the
    bootstrap's indices first and the signs second.
    """

    def __init__(self, seed: int = LONGHORIZON_SEED, resamples: int = RESAMPLES) -> None:
        self._rng = np.random.default_rng(seed)
        self._resamples = resamples

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
        drawn = self._rng.integers(0, n, size=(self._resamples, n))
        low, high = percentile_limits(differences[drawn].mean(axis=1), 0.95)
        signs = self._rng.integers(0, 2, size=(self._resamples, n)) * 2 - 1
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
