"""Strength of arms from who does better on the same cases: the Bradley-Terry model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from framework.statistics.bootstrap import bootstrap_means, percentile_limits
from framework.statistics.clusters import MIN_UNITS, FloatArray
from framework.statistics.intervals import as_values
from framework.statistics.seeding import generator

_RESAMPLES = 2_000
_MOST_UNDEFINED = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Strengths:
    """Log-strengths of arms, their mean 0: P(i does better than j) = 1 / (1 + exp(s_j - s_i)).

    Attributes:
        arms: as given.
        strength: of each; ``None`` for all where the model has no finite solution.
        low: 95% percentile limits over resampled cases; ``None`` where none are claimed.
        high: likewise.
        wins: shape (arms, arms): cases on which the row does better than the column, a tie half.
        n: cases.
        method: of the limits, or why there are no strengths.
    """

    arms: tuple[str, ...]
    strength: tuple[float, ...] | None = None
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None
    wins: FloatArray
    n: int
    method: str


def bradley_terry(
    values: npt.ArrayLike,
    arms: Sequence[str],
    *,
    seed: int,
    higher_is_better: bool = True,
    resamples: int = _RESAMPLES,
    level: float = 0.95,
) -> Strengths:
    """Fit Bradley-Terry strengths to pairs of arms compared case by case, a tie half a win.

    A finite solution needs a chain of wins from every arm to every other (Ford 1957); without, an
    arm that always wins is infinitely strong, and the strengths are refused. Limits resample cases,
    since the pairs of one case are not independent. Solved by Hunter's algorithm (2004).

    Args:
        values: shape (cases, arms), no NaN.
        arms: names of the columns, two or more.
        seed: of the resampling.
        higher_is_better: whether the higher value wins.
        resamples: of the bootstrap.
        level: coverage.

    Raises:
        ValueError: not such a table, or not one name a column.
    """
    table = as_values(values)
    if table.ndim != 2 or len(table) == 0 or len(arms) < 2 or table.shape[1] != len(arms):
        raise ValueError("a table of cases x arms with a name for each of two arms or more")
    if np.isnan(table).any():
        raise ValueError("undefined values: take the cases that every arm defines")
    if not higher_is_better:
        table = -table
    n, k = table.shape
    per_case = np.sign(table[:, :, None] - table[:, None, :]) / 2 + 0.5
    per_case[:, np.arange(k), np.arange(k)] = 0.0
    wins: FloatArray = per_case.sum(axis=0)
    if not _connected(wins[None])[0]:
        method = "undefined: some arms are never beaten by the others, or never beat them"
        return Strengths(arms=tuple(arms), wins=wins, n=n, method=method)
    found = Strengths(
        arms=tuple(arms),
        strength=tuple(float(s) for s in _solve(wins[None])[0]),
        wins=wins,
        n=n,
        method=f"no interval: {n} cases, fewer than {MIN_UNITS}",
    )
    if n < MIN_UNITS:
        return found
    off = [(i, j) for i in range(k) for j in range(k) if i != j]
    columns = [np.ascontiguousarray(per_case[:, i, j]) for i, j in off]
    drawn = bootstrap_means(columns, generator(seed, "bradley-terry", str(n)), resamples)
    tables = np.zeros((resamples, k, k))
    for (i, j), means in zip(off, drawn, strict=True):
        tables[:, i, j] = means
    connected = _connected(tables)
    if 1 - connected.mean() > _MOST_UNDEFINED:
        share = f"{1 - connected.mean():.0%}"
        return replace(found, method=f"no interval: no finite solution in {share} of resamples")
    solved = _solve(tables[connected])
    limits = [percentile_limits(np.ascontiguousarray(solved[:, i]), level) for i in range(k)]
    low, high = zip(*limits, strict=True)
    return replace(found, low=low, high=high, method="percentile bootstrap of cases")


def _connected(wins: FloatArray) -> npt.NDArray[np.bool_]:
    """Whether wins lead from every arm to every other, for each table."""
    k = wins.shape[1]
    reach = (wins > 0) | np.eye(k, dtype=bool)
    for _ in range(max(1, int(np.ceil(np.log2(k))))):
        reach = np.matmul(reach.astype(np.float64), reach.astype(np.float64)) > 0
    return np.asarray(reach.all(axis=(1, 2)))


def _solve(wins: FloatArray) -> FloatArray:
    """Log-strengths of each table of wins, by minorisation-maximisation."""
    games = wins + wins.transpose(0, 2, 1)
    total = wins.sum(axis=2)
    share = np.ones(total.shape)
    for _ in range(10_000):
        pairs = games / (share[:, :, None] + share[:, None, :])
        updated = total / pairs.sum(axis=2)
        updated /= np.exp(np.mean(np.log(updated), axis=1, keepdims=True))
        moved = float(np.max(np.abs(np.log(updated / share))))
        share = updated
        if moved < 1e-10:
            break
    result: FloatArray = np.log(share)
    return result
