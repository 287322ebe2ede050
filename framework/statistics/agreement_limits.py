"""Bootstrap limits of figures of agreement, over cases: their answers are judged alike.

Every figure of two judges depends on the values through a few sums, so a resample of cases is a
weighted sum of each case's share of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from framework.statistics.agreement import THRESHOLD
from framework.statistics.bootstrap import MIN_UNITS, RESAMPLES, FloatArray
from framework.statistics.seeding import generator

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
    level: float = 0.95,
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
        level: coverage.
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
        name: _limits(column[~np.isnan(column)], resamples, level)
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


def _limits(defined: FloatArray, resamples: int, level: float) -> tuple[float, float] | None:
    if len(defined) < _LEAST_DEFINED * resamples or np.ptp(defined) < 1e-12:
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
