"""How far judges agree: on values, on labels, and on which of two arms is better.

Values are in any unit, one for each thing judged, in one order. What can't be had is None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal, TypeVar

import numpy as np

K = TypeVar("K", bound=Hashable)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """On how many paired comparisons two judges see the same sign of a difference.

    kept = same sign, ties included; ties = both see none; reversed = opposite signs; the rest of
    `n` is a tie to one judge only.
    """

    n: int
    kept: int
    ties: int
    reversed: int


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


def gwets_ac1(a: Sequence[Hashable], b: Sequence[Hashable], categories: int) -> float:
    """Agreement of two raters on labels beyond chance (Gwet 2008, equation 7), for skewed labels.

    Chance agreement is sum p (1 - p) / (categories - 1), p the mean share of a label: where nearly
    all is of one label it goes to 0, while that of kappa goes to 1.

    Args:
        a: labels of one rater.
        b: those of the other on the same things.
        categories: how many labels there are to choose from, used or not.

    Raises:
        ValueError: no values, unequal numbers of them, or fewer categories than 2 or than are used.
    """
    _check(a, b)
    counts = Counter([*a, *b])
    if categories < max(2, len(counts)):
        raise ValueError(f"{categories} categories, {len(counts)} used: at least 2, and as many")
    observed = sum(x == y for x, y in zip(a, b, strict=True)) / len(a)
    shares = (count / (2 * len(a)) for count in counts.values())
    expected = sum(share * (1 - share) for share in shares) / (categories - 1)
    return (observed - expected) / (1 - expected)


def krippendorffs_alpha(
    raters: Sequence[Sequence[float | None]], level: Literal["nominal", "interval"] = "interval"
) -> float | None:
    """Agreement of any number of raters with gaps (Krippendorff 2011): 1 - D_o / D_e.

    Args:
        raters: for each rater one value a unit, None where it gave none.
        level: `nominal` counts any difference as 1, `interval` its square.

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
    delta = _DISTANCES[level]
    within = sum(_pairs(unit, delta) / (len(unit) - 1) for unit in units)
    total = _pairs(pooled, delta)
    return None if total == 0 else 1.0 - within * (n - 1) / total


def direction_kept(
    a: Mapping[K, tuple[float, float]], b: Mapping[K, tuple[float, float]]
) -> Direction:
    """Compare the signs of two judges' differences.

    Args:
        a: by comparison (a case), the values that one judge gave the two arms.
        b: those that the other gave. Comparisons of one judge alone are left out.
    """
    signs = [(_sign(*a[key]), _sign(*b[key])) for key in a if key in b]
    return Direction(
        n=len(signs),
        kept=sum(x == y for x, y in signs),
        ties=sum(x == y == 0 for x, y in signs),
        reversed=sum(x * y < 0 for x, y in signs),
    )


def _sign(first: float, second: float) -> int:
    return (first > second) - (first < second)


def _nominal(x: float, y: float) -> float:
    return float(x != y)


def _interval(x: float, y: float) -> float:
    return (x - y) ** 2


_DISTANCES: Final[Mapping[str, Callable[[float, float], float]]] = {
    "nominal": _nominal,
    "interval": _interval,
}


def _pairs(values: Sequence[float], delta: Callable[[float, float], float]) -> float:
    """Sum of the distance over unordered pairs, by distinct value, as there are few of them."""
    counts = Counter(values)
    return sum(counts[x] * counts[y] * delta(x, y) for x, y in combinations(sorted(counts), 2))


def _check(a: Sequence[object], b: Sequence[object]) -> None:
    if not a or len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} values: as many of each, and some, expected")
