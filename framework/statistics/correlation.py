"""How far the axes measure the same thing: rank correlations over cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from framework.statistics.bootstrap import (
    MIN_UNITS,
    RESAMPLES,
    FloatArray,
    bootstrap_means,
    percentile_limits,
)
from framework.statistics.intervals import Interval, as_values
from framework.statistics.seeding import generator

MIN_CASES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelationMatrix:
    """Spearman correlations between axes, each over the cases where both are defined.

    Attributes:
        axes: names, in the order of rows and columns.
        rho: shape (axes, axes), symmetric; NaN where undefined.
        n: shape (axes, axes), cases behind each entry.
        undefined: (axis, axis) -> why there is none, for each NaN on or above the diagonal.
    """

    axes: tuple[str, ...]
    rho: FloatArray
    n: npt.NDArray[np.int64]
    undefined: dict[tuple[str, str], str]


def axis_correlations(
    axes: Mapping[str, npt.ArrayLike | Sequence[float | None]],
) -> CorrelationMatrix:
    """Return the correlation matrix of axes over cases.

    Args:
        axes: for each axis one value a case, cases in one order; NaN or ``None`` where undefined.

    Raises:
        ValueError: axes of different lengths, or an infinite value.
    """
    names = tuple(axes)
    columns = [as_values(axes[name]) for name in names]
    if len({len(column) for column in columns}) > 1:
        raise ValueError("the axes have different numbers of cases")
    rho = np.full((len(names), len(names)), np.nan)
    n = np.zeros((len(names), len(names)), dtype=np.int64)
    undefined: dict[tuple[str, str], str] = {}
    for i, x in enumerate(columns):
        for j in range(i, len(columns)):
            y = columns[j]
            both = ~(np.isnan(x) | np.isnan(y))
            n[i, j] = n[j, i] = np.count_nonzero(both)
            constant = [
                names[k] for k, column in ((i, x), (j, y)) if len(np.unique(column[both])) < 2
            ]
            if n[i, j] < MIN_CASES:
                undefined[names[i], names[j]] = f"{n[i, j]} cases, fewer than {MIN_CASES}"
            elif constant:
                undefined[names[i], names[j]] = f"constant: {', '.join(dict.fromkeys(constant))}"
            else:
                rho[i, j] = rho[j, i] = spearman(x[both], y[both])
    return CorrelationMatrix(axes=names, rho=rho, n=n, undefined=undefined)


def spearman(x: FloatArray, y: FloatArray) -> float:
    """Return Spearman's rank correlation, ties at their mean rank; NaN where either is constant.

    Args:
        x: shape (n,), no NaN.
        y: shape (n,), no NaN.
    """
    ranks_x, ranks_y = (_mean_ranks(values) for values in (x, y))
    ranks_x -= ranks_x.mean()
    ranks_y -= ranks_y.mean()
    scale = float(np.sqrt(np.sum(ranks_x**2) * np.sum(ranks_y**2)))
    if scale == 0:
        return float("nan")
    return float(np.clip(np.sum(ranks_x * ranks_y) / scale, -1.0, 1.0))


def _mean_ranks(values: FloatArray) -> FloatArray:
    _, member, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (last - (count - 1) / 2)[member]


def order_agreement(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    clusters: Sequence[str | None],
    *,
    seed: int,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Interval:
    """Return Kendall's tau-b between the orders of the same arms by two sets of means.

    The limits are those of resampled cases, or of clusters of them, the same draws for every arm
    and both sides; resamples in which all arms of a side tie do not count. `mean` is tau-b.

    Args:
        a: shape (arms, cases), every value defined.
        b: the same, by other means (another reader).
        clusters: a label a case, ``None`` for a case that stands alone.
        seed: of the resampling.
        resamples: of the bootstrap.
        level: coverage.

    Raises:
        ValueError: fewer than two arms, other shapes, or an undefined value.
    """
    both = np.stack([np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)])
    if both.ndim != 3 or both.shape[1] < 2 or not np.isfinite(both).all():
        raise ValueError("values of two or more arms on the same cases expected, all defined")
    cases = both.shape[2]
    if len(clusters) != cases:
        raise ValueError(f"{len(clusters)} cluster labels for {cases} cases")
    keys = [("case", i) if label is None else (label, -1) for i, label in enumerate(clusters)]
    number = {key: at for at, key in enumerate(dict.fromkeys(keys))}
    unit = np.array([number[key] for key in keys], dtype=np.intp)
    sums = np.zeros((2 * both.shape[1], len(number)))
    for values, row in zip(both.reshape(len(sums), cases), sums, strict=True):
        np.add.at(row, unit, values)
    order = np.lexsort(sums)
    clustered = len(number) < cases

    def build(low: float | None, high: float | None, method: str) -> Interval:
        found = float(_tau_b(*np.split(sums.sum(axis=1)[:, None], 2))[0])
        return Interval(
            mean=None if np.isnan(found) else found,
            low=low,
            high=high,
            n=cases,
            n_clusters=len(number) if clustered else None,
            method=method,
        )

    what = "clusters" if clustered else "cases"
    if len(number) < MIN_UNITS:
        return build(None, None, f"no interval: {len(number)} {what}, fewer than {MIN_UNITS}")
    rng = generator(seed, "order agreement", str(len(number)))
    drawn = np.stack(bootstrap_means(list(sums[:, order]), rng, resamples))
    taus = _tau_b(*np.split(drawn, 2))
    taus = taus[~np.isnan(taus)]
    if not len(taus):
        return build(None, None, "undefined: all arms tie")
    if np.ptp(taus) == 0:
        return build(None, None, "no interval: the same in every resample")
    return build(*percentile_limits(taus, level), f"percentile bootstrap over {what}")


def _tau_b(a: FloatArray, b: FloatArray) -> FloatArray:
    """Tau-b by column of two arrays (arms, columns); NaN where all arms of a side tie."""
    first, second = np.triu_indices(len(a), 1)

    def signs(values: FloatArray) -> FloatArray:
        apart = values[first] - values[second]
        apart[np.abs(apart) <= 1e-12 * np.abs(values).max(initial=0.0)] = 0.0
        found: FloatArray = np.sign(apart)
        return found

    x, y = signs(a), signs(b)
    scale = np.sqrt(np.sum(x**2, axis=0) * np.sum(y**2, axis=0))
    taus = np.full(scale.shape, np.nan)
    np.divide(np.sum(x * y, axis=0), scale, out=taus, where=scale > 0)
    return taus
