"""How far judges agree: on values, on labels, and on which of two arms is better.

Values are in any unit, one for each thing judged, in one order. What can't be had is None. Limits
come from a bootstrap over cases, whose answers are judged alike: every figure of two judges depends
on the values through a few sums, so a resample is a weighted sum of each case's share of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from framework.statistics.bootstrap import RESAMPLES
from framework.statistics.clusters import MIN_UNITS, FloatArray
from framework.statistics.intervals import LEVEL
from framework.statistics.seeding import generator

THRESHOLD: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Two judges on the same things.

    mean_a, mean_b : mean value of each.
    mean_absolute_disagreement : in the unit of the values.
    pearson : None where a judge gave one value to all.
    cohens_kappa_above, cohens_kappa_at_least : Cohen's kappa of the values binarised at > .5 and at
        >= .5, which differ where a judge says .5; None where both gave one label to all.
    alpha : Krippendorff's alpha for interval values; None where all values are the same.
    """

    n: int
    mean_a: float
    mean_b: float
    mean_absolute_disagreement: float
    pearson: float | None
    cohens_kappa_above: float | None
    cohens_kappa_at_least: float | None
    alpha: float | None


def agreement(a: Sequence[float], b: Sequence[float]) -> Agreement:
    """Every figure of agreement. Raises ValueError for no values or unequal numbers of them."""
    _check(a, b)
    return Agreement(
        n=len(a),
        mean_a=float(np.mean(a)),
        mean_b=float(np.mean(b)),
        mean_absolute_disagreement=mean_absolute_disagreement(a, b),
        pearson=pearson(a, b),
        cohens_kappa_above=cohens_kappa([v > THRESHOLD for v in a], [v > THRESHOLD for v in b]),
        cohens_kappa_at_least=cohens_kappa(
            [v >= THRESHOLD for v in a], [v >= THRESHOLD for v in b]
        ),
        alpha=krippendorffs_alpha([a, b]),
    )


def mean_absolute_disagreement(a: Sequence[float], b: Sequence[float]) -> float:
    """Mean of |a - b|. Raises ValueError for no values or unequal numbers of them."""
    _check(a, b)
    return float(np.mean(np.abs(np.asarray(a, float) - np.asarray(b, float))))


def pearson(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Pearson's correlation; None where either is constant. Raises ValueError as above."""
    _check(a, b)
    # A constant is found by its values: the sum of its rounded squares need not be 0.
    if min(a) == max(a) or min(b) == max(b):
        return None
    x, y = np.asarray(a, float) - np.mean(a), np.asarray(b, float) - np.mean(b)
    return float(np.clip(np.sum(x * y) / np.sqrt(np.sum(x * x) * np.sum(y * y)), -1.0, 1.0))


def cohens_kappa(a: Sequence[Hashable], b: Sequence[Hashable]) -> float | None:
    """Agreement of two raters on labels beyond chance (Cohen 1960): (p_o - p_e) / (1 - p_e).

    None where both gave one and the same label to everything. Raises ValueError as above.
    """
    _check(a, b)
    n = len(a)
    observed = sum(x == y for x, y in zip(a, b, strict=True))
    of_a, of_b = Counter(a), Counter(b)
    expected = sum(count * of_b[label] for label, count in of_a.items())
    if expected == n * n:
        return None
    return (observed * n - expected) / (n * n - expected)


def krippendorffs_alpha(
    raters: Sequence[Sequence[float | None]],
) -> float | None:
    """Agreement of any number of raters with gaps (Krippendorff 2011): 1 - D_o / D_e.

    A difference counts by its square (interval values).

    Args:
        raters: for each rater one value a unit, None where it gave none.

    Returns:
        None where fewer than two values can be paired, or all of them are the same.

    Raises:
        ValueError: no raters, or raters of different numbers of units.
    """
    if not raters or len({len(values) for values in raters}) != 1:
        raise ValueError("raters with the same number of units expected")
    units = [[value for value in unit if value is not None] for unit in zip(*raters, strict=True)]
    units = [unit for unit in units if len(unit) > 1]
    pooled = [value for unit in units for value in unit]
    n = len(pooled)
    if n < 2:
        return None
    within = sum(_pairs(unit) / (len(unit) - 1) for unit in units)
    total = _pairs(pooled)
    return None if total == 0 else 1.0 - within * (n - 1) / total


def _pairs(values: Sequence[float]) -> float:
    """Sum of the distance over unordered pairs, by distinct value, as there are few of them."""
    counts = Counter(values)
    return sum(counts[x] * counts[y] * (x - y) ** 2 for x, y in combinations(sorted(counts), 2))


def _check(a: Sequence[object], b: Sequence[object]) -> None:
    if not a or len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} values: as many of each, and some, expected")


FIGURES: Final = (
    "mean_absolute_disagreement",
    "pearson",
    "cohens_kappa_above",
    "cohens_kappa_at_least",
    "alpha",
)
_LEAST_DEFINED: Final = 0.95
"""Below this share of resamples that define a figure no limits are claimed."""
_BATCH: Final = 1_000


def agreement_limits(
    a: Sequence[float],
    b: Sequence[float],
    clusters: Sequence[str],
    *,
    seed: int,
    names: Sequence[str] = (),
    resamples: int = RESAMPLES,
) -> dict[str, tuple[float, float] | None]:
    """By figure of `Agreement`, its percentile bootstrap limits over clusters.

    None below 10 clusters, where more than 5% of the resamples leave a figure undefined, and where
    all give the same, as for judges who agree on everything: that leaves what was not seen open.

    Args:
        a: the values of one judge.
        b: those of the other on the same answers.
        clusters: of each answer, the case that it belongs to.
        seed: of the run or comparison.
        names: what is compared: another pair of judges draws other numbers.
        resamples: of the bootstrap.

    Raises:
        ValueError: no values, or unequal numbers of them.
    """
    if not a or not len(a) == len(b) == len(clusters):
        raise ValueError(f"{len(a)}, {len(b)} values in {len(clusters)} clusters: as many expected")
    places = {name: i for i, name in enumerate(dict.fromkeys(clusters))}
    if len(places) < MIN_UNITS:
        return dict.fromkeys(FIGURES)
    x, y = np.asarray(a, float), np.asarray(b, float)
    totals = np.zeros((len(places), _sums(x, y).shape[1]))
    np.add.at(totals, [places[name] for name in clusters], _sums(x, y))
    rng = generator(seed, "agreement", *names)
    even = np.full(len(places), 1 / len(places))
    batches = [min(_BATCH, resamples - done) for done in range(0, resamples, _BATCH)]
    drawn = np.concatenate(
        [_figures(rng.multinomial(len(places), even, size=size) @ totals) for size in batches]
    )
    return {
        name: _limits(column[~np.isnan(column)], resamples)
        for name, column in zip(FIGURES, drawn.T, strict=True)
    }


def _sums(x: FloatArray, y: FloatArray) -> FloatArray:
    """For each answer what the figures are made of, as shape (n, 14)."""
    binary = []
    for yes_x, yes_y in ((x > THRESHOLD, y > THRESHOLD), (x >= THRESHOLD, y >= THRESHOLD)):
        binary += [yes_x, yes_y, yes_x == yes_y]
    columns = (np.ones_like(x), np.abs(x - y), x, y, x * x, y * y, x * y, *binary, (x - y) ** 2)
    return np.stack([np.asarray(column, float) for column in columns], axis=1)


def _figures(sums: FloatArray) -> FloatArray:
    """The figures of each row of sums, in the order of `FIGURES`; NaN where undefined."""
    n, apart, sx, sy, sxx, syy, sxy, *binary, squared = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        vx, vy = n * sxx - sx * sx, n * syy - sy * sy
        varied = np.minimum(vx, vy) > 1e-9 * n * n
        pearson = np.where(varied, (n * sxy - sx * sy) / np.sqrt(np.abs(vx * vy)), np.nan)
        kappas = []
        for yes_x, yes_y, same in (binary[:3], binary[3:]):
            expected = yes_x * yes_y + (n - yes_x) * (n - yes_y)
            kappa = (same * n - expected) / (n * n - expected)
            kappas.append(np.where(np.isclose(expected, n * n), np.nan, kappa))
        total = 2 * n * (sxx + syy) - (sx + sy) ** 2
        alpha = np.where(total > 1e-9 * n * n, 1 - squared * (2 * n - 1) / total, np.nan)
    return np.stack([apart / n, pearson, *kappas, alpha], axis=1)


def _limits(defined: FloatArray, resamples: int) -> tuple[float, float] | None:
    if len(defined) < _LEAST_DEFINED * resamples or np.ptp(defined) < 1e-12:
        return None
    low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
