"""Paired and unpaired proportions: McNemar, Tango's score limits, Beta-Binomial superiority."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from framework.statistics.clusters import FloatArray
from framework.statistics.intervals import is_binary, is_share

AS_IS: Final = "as is"
AS_PUBLISHED: Final = ">= 0.5 (published convention)"


@dataclass(frozen=True, slots=True, kw_only=True)
class McNemar:
    """McNemar's exact test of one axis, case by case: descriptive, clusters are ignored.

    Attributes:
        p: two-sided; 1 without discordant cases; ``None`` where the axis can't be binarised.
        wins: cases where only a succeeds.
        losses: cases where only b succeeds.
        smallest_p: the least p that n pairs can reach, all of them discordant: 2^(1-n).
        binarisation: "as is" for a 0/1 axis, ">= 0.5 (published convention)" for other values in
            [0, 1] (LongHorizon, section 6), or why there is none.
    """

    p: float | None = None
    wins: int | None = None
    losses: int | None = None
    smallest_p: float | None = None
    binarisation: str


def mcnemar(a: FloatArray, b: FloatArray, *, amount: bool = False) -> McNemar:
    """Test whether two arms succeed equally often on the same cases.

    Args:
        a: shape (n,), no NaN.
        b: shape (n,), paired with a.
        amount: whether the axis is an amount, which has no successes.
    """
    values = np.concatenate((a, b))
    if len(a) == 0:
        return McNemar(binarisation="undefined: no cases")
    if amount:
        return McNemar(binarisation="undefined: an amount")
    if not is_share(values):
        return McNemar(binarisation="undefined: values outside [0, 1]")
    wins = int(np.count_nonzero((a >= 0.5) & (b < 0.5)))
    losses = int(np.count_nonzero((a < 0.5) & (b >= 0.5)))
    return McNemar(
        p=mcnemar_p(wins, losses),
        wins=wins,
        losses=losses,
        smallest_p=2.0 ** (1 - len(a)),
        binarisation=AS_IS if is_binary(values) else AS_PUBLISHED,
    )


def mcnemar_p(wins: int, losses: int) -> float:
    """Return the exact two-sided p of discordant counts: a fair coin thrown wins + losses times.

    Without discordant pairs there is no evidence either way: p = 1.
    """
    from scipy.special import bdtr

    discordant = wins + losses
    if discordant == 0:
        return 1.0
    return min(1.0, 2 * float(bdtr(min(wins, losses), discordant, 0.5)))


def tango_limits(wins: int, losses: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Return Tango's score limits of a paired difference of proportions, (wins - losses) / n.

    They hold their level with few discordant pairs, where the bootstrap of such a difference is far
    too narrow. Source: Tango, Statistics in Medicine 17 (1998), 891-908.

    Raises:
        ValueError: counts that do not fit n.
    """
    from scipy.special import ndtri

    if min(wins, losses) < 0 or n < 1 or wins + losses > n:
        raise ValueError(f"{wins} wins and {losses} losses of {n} pairs")
    z = float(ndtri((1 + level) / 2))
    return _tango_lower(wins, losses, n, z), -_tango_lower(losses, wins, n, z)


def _tango_lower(wins: int, losses: int, n: int, z: float) -> float:
    """Solve score(delta) = z for delta at or below the estimate; the score falls as delta grows."""
    low, high = -1.0, (wins - losses) / n
    for _ in range(60):  # halves an interval of length 2 down to rounding
        middle = (low + high) / 2
        if _tango_score(wins, losses, n, middle) > z:
            low = middle
        else:
            high = middle
    return low


def _tango_score(wins: int, losses: int, n: int, delta: float) -> float:
    # q: the probability of a loss, at its maximum likelihood given the difference delta.
    linear = -wins - losses + (2 * n - wins + losses) * delta
    constant = -losses * delta * (1 - delta)
    q = ((linear**2 - 8 * n * constant) ** 0.5 - linear) / (4 * n)
    variance = n * (2 * q + delta * (1 - delta))
    excess = wins - losses - n * delta
    if variance <= 0:
        return 0.0 if excess == 0 else float("inf")
    return float(excess / variance**0.5)
