"""Whether several arms on the same cases differ at all, and which: Cochran, Friedman, Nemenyi."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from framework.statistics.bootstrap import RESAMPLES
from framework.statistics.clusters import FloatArray
from framework.statistics.intervals import as_values, is_binary
from framework.statistics.seeding import generator

_LEAST_ENTRIES = 24  # informative cases x arms: below, chi-squared is no approximation
_BATCH_ENTRIES = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Omnibus:
    """A test that all arms are alike.

    Attributes:
        statistic: Cochran's Q or Friedman's chi-squared; 0 where no case tells the arms apart.
        df: arms - 1.
        p: of the chi-squared distribution, or by permutation within cases (`method` says).
        n: cases.
        n_informative: cases on which the arms do not all tie.
        method: how `p` was computed.
    """

    statistic: float
    df: int
    p: float
    n: int
    n_informative: int
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalDifference:
    """What a critical-difference diagram draws (Demsar 2006, section 3.2.2).

    Attributes:
        arms: from the best mean rank to the worst.
        mean_ranks: of `arms`; 1 is best.
        critical_difference: mean ranks further apart than this differ at `alpha`.
        groups: largest sets of arms, neighbours in rank, within one critical difference.
        p: shape (arms, arms), in the order of `arms`; 1 on the diagonal.
        alpha: of the whole family of pairs.
        omnibus: the Friedman test that comes first.
        method: "nemenyi", or "nemenyi, tie-corrected".
    """

    arms: tuple[str, ...]
    mean_ranks: tuple[float, ...]
    critical_difference: float
    groups: tuple[tuple[str, ...], ...]
    p: FloatArray
    alpha: float
    omnibus: Omnibus
    method: str


def cochran_q(values: npt.ArrayLike, *, seed: int = 0, draws: int = RESAMPLES) -> Omnibus:
    """Test whether arms succeed equally often on the same cases (Cochran 1950).

    Where informative cases x arms is below 24 the p is Monte Carlo, permuting within cases, with
    the +1 correction; else chi-squared.

    Args:
        values: shape (cases, arms), 0 or 1.
        seed: of the permutations.
        draws: of the permutations.

    Raises:
        ValueError: not a table of 0 and 1 with at least one case and two arms.
    """
    table = _table(values, arms=2)
    if not is_binary(table):
        raise ValueError("Cochran's Q takes 0 and 1; use friedman for graded values")
    mixed, k = table[np.ptp(table, axis=1) > 0], table.shape[1]
    rows = mixed.sum(axis=1)
    scale = k * (k - 1), float(np.sum(rows * (k - rows)))
    return _omnibus(mixed, scale, len(table), "cochran", seed, draws)


def friedman(values: npt.ArrayLike, *, seed: int = 0, draws: int = RESAMPLES) -> Omnibus:
    """Test whether arms rank alike on the same cases (Friedman 1937), corrected for ties.

    Where informative cases x arms is below 24 the p is by permutation, as in `cochran_q`.

    Args:
        values: shape (cases, arms), three arms or more; no NaN: rank on the cases that every arm
            defines, since a silent NaN changes every rank of its case.
        seed: of the permutations.
        draws: of the permutations.

    Raises:
        ValueError: fewer than three arms (two are a paired comparison), no case, or NaN.
    """
    ranks = _ranks(_table(values, arms=3))
    mixed, k = ranks[np.ptp(ranks, axis=1) > 0], ranks.shape[1]
    # On ranks, Cochran's construction is Friedman's statistic with the correction for ties.
    scale = k - 1, float(np.sum(np.sum((mixed - (k + 1) / 2) ** 2, axis=1)))
    return _omnibus(mixed, scale, len(ranks), "friedman", seed, draws)


def critical_difference(
    values: npt.ArrayLike,
    arms: Sequence[str],
    *,
    alpha: float = 0.05,
    higher_is_better: bool = True,
    seed: int = 0,
) -> CriticalDifference:
    """Compare all arms by Nemenyi's test after Friedman's, ties taken into account.

    Without ties the critical difference is q sqrt(k (k + 1) / (6 n)) (Nemenyi 1963). With ties it
    is q sqrt(2 sum of the cases' rank variances) / n: the permutation variance of a difference of
    mean ranks, of which the formula above is the case without ties. Untouched, the formula is too
    wide where scores tie, as binary ones do.

    Args:
        values: shape (cases, arms), three arms or more, no NaN.
        arms: names, in the order of the columns.
        alpha: of the family.
        higher_is_better: whether the highest value ranks first.
        seed: of the omnibus test's permutations.

    Raises:
        ValueError: as `friedman`; not one name an arm; or no case that tells the arms apart.
    """
    from scipy.stats import studentized_range

    table = _table(values, arms=3)
    n, k = table.shape
    if len(arms) != k:
        raise ValueError(f"{len(arms)} names for {k} arms")
    ranks = _ranks(-table if higher_is_better else table)
    variance = float(np.sum(np.var(ranks, axis=1, ddof=1)))
    if variance == 0:
        raise ValueError("no critical difference: every case ties all arms")
    mean_ranks = ranks.mean(axis=0)
    order = np.argsort(mean_ranks, kind="stable")
    ordered = mean_ranks[order]
    unit = variance**0.5 / n  # of a difference of mean ranks, over sqrt(2)
    width = float(studentized_range.ppf(1 - alpha, k, np.inf)) * unit
    gaps = np.abs(ordered[:, None] - ordered[None, :])
    p = np.ones((k, k))
    for i in range(k):
        for j in range(i):
            p[i, j] = p[j, i] = float(studentized_range.sf(gaps[i, j] / unit, k, np.inf))
    names = tuple(arms[i] for i in order)
    tied = not np.isclose(variance, n * k * (k + 1) / 12)
    return CriticalDifference(
        arms=names,
        mean_ranks=tuple(float(rank) for rank in ordered),
        critical_difference=width,
        groups=_groups(names, ordered, width),
        p=np.clip(p, 0.0, 1.0),
        alpha=alpha,
        omnibus=friedman(table, seed=seed),
        method="nemenyi, tie-corrected" if tied else "nemenyi",
    )


def _groups(
    names: tuple[str, ...], ordered: FloatArray, width: float
) -> tuple[tuple[str, ...], ...]:
    found: list[tuple[int, int]] = []
    for start in range(len(ordered)):
        end = int(np.searchsorted(ordered, ordered[start] + width, side="right"))
        if end - start > 1 and not (found and end <= found[-1][1]):
            found.append((start, end))
    return tuple(names[start:end] for start, end in found)


def _table(values: npt.ArrayLike, *, arms: int) -> FloatArray:
    table = as_values(values)
    if table.ndim != 2 or table.shape[0] < 1 or table.shape[1] < arms:
        raise ValueError(f"a table of cases x arms with at least {arms} arms is needed")
    if np.isnan(table).any():
        raise ValueError("undefined values: take the cases that every arm defines")
    return table


def _ranks(table: FloatArray) -> FloatArray:
    from scipy.stats import rankdata

    ranks: FloatArray = rankdata(table, axis=1).astype(np.float64)
    return ranks


def _omnibus(
    mixed: FloatArray, scale: tuple[int, float], n: int, name: str, seed: int, draws: int
) -> Omnibus:
    """The test on the cases that tell the arms apart: a x spread of the arms' sums / b.

    `scale` is (a, b), `n` the number of all cases.
    """
    df = mixed.shape[1] - 1
    if len(mixed) == 0:
        method = "no case tells the arms apart"
        return Omnibus(statistic=0.0, df=df, p=1.0, n=n, n_informative=0, method=method)
    statistic = float(scale[0] * _spread(mixed[None])[0] / scale[1])
    if mixed.size < _LEAST_ENTRIES:
        rng = generator(seed, name, str(mixed.shape))
        p, method = _by_permutation(mixed, rng, draws), f"permutation within cases ({draws} draws)"
    else:
        from scipy.special import chdtrc

        p, method = float(chdtrc(df, statistic)), "chi-squared"
    return Omnibus(statistic=statistic, df=df, p=p, n=n, n_informative=len(mixed), method=method)


def _spread(tables: FloatArray) -> FloatArray:
    """How far the arms' sums lie apart in each table, shape (tables, cases, arms)."""
    columns = tables.sum(axis=1)
    result: FloatArray = np.sum((columns - columns.mean(axis=1, keepdims=True)) ** 2, axis=1)
    return result


def _by_permutation(table: FloatArray, rng: np.random.Generator, draws: int) -> float:
    # Permuting within cases moves the arms' sums alone, on which both statistics grow.
    seen = float(_spread(table[None])[0])
    hits, batch = 0, max(1, _BATCH_ENTRIES // table.size)
    for start in range(0, draws, batch):
        size = min(batch, draws - start)
        drawn = rng.permuted(np.broadcast_to(table, (size, *table.shape)), axis=2)
        hits += int(np.count_nonzero(_spread(drawn) >= seen * (1 - 1e-12)))
    return (1 + hits) / (1 + draws)
