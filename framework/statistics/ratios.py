"""Ratios of two means by the delta method: use factors, return on tokens, retention ratios."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from framework.statistics.bootstrap import MIN_UNITS, FloatArray, unit_means
from framework.statistics.intervals import as_values

__all__ = ["Ratio", "ratio_of_means", "ratio_of_rates"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """A ratio with its standard error and limits.

    Attributes:
        value: numerator over denominator; ``None`` where the denominator is 0 or nothing counted.
        se: standard error by the delta method, ``None`` where there is none.
        low: lower limit, ``None`` where none is claimed; may be below 0.
        high: upper limit, ``None`` where none is claimed.
        n: units (cases, or clusters of them).
        method: how the limits were computed, or why there are none.
    """

    value: float | None
    se: float | None
    low: float | None
    high: float | None
    n: int
    method: str


def ratio_of_means(
    numerator: npt.ArrayLike | Sequence[float | None],
    denominator: npt.ArrayLike | Sequence[float | None],
    clusters: Sequence[str | None] | None = None,
    *,
    level: float = 0.95,
) -> Ratio:
    """Return mean(numerator) / mean(denominator) over the same cases, covariance included.

    Var(R) = Var(num - R den) / (n mean(den)^2), Student's t limits with n - 1 degrees of freedom.
    Cases where either is undefined do not count. Below 10 units no limits are claimed.
    Source: Cochran, Sampling Techniques (1977), section 6.3; Depth, section 7 and example (i).

    Args:
        numerator: n values; NaN or ``None`` where undefined.
        denominator: n values, paired with it.
        clusters: n labels, ``None`` for a case that stands alone.
        level: coverage.

    Raises:
        ValueError: different lengths, or an infinite value.
    """
    from scipy.special import stdtrit

    top, bottom = as_values(numerator), as_values(denominator)
    if len(top) != len(bottom):
        raise ValueError(f"{len(top)} numerators for {len(bottom)} denominators")
    kept = ~(np.isnan(top) | np.isnan(bottom))
    labels = None if clusters is None else [c for c, k in zip(clusters, kept, strict=True) if k]
    top, _ = unit_means(top[kept], labels)
    bottom, _ = unit_means(bottom[kept], labels)
    n = len(top)
    if n == 0:
        return _refused(None, 0, "undefined: no cases")
    if _is_zero(float(bottom.mean()), bottom):
        return _refused(None, n, "undefined: the denominator is 0")
    value = float(top.mean() / bottom.mean())
    if n < MIN_UNITS:
        return _refused(value, n, f"no interval: {n} units, fewer than {MIN_UNITS}")
    residuals = top - value * bottom
    if np.max(np.abs(residuals)) <= 1e-12 * max(float(np.max(np.abs(top))), 1e-300):
        return _refused(value, n, "no interval: numerator and denominator are proportional")
    se = float(np.sqrt(np.sum(residuals**2) / (n - 1) / n) / abs(bottom.mean()))
    half = float(stdtrit(n - 1, (1 + level) / 2)) * se
    return Ratio(
        value=value, se=se, low=value - half, high=value + half, n=n, method="delta method"
    )


def ratio_of_rates(
    successes: int, n: int, base_successes: int, base_n: int, *, level: float = 0.95
) -> Ratio:
    """Return the ratio of two rates as if independent: conservative for positively dependent ones.

    Var(R) = R^2 ((1 - p) / (n p) + (1 - q) / (m q)), limits on the logarithm (Katz 1978).
    Source: Depth, section 7.1 (d), whose limits are not given.

    Raises:
        ValueError: counts that do not fit.
    """
    from scipy.special import ndtri

    for count, size in ((successes, n), (base_successes, base_n)):
        if not 0 <= count <= size:
            raise ValueError(f"{count} successes of {size}")
    if n == 0 or base_n == 0:
        return _refused(None, 0, "undefined: no cases")
    if base_successes == 0:
        return _refused(None, n, "undefined: the denominator is 0")
    p, q = successes / n, base_successes / base_n
    if successes == 0:
        return _refused(0.0, n, "no interval: the numerator is 0")
    spread = ((1 - p) / (n * p) + (1 - q) / (base_n * q)) ** 0.5
    if spread == 0:
        return _refused(p / q, n, "no interval: both rates are 1")
    factor = float(np.exp(float(ndtri((1 + level) / 2)) * spread))
    value = p / q
    return Ratio(
        value=value,
        se=value * spread,
        low=value / factor,
        high=value * factor,
        n=n,
        method="delta method on the logarithm, independent",
    )


def _is_zero(mean: float, values: FloatArray) -> bool:
    return abs(mean) <= 1e-12 * float(np.max(np.abs(values), initial=0.0))


def _refused(value: float | None, n: int, reason: str) -> Ratio:
    return Ratio(value=value, se=None, low=None, high=None, n=n, method=reason)
