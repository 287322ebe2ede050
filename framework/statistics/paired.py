"""Two arms on the same cases: pairing by case id, and every paired statistic of one axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from framework.errors import UserError
from framework.statistics.bootstrap import (
    RESAMPLES,
    bootstrap_means,
)
from framework.statistics.bounds import decision_bounds
from framework.statistics.clusters import FloatArray, Units, units_of
from framework.statistics.effects import against_smallest_effect, cohens_h
from framework.statistics.intervals import (
    Interval,
    Limits,
    as_values,
    bootstrap_limits,
    interval_of,
    is_binary,
    is_share,
    within,
    without_bootstrap,
)
from framework.statistics.permutation import PermutationTest, sign_flip_test
from framework.statistics.proportions import McNemar, mcnemar, tango_limits
from framework.statistics.seeding import generator
from framework.text.counting import counted

_SHOWN = 3


class UnpairedCases(UserError):
    """Two arms were not measured on the same cases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Values of two arms on the cases where both are defined, sorted by case id.

    Attributes:
        ids: of the n pairs.
        a: shape (n,).
        b: shape (n,).
        undefined: cases left out because either side is undefined.
    """

    ids: tuple[str, ...]
    a: FloatArray
    b: FloatArray
    undefined: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Arm a against arm b on one axis.

    Means and difference are over cases. With clusters (some cluster holding several cases)
    intervals resample and the permutation turns clusters; McNemar stays case by case.

    Attributes:
        mean_a: of a over the pairs.
        mean_b: of b over the pairs.
        interval: mean difference a - b with limits by what its method says; they never leave out 0
            where the permutation's p is not below alpha.
        bounds: the same with the limits that decisions rest on; see `decision_bounds`.
        permutation: the primary test.
        mcnemar: descriptive.
        cohens_h: of the two means as proportions; ``None`` for amounts.
        share: whether the axis lies in [0, 1] and is no amount.
        n: pairs that counted.
        n_clusters: clusters among them, ``None`` when every case stands alone.
        n_undefined: pairs left out because either side is undefined.
        n_discordant: units (cases or clusters) whose difference is not 0.
        cannot_conclude: whether even the smallest p that n can reach is at or above alpha.
        alpha: two-sided level of the limits.
        within_effect: whether `bounds` lie within the declared smallest effect; ``None`` without
            one. Two arms that both fail at everything do so, too.
    """

    mean_a: float | None
    mean_b: float | None
    interval: Interval
    bounds: Interval
    permutation: PermutationTest
    mcnemar: McNemar
    cohens_h: float | None
    share: bool
    n: int
    n_clusters: int | None
    n_undefined: int
    n_discordant: int
    cannot_conclude: bool
    within_effect: bool | None
    alpha: float

    @property
    def delta(self) -> float | None:
        """The mean difference a - b."""
        return self.interval.mean


def pair(a: Mapping[str, float | None], b: Mapping[str, float | None]) -> Pairs:
    """Pair two arms by case id.

    Args:
        a: case id -> value; NaN or ``None`` where undefined.
        b: the same for the other arm.

    Raises:
        UnpairedCases: a case that only one of them has.
        ValueError: an infinite value.
    """
    if a.keys() != b.keys():
        sides = (("second", sorted(a.keys() - b.keys())), ("first", sorted(b.keys() - a.keys())))
        missing = (
            f"{len(ids)} missing in the {side} ({', '.join(ids[:_SHOWN])}"
            f"{', ...' if len(ids) > _SHOWN else ''})"
            for side, ids in sides
            if ids
        )
        raise UnpairedCases(f"arms were measured on different cases: {'; '.join(missing)}")
    ids = sorted(a)
    values_a = as_values([a[case] for case in ids])
    values_b = as_values([b[case] for case in ids])
    defined = ~(np.isnan(values_a) | np.isnan(values_b))
    return Pairs(
        ids=tuple(case for case, counts in zip(ids, defined, strict=True) if counts),
        a=values_a[defined],
        b=values_b[defined],
        undefined=int(np.count_nonzero(~defined)),
    )


def compare(
    a: Mapping[str, float | None],
    b: Mapping[str, float | None],
    clusters: Mapping[str, str | None] | None = None,
    *,
    seed: int,
    names: Sequence[str] = (),
    amount: bool = False,
    smallest_effect: float | None = None,
    resamples: int = RESAMPLES,
    alpha: float = 0.05,
) -> Comparison:
    """Compare two arms on one axis, on the same cases.

    Neither the order of cases nor which arm comes first matters: swapping a and b negates the
    difference, mirrors the limits and keeps the p-values.

    Args:
        a: case id -> value; NaN or ``None`` where undefined. Repeats are averaged already.
        b: the same for the other arm.
        clusters: case id -> cluster, ``None`` for a case that stands alone.
        seed: of the run.
        names: what is compared; with the seed they choose the random generator.
        amount: whether the axis is an amount (tokens, dollars, seconds), not a proportion.
        smallest_effect: the smallest difference that matters, if one is declared; above 0.
        resamples: of the bootstrap, and draws of a Monte Carlo permutation.
        alpha: two-sided; intervals cover 1 - alpha.

    Raises:
        UnpairedCases: a case that only one arm has.
        ValueError: an infinite value, a case that `clusters` does not name, or a smallest effect of
            0 or less.
    """
    if smallest_effect is not None and not smallest_effect > 0:
        raise ValueError(f"smallest effect {smallest_effect}: not above 0")
    pairs = pair(a, b)
    share = not amount and is_share(pairs.a) and is_share(pairs.b)
    units = _differences(pairs, clusters)
    flips = units.sums
    level = 1 - alpha
    bounds = interval_of(units, decision_bounds(units, share=share, level=level))
    limits = without_bootstrap(units, level, share=share, lowest=-1.0)
    if share and not units.clustered and is_binary(np.abs(flips)) and np.any(flips):
        wins, losses = (int(np.count_nonzero(flips * sign > 0)) for sign in (1, -1))
        limits = *tango_limits(wins, losses, len(flips), level), "tango score"
    if limits is None:
        rng = generator(seed, *names, "bootstrap")
        limits = _limits(flips, rng=rng, resamples=resamples, level=level)
    interval = interval_of(units, within(limits, -1.0) if share else limits)
    permutation = sign_flip_test(
        _oriented(flips)[0], generator(seed, *names, "permutation"), resamples
    )
    mean_a = float(pairs.a.mean()) if len(pairs.a) else None
    mean_b = float(pairs.b.mean()) if len(pairs.b) else None
    return Comparison(
        mean_a=mean_a,
        mean_b=mean_b,
        interval=_no_further_than_the_test(interval, permutation, alpha),
        bounds=bounds,
        permutation=permutation,
        mcnemar=mcnemar(pairs.a, pairs.b, amount=amount),
        cohens_h=None
        if mean_a is None or mean_b is None or not share
        else cohens_h(mean_a, mean_b),
        share=share,
        n=len(pairs.ids),
        n_clusters=interval.n_clusters,
        n_undefined=pairs.undefined,
        n_discordant=int(np.count_nonzero(flips)),
        cannot_conclude=permutation.smallest_p is None or permutation.smallest_p >= alpha,
        within_effect=None
        if smallest_effect is None
        else against_smallest_effect(bounds.low, bounds.high, smallest_effect) == "equivalent",
        alpha=alpha,
    )


def _no_further_than_the_test(interval: Interval, test: PermutationTest, alpha: float) -> Interval:
    """The interval, ended at 0 where it leaves 0 out and the test beside it does not reject.

    Three losses and no win leave 0 out of Tango's limits and of a bootstrap's, at an exact p of
    .25: a reader would see two answers. It only gets longer, so it holds no less often.
    """
    low, high = interval.low, interval.high
    if low is None or high is None or test.p is None or low <= 0 <= high or test.p < alpha:
        return interval
    method = f"{interval.method}, not past 0: sign-flip test"
    return replace(interval, low=min(low, 0.0), high=max(high, 0.0), method=method)


def paired_bounds(
    a: Mapping[str, float | None],
    b: Mapping[str, float | None],
    clusters: Mapping[str, str | None] | None = None,
    *,
    amount: bool = False,
    alpha: float = 0.05,
) -> Interval:
    """Return the bounds of `compare` alone, without its tests; arguments as there."""
    pairs = pair(a, b)
    share = not amount and is_share(pairs.a) and is_share(pairs.b)
    units = _differences(pairs, clusters)
    return interval_of(units, decision_bounds(units, share=share, level=1 - alpha))


def _differences(pairs: Pairs, clusters: Mapping[str, str | None] | None) -> Units:
    """A - b, summed within clusters."""
    differing = pairs.a - pairs.b
    # Averages of the same repeats in another order differ in the last bits: that is no difference.
    differing[np.abs(differing) <= 1e-12 * np.maximum(np.abs(pairs.a), np.abs(pairs.b))] = 0.0
    units = units_of(differing, None if clusters is None else _labels(pairs.ids, clusters))
    units.sums[np.abs(units.sums) <= 1e-12 * np.max(np.abs(differing), initial=0.0)] = 0.0
    return units


def _labels(ids: Sequence[str], clusters: Mapping[str, str | None]) -> list[str | None]:
    unknown = [case for case in ids if case not in clusters]
    if unknown:
        raise ValueError(
            f"no cluster given for {counted(len(unknown), 'case')} ({unknown[0]}, ...)"
        )
    return [clusters[case] for case in ids]


def _limits(
    differences: FloatArray, *, rng: np.random.Generator, resamples: int, level: float
) -> Limits:
    """Return the bootstrap's limits of differences that vary."""
    units, sign = _oriented(differences)
    (means,) = bootstrap_means([units], rng, resamples)
    low, high, method = bootstrap_limits(units, means, level)
    return (low, high, method) if sign > 0 else (-high, -low, method)


def _oriented(differences: FloatArray) -> tuple[FloatArray, int]:
    """Turn the sign so that the first nonzero difference is positive: a swap then changes nothing.

    Returns:
        The turned differences and the sign, 1 or -1, that turns them back.
    """
    nonzero = differences[differences != 0]
    sign = -1 if len(nonzero) and nonzero[0] < 0 else 1
    return differences * sign, sign
