"""Two proportions from different cases. Arms on the same cases are paired: see `paired`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from framework.statistics.intervals import wilson

__all__ = ["TwoProportions", "two_proportions"]

_LEAST_EXPECTED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoProportions:
    """A difference of two independent proportions, a - b.

    Attributes:
        difference: of the rates.
        low: Newcombe's hybrid score limit (1998, method 10).
        high: the other.
        z: pooled two-proportion statistic; ``None`` where the pooled rate is 0 or 1.
        z_p: its two-sided p; ``None`` with `z`.
        p: what to quote: `z_p`, or Fisher's exact p where an expected count is below 5.
        method: of `p`.
    """

    difference: float
    low: float
    high: float
    z: float | None
    z_p: float | None
    p: float
    method: str


def two_proportions(
    successes_a: int, n_a: int, successes_b: int, n_b: int, level: float = 0.95
) -> TwoProportions:
    """Compare two independent proportions (Depth, section 7.1 (b) and (e)).

    Raises:
        ValueError: no trials in either arm, or successes outside 0..n.
    """
    from scipy.special import ndtr
    from scipy.stats import fisher_exact

    low_a, high_a = wilson(successes_a, n_a, level)
    low_b, high_b = wilson(successes_b, n_b, level)
    a, b = successes_a / n_a, successes_b / n_b
    pooled = (successes_a + successes_b) / (n_a + n_b)
    z = z_p = None
    if 0 < pooled < 1:
        z = (a - b) / (pooled * (1 - pooled) * (1 / n_a + 1 / n_b)) ** 0.5
        z_p = 2 * float(ndtr(-abs(z)))
    p, method = z_p, "two-proportion z, pooled"
    if p is None or min(pooled, 1 - pooled) * min(n_a, n_b) < _LEAST_EXPECTED:
        table = np.array([[successes_a, n_a - successes_a], [successes_b, n_b - successes_b]])
        p, method = float(fisher_exact(table).pvalue), "fisher exact (few expected)"
    return TwoProportions(
        difference=a - b,
        low=a - b - ((a - low_a) ** 2 + (high_b - b) ** 2) ** 0.5,
        high=a - b + ((high_a - a) ** 2 + (b - low_b) ** 2) ** 0.5,
        z=z,
        z_p=z_p,
        p=p,
        method=method,
    )
