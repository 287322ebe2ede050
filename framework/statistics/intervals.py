"""Confidence intervals of one mean: what a summary prints beside every axis."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from framework.statistics.bootstrap import (
    LARGE,
    MIN_UNITS,
    RESAMPLES,
    FloatArray,
    bca_limits,
    bootstrap_means,
    percentile_limits,
    unit_values,
)
from framework.statistics.seeding import generator

Limits = tuple[float | None, float | None, str]
"""Two limits, ``None`` where none are claimed, and how they were computed, or why not."""


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


def wilson(successes: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion (Wilson 1927, without continuity correction).

    Raises:
        ValueError: n < 1, or successes outside 0..n.
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
        ValueError: n < 1, or successes outside 0..n.
    """
    from scipy.special import betaincinv

    _check_counts(successes, n)
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes == n else float(betaincinv(successes + 1, n - successes, 1 - tail))
    return low, high


def unvaried_limits(
    value: float, n: int, level: float = 0.95, *, lowest: float = 0.0
) -> tuple[float, float]:
    """Return exact limits of a mean when all n observations equal `value`, in [lowest, 1].

    With n of n alike, at most U = 1 - tail^(1/n) of the population may differ (Clopper-Pearson),
    and what differs lies at worst at an end of the range: [v - U (v - lowest), v + U (1 - v)]. At
    an end of the range this is Clopper-Pearson itself.
    """
    unseen = -np.expm1(np.log((1 - level) / 2) / n)
    return float(value - unseen * (value - lowest)), float(value + unseen * (1 - value))


def bootstrap_limits(
    units: FloatArray, means: FloatArray, level: float
) -> tuple[float, float, str]:
    """Return BCa limits, or percentile limits where BCa is undefined, with the method's name."""
    limits = bca_limits(units, means, level)
    if limits is not None:
        return *limits, "bca bootstrap"
    return *percentile_limits(means, level), "percentile bootstrap (bca undefined)"


def without_bootstrap(
    units: FloatArray,
    clustered: bool,
    *,
    share: bool,
    level: float,
    lowest: float = 0.0,
    what: str = "values",
) -> Limits | None:
    """Return the limits of units that need no bootstrap or can't have one, ``None`` for others.

    Args:
        units: shape (n,); see `unit_values`.
        clustered: whether some of them hold several cases.
        share: whether every value lies in [lowest, 1].
        level: coverage.
        lowest: 0 for shares, -1 for their differences.
        what: the units' name in the method.
    """
    size = len(units)
    if size == 0:
        return None, None, "undefined: no cases"
    if clustered and size < MIN_UNITS:
        return None, None, f"no interval: {size} clusters, fewer than {MIN_UNITS}"
    if np.ptp(units) > 1e-12 * np.max(np.abs(units)):
        return None
    if share:
        limits = unvaried_limits(float(units[0]), size, level, lowest=lowest)
        return *limits, f"exact (all {what} equal)"
    return None, None, f"no interval: {'one case' if size == 1 else f'all {what} equal'}"


def interval_of(
    units: FloatArray,
    n: int,
    clustered: bool,
    low: float | None,
    high: float | None,
    method: str,
) -> Interval:
    """Return the interval of the mean of units that hold n cases."""
    return Interval(
        mean=float(units.mean()) if len(units) else None,
        low=low,
        high=high,
        n=n,
        n_clusters=len(units) if clustered else None,
        method=f"{method} over clusters" if clustered and low is not None else method,
    )


def mean_interval(
    values: npt.ArrayLike | Sequence[float | None],
    clusters: Sequence[str | None] | None = None,
    *,
    seed: int,
    amount: bool = False,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Interval:
    """Return the mean of one axis with its interval; see `mean_intervals` for the rules."""
    return mean_intervals(
        {"": values},
        clusters,
        seed=seed,
        amounts=("",) if amount else (),
        resamples=resamples,
        level=level,
    )[""]


def mean_intervals(
    axes: Mapping[str, npt.ArrayLike | Sequence[float | None]],
    clusters: Sequence[str | None] | None = None,
    *,
    seed: int,
    amounts: Collection[str] = (),
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> dict[str, Interval]:
    """Return the mean of every axis with its interval.

    The order of cases does not matter, and no axis changes another's interval. In this order:

    - No case where the axis is defined: no mean, "undefined: no cases".
    - 0/1 values, every case alone: Wilson; Clopper-Pearson at 0 and at n successes.
    - Some cluster holds several cases and there are fewer than 10 clusters: no interval is claimed.
    - All values (or all cluster means) equal: a bootstrap would claim certainty. In [0, 1] the
      exact limits of what n alike observations leave unseen, for amounts no interval.
    - Otherwise a BCa bootstrap of the cases, or of the clusters when some cluster holds several
      cases (see `unit_values`); percentile limits where BCa is undefined, and the method says so.
      Limits of a share stay in [0, 1].

    Args:
        axes: for each axis n values in the order of `clusters`; NaN or ``None`` where the axis is
            undefined for the case: such cases do not count.
        clusters: n labels, ``None`` for a case that stands alone.
        seed: of the run.
        amounts: axes that are amounts (tokens, dollars, seconds), not proportions, even when their
            values happen to lie in [0, 1].
        resamples: of the bootstrap.
        level: coverage.

    Raises:
        ValueError: an infinite value, or not one label a value.
    """
    result: dict[str, Interval] = {}
    waiting: dict[int, list[tuple[str, FloatArray, int, bool, bool]]] = {}
    for name, raw in axes.items():
        values = as_values(raw)
        amount = name in amounts or not is_share(values)
        units, clustered = _canonical_units(values, clusters)
        n = int(np.count_nonzero(~np.isnan(values)))
        if not clustered and not amount and n and is_binary(units):
            result[name] = interval_of(units, n, clustered, *_of_share(int(units.sum()), n, level))
            continue
        settled = without_bootstrap(units, clustered, share=not amount, level=level)
        if settled is None:
            waiting.setdefault(len(units), []).append((name, units, n, clustered, amount))
        else:
            result[name] = interval_of(units, n, clustered, *settled)
    for size, group in waiting.items():
        columns = [units for _, units, *_ in group]
        # Many units are drawn column by column, which is less work where values repeat.
        parts = [[column] for column in columns] if size >= LARGE else [columns]
        resampled = [
            means
            for part in parts
            for means in bootstrap_means(part, generator(seed, "mean", str(size)), resamples)
        ]
        for (name, units, n, clustered, amount), means in zip(group, resampled, strict=True):
            low, high, method = bootstrap_limits(units, means, level)
            if not amount:  # a large cluster of ones, linearised, is above 1
                low, high = max(low, 0.0), min(high, 1.0)
            result[name] = interval_of(units, n, clustered, low, high, method)
    return {name: result[name] for name in axes}


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


def is_share(values: FloatArray) -> bool:
    """Tell whether all defined values lie in [0, 1]."""
    defined = values[~np.isnan(values)]
    return bool(np.all((defined >= 0) & (defined <= 1)))


def _canonical_units(
    values: FloatArray, clusters: Sequence[str | None] | None
) -> tuple[FloatArray, bool]:
    """Drop undefined cases and join clusters, in an order that the input's order can't move."""
    if clusters is not None and len(clusters) != len(values):
        raise ValueError(f"{len(clusters)} cluster labels for {len(values)} values")
    order = np.argsort(values, kind="stable")  # NaN last
    order = order[: np.count_nonzero(~np.isnan(values))]
    labels = None if clusters is None else [clusters[i] for i in order]
    units, clustered = unit_values(values[order], labels)
    return np.sort(units), clustered


def _of_share(successes: int, n: int, level: float) -> Limits:
    if 0 < successes < n:
        return *wilson(successes, n, level), "wilson"
    return *clopper_pearson(successes, n, level), "clopper-pearson"


def _check_counts(successes: int, n: int) -> None:
    if not 0 <= successes <= n or n < 1:
        raise ValueError(f"{successes} successes of {n}")
