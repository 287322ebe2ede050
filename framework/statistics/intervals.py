"""Confidence intervals of one mean: what a summary prints beside every axis."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from framework.statistics.bootstrap import (
    LARGE,
    RESAMPLES,
    bca_limits,
    bootstrap_means,
    percentile_limits,
)
from framework.statistics.bounded import bounded_limits
from framework.statistics.clusters import (
    MIN_UNITS,
    FloatArray,
    Units,
    cluster_robust,
    t_limits,
    units_of,
)
from framework.statistics.seeding import generator

Limits = tuple[float | None, float | None, str]
"""Two limits, ``None`` where none are claimed, and how they were computed, or why not."""
LEVEL: Final = 0.95
"""What intervals of one mean cover."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A mean (or a mean difference) with its confidence limits.

    Attributes:
        mean: over cases; ``None`` when no case counted.
        low: lower limit, ``None`` where none is claimed.
        high: upper limit, ``None`` where none is claimed.
        n: cases that counted; cases where the axis is undefined do not.
        n_clusters: clusters among them, ``None`` when every case stands alone.
        method: how the limits were computed, or why there are none.
    """

    mean: float | None
    low: float | None
    high: float | None
    n: int
    n_clusters: int | None
    method: str


def wilson(successes: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion (Wilson 1927, without continuity correction).

    Raises:
        ValueError: n is not above 0, or successes outside 0..n.
    """
    from scipy.special import ndtri

    _check_counts(successes, n)
    z = float(ndtri((1 + level) / 2))
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    return max(0.0, centre - half), min(1.0, centre + half)


def clopper_pearson(successes: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Return the exact interval of a proportion (Clopper and Pearson 1934): never too short.

    Raises:
        ValueError: n is not above 0, or successes outside 0..n.
    """
    from scipy.special import betaincinv

    _check_counts(successes, n)
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes == n else float(betaincinv(successes + 1, n - successes, 1 - tail))
    return low, high


def effective_wilson(units: Units, level: float) -> tuple[float, float, str]:
    """Return Wilson's limits of a share, for the cases that would give it the same variance.

    The effective sample is mean (1 - mean) / variance, made smaller as t is wider than the normal
    distribution, and at most the cases. Near 0 and 1 these limits hold where those by t do not.
    Source: Korn and Graubard, Survey Methodology 24 (1998), 193-201, with Wilson's limits as in
    Dean and Pagano, Journal of Survey Statistics and Methodology 3 (2015), 484-503.
    """
    from scipy.special import ndtri, stdtrit

    variance, freedom = cluster_robust(units)
    tail = (1 + level) / 2
    spread = units.mean * (1 - units.mean) * float(ndtri(tail) / stdtrit(freedom, tail)) ** 2
    n = float(units.sizes.sum())
    n = n if variance <= spread / n else spread / variance
    low, high = wilson(min(units.mean * n, n), n, level)
    return low, high, "wilson of the effective sample"


def bootstrap_limits(
    units: FloatArray, means: FloatArray, level: float
) -> tuple[float, float, str]:
    """Return BCa limits, or percentile limits where BCa is undefined, with the method's name."""
    limits = bca_limits(units, means, level)
    if limits is not None:
        return *limits, "bca bootstrap"
    return *percentile_limits(means, level), "percentile bootstrap (bca undefined)"


def without_bootstrap(units: Units, level: float, *, share: bool, lowest: float) -> Limits | None:
    """Return the limits of units that need no bootstrap or can't have one, ``None`` for others.

    Args:
        units: see `units_of`.
        level: coverage.
        share: whether every value lies in [lowest, 1].
        lowest: 0 for shares, -1 for their differences.
    """
    size = len(units.sums)
    if size == 0:
        return None, None, "undefined: no cases"
    if units.too_few:
        return None, None, units.too_few
    identical = units.differing == 0
    few = units.differing < MIN_UNITS and (lowest < 0 or units.identical)
    if share and (identical or few):
        return *bounded_limits(units, level, lowest=lowest), "bounded mean"
    if identical:
        return None, None, f"no interval: {'one case' if size == 1 else 'all values equal'}"
    if units.identical:
        return None
    return effective_wilson(units, level) if share and lowest == 0 else t_limits(units, level)


def within(limits: Limits, lowest: float) -> Limits:
    """Return limits cut at the ends of [lowest, 1], and say so in the method."""
    low, high, method = limits
    if low is None or high is None or (low >= lowest and high <= 1):
        return limits
    return max(low, lowest), min(high, 1.0), f"{method}, cut at the end of the scale"


def interval_of(units: Units, limits: Limits, n: int | None = None) -> Interval:
    """Return the interval of the mean over cases; n where they do not all weigh 1."""
    low, high, method = limits
    return Interval(
        mean=units.mean if len(units.sums) else None,
        low=low,
        high=high,
        n=int(units.sizes.sum()) if n is None else n,
        n_clusters=len(units.sums) if units.clustered else None,
        method=f"{method} over clusters" if units.clustered and low is not None else method,
    )


def mean_interval(
    values: npt.ArrayLike | Sequence[float | None],
    clusters: Sequence[str | None] | None = None,
    *,
    seed: int,
    amount: bool = False,
    resamples: int = RESAMPLES,
) -> Interval:
    """Return the mean of one axis with its interval; see `mean_intervals` for the rules."""
    amounts = ("",) if amount else ()
    return mean_intervals({"": values}, clusters, seed=seed, amounts=amounts, resamples=resamples)[
        ""
    ]


def mean_intervals(
    axes: Mapping[str, npt.ArrayLike | Sequence[float | None]],
    clusters: Sequence[str | None] | None = None,
    *,
    seed: int,
    amounts: Collection[str] = (),
    signed: Collection[str] = (),
    weights: Mapping[str, npt.ArrayLike] | None = None,
    resamples: int = RESAMPLES,
) -> dict[str, Interval]:
    """Return the mean of every axis with its interval.

    The order of cases does not matter, and no axis changes another's interval. In this order:

    - No case where the axis is defined: no mean, "undefined: no cases".
    - 0/1 values, every case alone: Wilson; Clopper-Pearson at 0 and at n successes.
    - Clusters that count as fewer than 10 (`Units.effective`): no interval is claimed.
    - Fewer than 10 cases that are not as the others, or clusters all alike: a bootstrap would claim
      near certainty. In [0, 1] `bounded_limits`; for amounts none where all are alike.
    - Clusters, or cases that weigh differently: Wilson's limits of the effective sample for shares,
      t limits for amounts, both with the CR2 variance.
    - Otherwise a BCa bootstrap of the cases; percentile limits where BCa is undefined, and the
      method says so.

    Args:
        axes: for each axis n values in the order of `clusters`; NaN or ``None`` where the axis is
            undefined for the case: such cases do not count.
        clusters: n labels, ``None`` for a case that stands alone.
        seed: of the run.
        amounts: axes that are amounts (tokens, dollars, seconds), not proportions, even when their
            values happen to lie in [0, 1].
        signed: axes that are differences of shares: their scale is [-1, 1], and no rule for shares
            holds, even when their values happen to lie in [0, 1].
        weights: for some axes what each case weighs, at most 1 and above 0 where the axis is
            defined: the share of its rows that define it. Else every case weighs 1.
        resamples: of the bootstrap.

    Raises:
        ValueError: an infinite value, or not one label a value.
    """
    result: dict[str, Interval] = {}
    waiting: dict[int, list[tuple[str, Units]]] = {}
    for name, raw in axes.items():
        values = as_values(raw)
        lowest = -1.0 if name in signed else 0.0
        share = name not in amounts and is_share(values, lowest)
        given = (weights or {}).get(name)
        units = _canonical_units(values, clusters, None if given is None else np.array(given))
        n = int(np.count_nonzero(~np.isnan(values)))
        if share and lowest == 0 and n and units.identical and is_binary(units.sums):
            limits: Limits | None = _of_share(int(units.sums.sum()), len(units.sums))
        else:
            limits = without_bootstrap(units, LEVEL, share=share, lowest=lowest)
            if limits is not None and lowest < 0:
                limits = within(limits, lowest)
        size = len(units.sums)
        if limits is not None:
            result[name] = interval_of(units, limits, n)
        elif size >= LARGE:  # drawn column by column: less work where values repeat, and memory
            result |= _resampled([(name, units)], seed, resamples)
        else:
            waiting.setdefault(size, []).append((name, units))
    for group in waiting.values():
        result |= _resampled(group, seed, resamples)
    return {name: result[name] for name in axes}


def _resampled(
    group: Sequence[tuple[str, Units]], seed: int, resamples: int
) -> dict[str, Interval]:
    """The bootstrap's intervals of units of one number, by the same draws."""
    columns = [units.sums for _, units in group]
    means = bootstrap_means(columns, generator(seed, "mean", str(len(columns[0]))), resamples)
    return {
        name: interval_of(units, bootstrap_limits(units.sums, own, LEVEL))
        for (name, units), own in zip(group, means, strict=True)
    }


def as_values(values: npt.ArrayLike | Sequence[float | None]) -> FloatArray:
    """Return values as floats, ``None`` as NaN.

    Raises:
        ValueError: an infinite value.
    """
    array = np.asarray(values, dtype=np.float64)
    if np.isinf(array).any():
        raise ValueError("an axis value is infinite")
    return array


def is_binary(values: FloatArray) -> bool:
    """Tell whether all values are 0 or 1."""
    return bool(np.all((values == 0) | (values == 1)))


def is_share(values: FloatArray, lowest: float = 0.0) -> bool:
    """Tell whether all defined values lie in [lowest, 1]."""
    defined = values[~np.isnan(values)]
    return bool(np.all((defined >= lowest) & (defined <= 1)))


def _canonical_units(
    values: FloatArray, clusters: Sequence[str | None] | None, weights: FloatArray | None
) -> Units:
    """Drop undefined cases and join clusters, in an order that the input's order can't move."""
    if clusters is not None and len(clusters) != len(values):
        raise ValueError(f"{len(clusters)} cluster labels for {len(values)} values")
    order = np.argsort(values, kind="stable")  # NaN last
    order = order[: np.count_nonzero(~np.isnan(values))]
    labels = None if clusters is None else [clusters[i] for i in order]
    units = units_of(values[order], labels, None if weights is None else weights[order])
    order = np.lexsort((units.sizes, units.sums))
    return Units(units.sums[order], units.sizes[order])


def _of_share(successes: int, n: int) -> Limits:
    if 0 < successes < n:
        return *wilson(successes, n), "wilson"
    return *clopper_pearson(successes, n), "clopper-pearson"


def _check_counts(successes: float, n: float) -> None:
    if not 0 <= successes <= n or n <= 0:
        raise ValueError(f"{successes} successes of {n}")
