"""Whether two models give the arms the same means and the same order: the cross-model check.

Over arms, not cases: a handful of points. Arms that can't but fail or succeed (none, an oracle)
hold up any correlation over them, so differences arm by arm say more (Depth section 13.1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from framework.statistics.agreement import pearson
from framework.statistics.correlation import spearman

MIN_ARMS: Final = 3
"""Below so many arms a correlation says nothing: with two it is 1 or -1 whatever they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replication:
    """Arm means under model a beside those under model b.

    Attributes:
        n: arms that both have.
        pearson: of the means; ``None`` below 3 arms or where either model gives all the same.
        spearman: of their ranks, likewise.
        kendall: tau-b, likewise.
        mean_difference: mean of |a - b| over arms.
        largest_difference: the largest of them.
        largest_arm: whose it is.
        pairs: pairs of arms that both models tell apart.
        same_order: those that they order alike; the others they order the other way round.
        ties: pairs that either model gives one mean.
    """

    n: int
    pearson: float | None
    spearman: float | None
    kendall: float | None
    mean_difference: float
    largest_difference: float
    largest_arm: str
    pairs: int
    same_order: int
    ties: int


def replication(a: Mapping[str, float], b: Mapping[str, float]) -> Replication:
    """Compare two models by the mean of each arm; arms of one model alone are left out.

    Raises:
        ValueError: no arm in common, or a mean that is no number.
    """
    arms = sorted(a.keys() & b.keys())
    if not arms:
        raise ValueError("the models have no arm in common")
    x, y = [a[arm] for arm in arms], [b[arm] for arm in arms]
    if not all(map(math.isfinite, (*x, *y))):
        raise ValueError("means that are numbers expected")
    apart = {arm: abs(a[arm] - b[arm]) for arm in arms}
    largest = max(arms, key=lambda arm: apart[arm])
    signs = [s * t for s, t in zip(_signs(x), _signs(y), strict=True)]
    enough = len(arms) >= MIN_ARMS
    return Replication(
        n=len(arms),
        pearson=pearson(x, y) if enough else None,
        spearman=_defined(spearman(np.array(x), np.array(y))) if enough else None,
        kendall=kendall(x, y) if enough else None,
        mean_difference=math.fsum(apart.values()) / len(arms),
        largest_difference=apart[largest],
        largest_arm=largest,
        pairs=sum(sign != 0 for sign in signs),
        same_order=sum(sign > 0 for sign in signs),
        ties=sum(sign == 0 for sign in signs),
    )


def kendall(x: list[float], y: list[float]) -> float | None:
    """Kendall's tau-b (1945), which corrects for ties; ``None`` where either is constant."""
    of_x, of_y = _signs(x), _signs(y)
    scale = math.sqrt(sum(map(abs, of_x)) * sum(map(abs, of_y)))
    return sum(s * t for s, t in zip(of_x, of_y, strict=True)) / scale if scale else None


def _signs(values: list[float]) -> list[int]:
    """Of every pair of values, in order, which is the larger."""
    return [(a > b) - (a < b) for a, b in combinations(values, 2)]


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value
