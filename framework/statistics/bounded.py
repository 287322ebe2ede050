"""Limits of a mean of values that lie in a known range, at any level and whatever their spread.

The sample gets one more unit, as bad as a unit can be, and the units random weights: what stays
above the limit in all but a share `tail` of the weightings is claimed. For 0/1 values these are the
limits of Clopper and Pearson, for n alike units what n of them leave unseen. That they hold for any
distribution is a conjecture that no search has refuted; ours is in docs/reference/statistics.md.
Source: Gaffke, Mathematical Methods of Statistics 14 (2005), 451-467; Learned-Miller and Thomas,
arXiv:1905.06208.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np

from framework.statistics.clusters import FloatArray, Units

LARGE: Final = 2_000
"""Above so many units values are taken in steps of a thousandth."""
_STEP: Final = 0.07
_LINE: Final = [(np.sinh(t), np.cosh(t)) for t in _STEP * np.arange(800).reshape(-1, 50)]
"""The integral is a sum over blocks of steps along a line, of which few are needed."""


def bounded_limits(units: Units, level: float, *, lowest: float = 0.0) -> tuple[float, float]:
    """Return limits of the mean over cases, each valid at one-sided (1 - level) / 2.

    The unit that is added is as large as the largest that was seen.

    Args:
        units: sums of values that lie in [lowest, 1].
        level: coverage of the two limits together.
        lowest: -1 for differences of shares.
    """
    mirrored = Units(-units.sums, units.sizes)
    tail = (1 - level) / 2
    return _lower(units, tail, lowest, 1.0), -_lower(mirrored, tail, -1.0, -lowest)


def _lower(units: Units, tail: float, lowest: float, highest: float) -> float:
    if len(units.sums) > LARGE:  # down to a thousandth, which loses that much at most
        coarse = np.floor(units.sums / units.sizes * 1000) / 1000 * units.sizes
        units = Units(np.maximum(coarse, lowest * units.sizes), units.sizes)
    # Equal units share one gamma variate, which is much less work.
    (pairs, counts) = np.unique(
        np.column_stack((units.sums, units.sizes)), axis=0, return_counts=True
    )
    if units.mean - lowest <= 1e-12:
        return lowest
    return _limit(pairs.astype(float).tobytes(), counts.tobytes(), tail, lowest, highest)


@lru_cache(maxsize=4_096)
def _limit(pairs: bytes, counts: bytes, tail: float, lowest: float, highest: float) -> float:
    """Of sums with sizes, so many of each: axes, strata and runs often have the same."""
    sums, sizes = np.frombuffer(pairs).reshape(-1, 2).T
    sums = np.append(sums, lowest * sizes.max())
    sizes = np.append(sizes, sizes.max())
    shapes = np.append(np.frombuffer(counts, dtype=np.intp), 1.0)

    def excess(mean: float) -> float:
        chance = chance_below(sums - mean * sizes, shapes)
        return math.log(max(chance, tail**3) / tail)

    return _root(excess, lowest, highest)


def chance_below(values: FloatArray, shapes: FloatArray) -> float:
    """Return the probability that sum(values * gamma variates of these shapes) is at most 0.

    By inverting the moment generating function along the line through its saddle point, so that
    the smallest probabilities have as many exact digits as the others (Rice 1968).
    """
    scale = float(np.max(np.abs(values), initial=0.0))
    kept = np.abs(values) > 1e-13 * scale
    values, shapes = values[kept], shapes[kept]
    if not np.any(values > 0):
        return 1.0
    if not np.any(values < 0):
        return 0.0
    if values @ shapes < 0:
        return 1 - _chance_above(values, shapes)
    return _chance_above(-values, shapes)


def _chance_above(values: FloatArray, shapes: FloatArray) -> float:
    values = values / values.max()
    low, high = 0.0, 1.0
    saddle = high
    while high - low > 0.02 * high:  # near is near enough: any line between 0 and 1 is right
        saddle = (low + high) / 2
        if saddle * float(shapes @ (values / (1 - saddle * values))) < 1:
            low = saddle
        else:
            high = saddle
    # On the line s = saddle + 1j * width * sinh(t) the factors are 1 - values * s and s itself.
    shapes, bases = np.append(shapes, 1.0), np.append(1 - saddle * values, saddle)
    slopes = np.append(values, -1.0) / bases
    width = float(shapes @ slopes**2) ** -0.5
    least = shapes @ np.log(bases)
    total = 0.0
    for block, (sinh, cosh) in enumerate(_LINE):
        x = np.multiply.outer(width * slopes, sinh)
        sizes = np.exp(-least - shapes @ np.log1p(x * x) / 2) * cosh
        terms = sizes * np.cos(shapes @ np.arctan(x))
        total += float(terms.sum()) - (terms[0] / 2 if block == 0 else 0.0)
        if np.max(np.abs(terms)) < 1e-13 * abs(total):
            break
    return float(total * width * _STEP / np.pi)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function is 0: regula falsi after Anderson and Bjorck (BIT 13, 1973, 253-264).

    Importing scipy.optimize would take longer than all of a run's limits.
    """
    at_low, at_high = function(low), function(high)
    side = 0
    while high - low > 1e-10:
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        middle = min(max(middle, low + 5e-11), high - 5e-11)
        at = function(middle)
        if at > 0:
            less = 1 - at / at_high if side > 0 else 1.0
            at_low *= less if less > 0 else 0.5
            high, at_high, side = middle, at, 1
        else:
            less = 1 - at / at_low if side < 0 else 1.0
            at_high *= less if less > 0 else 0.5
            low, at_low, side = middle, at, -1
    return low
