"""How far two sets of means put the same arms in one order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from framework.statistics.bootstrap import (
    RESAMPLES,
    bootstrap_means,
    percentile_limits,
    unit_sums,
)
from framework.statistics.clusters import MIN_UNITS, FloatArray, units_of
from framework.statistics.intervals import Interval
from framework.statistics.seeding import generator


def order_agreement(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    clusters: Sequence[str | None],
    *,
    seed: int,
) -> Interval:
    """Return Kendall's tau-b between the orders of the same arms by two sets of means.

    The limits are those of resampled cases, or of clusters of them, the same draws for every arm
    and both sides; resamples in which all arms of a side tie do not count. `mean` is tau-b.

    Args:
        a: shape (arms, cases), every value defined.
        b: the same, by other means (another reader).
        clusters: a label a case, ``None`` for a case that stands alone.
        seed: of the resampling.

    Raises:
        ValueError: fewer than two arms, other shapes, or an undefined value.
    """
    both = np.stack([np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)])
    if both.ndim != 3 or both.shape[1] < 2 or not np.isfinite(both).all():
        raise ValueError("values of two or more arms on the same cases expected, all defined")
    cases = both.shape[2]
    sums = np.stack([unit_sums(row, clusters) for row in both.reshape(-1, cases)])
    size = sums.shape[1]
    order = np.lexsort(sums)
    clustered = size < cases

    def build(low: float | None, high: float | None, method: str) -> Interval:
        found = float(_tau_b(*np.split(sums.sum(axis=1)[:, None], 2))[0])
        return Interval(
            mean=None if np.isnan(found) else found,
            low=low,
            high=high,
            n=cases,
            n_clusters=size if clustered else None,
            method=method,
        )

    what = "clusters" if clustered else "cases"
    too_few = units_of(np.ones(cases), clusters).too_few
    if too_few:
        return build(None, None, too_few)
    if size < MIN_UNITS:
        return build(None, None, f"no interval: {size} {what}, fewer than {MIN_UNITS}")
    rng = generator(seed, "order agreement", str(size))
    drawn = np.stack(bootstrap_means(list(sums[:, order]), rng, RESAMPLES))
    taus = _tau_b(*np.split(drawn, 2))
    taus = taus[~np.isnan(taus)]
    if not len(taus):
        return build(None, None, "undefined: all arms tie")
    if np.ptp(taus) == 0:
        return build(None, None, "no interval: the same in every resample")
    return build(*percentile_limits(taus, 0.95), f"percentile bootstrap over {what}")


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
