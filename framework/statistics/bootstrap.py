"""The bootstrap of a mean: units, resampled means, percentile and BCa limits.

Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapters 13 and 14.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from framework.statistics.clusters import FloatArray, units_of

RESAMPLES = 10_000
"""Resamples of every interval and draws of every Monte Carlo test, unless told otherwise."""

LARGE = 2_000
"""From this many units on, equal values are drawn together where that is less work."""

_BATCH_ENTRIES = 1 << 18  # of the count matrix: 2 MB, so that a batch stays in cache
_KEPT_UNITS = 128  # draws of up to so many units are kept: at most 1.3 MB each
_MOST_KEPT = 48
_kept: dict[tuple[str, int, int], tuple[list[npt.NDArray[np.uint8]], Any]] = {}
_DRAWS_A_COUNT = 16  # drawing one binomial count costs about as much as drawing so many units


def unit_values(
    values: FloatArray, clusters: Sequence[str | None] | None
) -> tuple[FloatArray, bool]:
    """Return what is resampled: cases, or clusters of them; its mean is the mean over cases.

    A cluster of m_i cases with sum s_i counts as y + (s_i - y m_i) / m, y being the mean over cases
    and m the mean size: the linearised ratio of sums to sizes (Cochran, Sampling Techniques, 1977,
    section 9A), so that large clusters weigh by their cases, and that sizes vary is in the spread.
    Where all clusters have one size it is the cluster's mean.

    Args:
        values: shape (n,), one value a case.
        clusters: n labels; ``None`` for a case that stands alone.

    Returns:
        The units in order of first appearance, and whether some cluster holds several cases.
        When none does, the units are the cases.

    Raises:
        ValueError: not one label a case.
    """
    units = units_of(values, clusters)
    if not units.clustered:
        return values, False
    sums, sizes = units.sums, units.sizes
    if np.ptp(sizes) == 0:
        return sums / sizes, True
    mean = sums.sum() / len(values)
    return mean + (sums - mean * sizes) * (len(sizes) / len(values)), True


def unit_sums(values: FloatArray, clusters: Sequence[str | None] | None) -> FloatArray:
    """Return by unit the sum of its values over the mean size: their mean is that over cases too.

    What sign flips turn round: a unit whose values sum to 0 is 0, as in `unit_values` it need not
    be where sizes differ. Raises ValueError: not one label a case.
    """
    units = units_of(values, clusters)
    return units.sums * (len(units.sums) / max(1, len(values)))


def bootstrap_means(
    columns: Sequence[FloatArray], rng: np.random.Generator, resamples: int = RESAMPLES
) -> list[FloatArray]:
    """Resample n units with replacement, the same draws for every column.

    Sharing the draws makes thirty axes cost little more than one; each column's result depends on
    that column, the generator and n alone. Memory is bounded whatever n and `resamples` are.
    A single column of at least `LARGE` units with few distinct values is resampled by how often
    each value is drawn (multinomial counts), which is the same distribution at a fraction of the
    cost.

    Args:
        columns: arrays of one length n >= 1.
        rng: the generator; used up.
        resamples: how many means to draw.

    Returns:
        For each column its `resamples` means.
    """
    n = len(columns[0])
    if n >= LARGE and len(columns) == 1:
        values, counts = np.unique(columns[0], return_counts=True)
        if len(values) * _DRAWS_A_COUNT <= n:
            return [_means_by_counts(values, counts, rng, resamples)]
    means = [np.empty(resamples) for _ in columns]
    start = 0
    for counts in _drawn(rng, n, resamples):
        weights = counts.astype(np.float64)
        for column, out in zip(columns, means, strict=True):
            out[start : start + len(counts)] = weights @ column
        start += len(counts)
    for out in means:
        out /= n
    return means


def _drawn(rng: np.random.Generator, n: int, resamples: int) -> Iterable[npt.NDArray[Any]]:
    """How often each of n units is drawn, by resample, in batches.

    A run asks for the same draws for every part of its cases of one size: few are kept.
    """
    if n > _KEPT_UNITS or resamples > RESAMPLES:
        return _draws(rng, n, resamples)
    key = (str(rng.bit_generator.state), n, resamples)
    if key not in _kept:
        while len(_kept) >= _MOST_KEPT:
            _kept.pop(next(iter(_kept)))
        batches = [counts.astype(np.uint8) for counts in _draws(rng, n, resamples)]
        _kept[key] = batches, rng.bit_generator.state
    batches, rng.bit_generator.state = _kept[key]
    return batches


def _draws(rng: np.random.Generator, n: int, resamples: int) -> Iterator[npt.NDArray[np.intp]]:
    batch = max(1, _BATCH_ENTRIES // n)
    for start in range(0, resamples, batch):
        size = min(batch, resamples - start)
        draws = rng.integers(0, n, size=(size, n))
        draws += np.arange(0, size * n, n)[:, None]
        yield np.bincount(draws.ravel(), minlength=size * n).reshape(size, n)


def _means_by_counts(
    values: FloatArray, counts: npt.NDArray[np.intp], rng: np.random.Generator, resamples: int
) -> FloatArray:
    n = int(counts.sum())
    means = np.empty(resamples)
    batch = max(1, _BATCH_ENTRIES // len(values))
    for start in range(0, resamples, batch):
        size = min(batch, resamples - start)
        means[start : start + size] = rng.multinomial(n, counts / n, size=size) @ values / n
    return means


def percentile_limits(means: FloatArray, level: float) -> tuple[float, float]:
    """Return the central `level` of the resampled means."""
    tail = (1 - level) / 2
    low, high = np.quantile(means, (tail, 1 - tail))
    return float(low), float(high)


def bca_limits(units: FloatArray, means: FloatArray, level: float) -> tuple[float, float] | None:
    """Return the bias-corrected and accelerated limits, or ``None`` where they are undefined.

    Undefined: all units equal, every resampled mean on one side of the estimate, or an acceleration
    so large that the adjusted percentile turns back. Resampled means equal to the estimate count
    half, within rounding: on graded values such ties are common and would bias the correction.

    Args:
        units: shape (n,), what was resampled.
        means: the resampled means.
        level: coverage, such as .95.
    """
    from scipy.special import ndtr, ndtri

    deviations = units - units.mean()
    squares = float(np.sum(deviations**2))
    scale = float(np.max(np.abs(units)))
    if squares <= (1e-12 * scale) ** 2 * len(units):
        return None
    tie = 1e-12 * scale
    shift = means - units.mean()
    share_below = (np.sum(shift < -tie) + 0.5 * np.sum(np.abs(shift) <= tie)) / len(means)
    if not 0 < share_below < 1:
        return None
    bias = float(ndtri(share_below))
    # The jackknife of a mean in closed form: leaving unit i out moves it by -deviation_i / (n - 1).
    acceleration = float(np.sum(deviations**3)) / (6 * squares**1.5)
    tail = (1 - level) / 2
    quantiles = []
    for z in (float(ndtri(tail)), float(ndtri(1 - tail))):
        denominator = 1 - acceleration * (bias + z)
        if denominator <= 0:
            return None
        quantiles.append(float(ndtr(bias + (bias + z) / denominator)))
    low, high = np.quantile(means, quantiles)
    return float(low), float(high)
