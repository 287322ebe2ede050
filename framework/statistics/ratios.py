"""Ratios of two means, by the delta method and the bootstrap: use factors, successes per token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from framework.statistics.bootstrap import LARGE, RESAMPLES, bootstrap_means, unit_sums
from framework.statistics.clusters import MIN_UNITS, FloatArray, units_of
from framework.statistics.intervals import LEVEL, as_values, bootstrap_limits
from framework.statistics.seeding import generator


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
    se: float | None = None
    low: float | None = None
    high: float | None = None
    n: int
    method: str = ""


def ratio_of_means(
    numerator: npt.ArrayLike | Sequence[float | None],
    denominator: npt.ArrayLike | Sequence[float | None],
    clusters: Sequence[str | None] | None = None,
) -> Ratio:
    """Return mean(numerator) / mean(denominator) over the same cases, covariance included.

    Var(R) = Var(num - R den) / (n mean(den)^2), Student's t limits with n - 1 degrees of freedom.
    Cases where either is undefined do not count. Below 10 units, or clusters that count as 10, no
    limits are claimed.
    Source: Cochran, Sampling Techniques (1977), section 6.3; Depth, section 7 and example (i).

    Args:
        numerator: n values; NaN or ``None`` where undefined.
        denominator: n values, paired with it.
        clusters: n labels, ``None`` for a case that stands alone.

    Raises:
        ValueError: different lengths, or an infinite value.
    """
    from scipy.special import stdtrit

    (top, bottom), _, too_few = _units([numerator, denominator], clusters)
    found = _point(top, bottom, too_few)
    if found.se is None or found.value is None:
        return found
    half = float(stdtrit(found.n - 1, (1 + LEVEL) / 2)) * found.se
    return replace(found, low=found.value - half, high=found.value + half, method="delta method")


def bootstrap_ratios(
    numerator: npt.ArrayLike | Sequence[float | None],
    denominators: Mapping[str, npt.ArrayLike | Sequence[float | None]],
    clusters: Sequence[str | None] | None = None,
    *,
    seed: int,
    resamples: int = RESAMPLES,
) -> dict[str, Ratio]:
    """Return mean(numerator) / mean(denominator) for each of several denominators of 0 or more.

    Units are resampled whole, the same draws for all, so that an interval of what turns the ratio
    over (tokens per success for successes per token) has its limits turned over. BCa limits, with
    the acceleration of the ratio's linearisation; percentile limits where they are undefined. From
    2,000 units on the two agree with the delta method, which is then taken. Cases where anything is
    undefined do not count. No limits are claimed below 10 units, or clusters that count as 10, nor
    where some unit's denominator is 0: a resample of such units has no ratio.
    Source: Efron and Tibshirani (1993), sections 10.3 and 14.3; Depth 5.3 and example (i).

    Args:
        numerator: n values; NaN or ``None`` where undefined.
        denominators: by name, n values, paired with it.
        clusters: n labels, ``None`` for a case that stands alone.
        seed: of the run.
        resamples: of the bootstrap.

    Raises:
        ValueError: different lengths, or an infinite value.
    """
    (top, *bottoms), clustered, too_few = _units([numerator, *denominators.values()], clusters)
    points = (_point(top, bottom, too_few) for bottom in bottoms)
    found = dict(zip(denominators, points, strict=True))
    if len(top) >= LARGE and not too_few:
        pairs = zip(denominators, bottoms, strict=True)
        return {name: ratio_of_means(top, bottom) for name, bottom in pairs}
    drawn: list[FloatArray] = []
    for (name, ratio), bottom in zip(found.items(), bottoms, strict=True):
        if ratio.value is None or ratio.se is None:
            continue
        if bottom.min() <= 0:
            found[name] = replace(ratio, se=None, method="no interval: a denominator is 0")
            continue
        if not drawn:
            drawn = bootstrap_means([top, *bottoms], _generator(seed, len(top)), resamples)
        means = drawn[0] / drawn[1 + list(denominators).index(name)]
        low, high, method = bootstrap_limits(_linear(top, bottom), means, LEVEL)
        over = " over clusters" if clustered else ""
        found[name] = replace(ratio, low=low, high=high, method=method + over)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioDifference:
    """A ratio minus another over the same cases.

    Attributes:
        a: the first ratio, ``None`` where undefined.
        b: the second.
        delta: a - b.
        low: lower limit of delta, ``None`` where none is claimed.
        high: upper limit.
        n: cases that counted: those where all four values are defined.
        n_units: units among them, cases or clusters of them.
        method: how the limits were computed, or why there are none.
    """

    a: float | None
    b: float | None
    delta: float | None
    low: float | None
    high: float | None
    n: int
    n_units: int
    method: str


def ratio_difference(
    numerator_a: npt.ArrayLike | Sequence[float | None],
    denominator_a: npt.ArrayLike | Sequence[float | None],
    numerator_b: npt.ArrayLike | Sequence[float | None],
    denominator_b: npt.ArrayLike | Sequence[float | None],
    clusters: Sequence[str | None] | None = None,
    *,
    seed: int,
) -> RatioDifference:
    """Return one ratio of means minus another, paired by case: both are of the same resamples.

    Limits as in `bootstrap_ratios`; the acceleration is that of the difference's linearisation.
    They are of this difference alone, adjusted for no other.

    Raises:
        ValueError: different lengths, or an infinite value.
    """
    columns = [numerator_a, denominator_a, numerator_b, denominator_b]
    n = int(np.count_nonzero(_defined([as_values(column) for column in columns])))
    units, clustered, too_few = _units(columns, clusters)
    top_a, bottom_a, top_b, bottom_b = units
    a, b = _point(top_a, bottom_a, too_few), _point(top_b, bottom_b, too_few)
    delta = None if a.value is None or b.value is None else a.value - b.value
    low = high = None
    linear = None if delta is None else _linear(top_a, bottom_a) - _linear(top_b, bottom_b)
    if delta is None or linear is None:
        method = a.method if a.value is None else b.method
    elif a.n < MIN_UNITS or too_few:
        method = a.method
    elif np.ptp(linear) <= 1e-12 * float(np.max(np.abs(linear), initial=1e-300)):
        method = "no interval: all differences are equal"
    elif min(bottom_a.min(), bottom_b.min()) <= 0:
        method = "no interval: a denominator is 0"
    elif a.n >= LARGE:
        from scipy.special import stdtrit

        half = float(stdtrit(a.n - 1, (1 + LEVEL) / 2) * linear.std(ddof=1) / a.n**0.5)
        low, high, method = delta - half, delta + half, "delta method"
    else:
        drawn = bootstrap_means(units, _generator(seed, a.n))
        means = drawn[0] / drawn[1] - drawn[2] / drawn[3]
        low, high, method = bootstrap_limits(linear, means, LEVEL)
        method += " over clusters" if clustered else ""
    return RatioDifference(
        a=a.value, b=b.value, delta=delta, low=low, high=high, n=n, n_units=a.n, method=method
    )


def _defined(columns: Sequence[FloatArray]) -> npt.NDArray[np.bool_]:
    if len({len(column) for column in columns}) > 1:
        sizes = ", ".join(str(len(column)) for column in columns)
        raise ValueError(f"{sizes} values: columns of one length expected")
    defined: npt.NDArray[np.bool_] = np.logical_and.reduce([~np.isnan(c) for c in columns])
    return defined


def _units(
    columns: Sequence[npt.ArrayLike | Sequence[float | None]],
    clusters: Sequence[str | None] | None,
) -> tuple[list[FloatArray], bool, str]:
    """Columns over the cases where all are defined, summed in clusters; and whether any was.

    Third, why they are too few for limits, by `Units.too_few`; empty where they are not.

    Sums, since the ratio is one of totals: a cluster's denominator is never below 0 then.
    """
    values = [as_values(column) for column in columns]
    kept = _defined(values)
    labels = None if clusters is None else [c for c, k in zip(clusters, kept, strict=True) if k]
    sums = [unit_sums(column[kept], labels) for column in values]
    # In an order that the input's order can't move: draws are by place.
    order = np.lexsort(sums)
    whole = units_of(np.ones(int(kept.sum())), labels)
    return [units[order] for units in sums], whole.clustered, whole.too_few


def _point(top: FloatArray, bottom: FloatArray, too_few: str) -> Ratio:
    """The ratio with its delta-method error and no limits; the reason where there can be none."""
    n = len(top)
    if n == 0:
        return Ratio(value=None, n=0, method="undefined: no cases")
    if abs(float(bottom.mean())) <= 1e-12 * float(np.max(np.abs(bottom), initial=0.0)):
        return Ratio(value=None, n=n, method="undefined: the denominator is 0")
    value = float(top.mean() / bottom.mean())
    if n < MIN_UNITS:
        too_few = f"no interval: {n} units, fewer than {MIN_UNITS}"
    if too_few:
        return Ratio(value=value, n=n, method=too_few)
    residuals = top - value * bottom
    if np.max(np.abs(residuals)) <= 1e-12 * max(float(np.max(np.abs(top))), 1e-300):
        reason = "no interval: numerator and denominator are proportional"
        return Ratio(value=value, n=n, method=reason)
    se = float(np.sqrt(np.sum(residuals**2) / (n - 1) / n) / abs(bottom.mean()))
    return Ratio(value=value, se=se, n=n)


def _linear(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """By unit what the ratio of means is the mean of, to first order; its mean is the ratio."""
    value = float(top.mean() / bottom.mean())
    return value + (top - value * bottom) / float(bottom.mean())


def _generator(seed: int, units: int) -> np.random.Generator:
    return generator(seed, "ratio", str(units))
