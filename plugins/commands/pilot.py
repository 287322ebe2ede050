"""Cases needed before spending: for a declared smallest effect, never for the effect observed.

Of a pilot's rows the discordance is used, its effect never.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from framework.statistics.bootstrap import unit_values
from framework.statistics.bounded import chance_below
from framework.statistics.clusters import MIN_UNITS, FloatArray
from framework.statistics.intervals import clopper_pearson, is_binary, is_share, mean_interval
from framework.statistics.paired import pair
from framework.statistics.seeding import generator

_MOST_CASES = 10_000_000
_MOST_DRAWN = 1_000_000
_DRAWS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class CasesNeeded:
    """How many pairs a paired comparison needs.

    Attributes:
        n: pairs, or ``None`` where `method` says why none can be told.
        spread: the mean squared difference that n assumes; for a 0/1 axis, the discordance.
        method: "exact sign test" or "normal approximation", or a refusal.
    """

    n: int | None
    spread: float
    method: str


def cases_needed(
    smallest_effect: float,
    spread: float,
    *,
    binary: bool,
    share: bool = True,
    power: float = 0.8,
    alpha: float = 0.05,
    comparisons: int = 1,
) -> CasesNeeded:
    """Return the pairs needed to find `smallest_effect` with the stated power, two-sided.

    n = ((z_alpha sqrt(spread) + z_power sqrt(spread - effect^2)) / effect)^2, which for a 0/1 axis
    is Connor's formula for McNemar's test (Biometrics 43, 1987, 207-211); there n grows until the
    exact sign test reaches the power. With several comparisons alpha is divided by their number,
    which is Holm's first and hardest step.

    Args:
        smallest_effect: the least mean difference that matters, above 0, in the axis's unit.
        spread: mean squared paired difference expected. On an axis in [0, 1] an effect of d implies
            at least d of discordance, so less is raised to that.
        binary: whether the axis is 0/1.
        share: whether it lies in [0, 1].
        power: wanted, in (0, 1).
        alpha: two-sided, of the family.
        comparisons: in the family.

    Raises:
        ValueError: an argument outside its range.
    """
    from scipy.special import ndtri

    if not smallest_effect > 0 or (share and smallest_effect > 1):
        raise ValueError(f"smallest effect {smallest_effect}: above 0, at most 1 for a share")
    if not spread >= 0 or not 0 < power < 1 or not 0 < alpha < 1 or comparisons < 1:
        raise ValueError(f"spread {spread}, power {power}, alpha {alpha}, {comparisons} tests")
    if binary and spread > 1:
        raise ValueError(f"discordance {spread}: at most 1")
    level = alpha / comparisons
    least = smallest_effect if binary else smallest_effect**2
    spread = max(spread, least)
    z_alpha, z_power = float(ndtri(1 - level / 2)), float(ndtri(power))
    rest = max(spread - smallest_effect**2, 0.0)
    n = math.ceil(((z_alpha * spread**0.5 + z_power * rest**0.5) / smallest_effect) ** 2)
    n = max(n, 2)
    if n > _MOST_CASES:
        return CasesNeeded(n=None, spread=spread, method=f"more than {_MOST_CASES:,} cases")
    if not binary:
        return CasesNeeded(n=n, spread=spread, method="normal approximation")
    while sign_test_power(n, smallest_effect, spread, level) < power:
        n += max(1, n // 200)
        if n > _MOST_CASES:
            return CasesNeeded(n=None, spread=spread, method=f"more than {_MOST_CASES:,} cases")
    return CasesNeeded(n=n, spread=spread, method="exact sign test")


def sign_test_power(n: int, effect: float, discordance: float, alpha: float = 0.05) -> float:
    """Return the power of the exact two-sided sign test of n pairs (McNemar's exact test).

    Args:
        n: pairs.
        effect: true difference of the rates, at most the discordance.
        discordance: probability that a pair differs.
        alpha: two-sided.

    Raises:
        ValueError: an effect larger than the discordance, or discordance outside (0, 1].
    """
    from scipy.special import bdtr, bdtrc

    if not 0 < discordance <= 1 or abs(effect) > discordance * (1 + 1e-12):
        raise ValueError(f"effect {effect} with discordance {discordance}")
    win = min(1.0, (1 + effect / discordance) / 2)
    counts, weights = _likely(n, discordance)
    # The largest count of losses at which d discordant pairs are significant; -1 where none is.
    critical = _critical_counts(counts, alpha)
    some = critical >= 0
    d, k = counts[some], critical[some]
    reject = bdtr(k, d, 1 - win) + bdtrc(d - k - 1, d, 1 - win)
    return float(np.sum(weights[some] * reject))


def _likely(n: int, p: float) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """The numbers of discordant pairs that matter, and their probabilities."""
    from scipy.special import gammaln, xlog1py, xlogy

    half = 8 * (n * p * (1 - p)) ** 0.5 + 10
    low, high = max(0, math.floor(n * p - half)), min(n, math.ceil(n * p + half))
    k = np.arange(low, high + 1)
    log = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + xlogy(k, p) + xlog1py(n - k, -p)
    weights: FloatArray = np.exp(log)
    return k, weights


def _critical_counts(trials: npt.NDArray[np.int64], alpha: float) -> FloatArray:
    from scipy.special import bdtr

    low = np.full(len(trials), -1.0)
    high = np.floor((trials - 1) / 2)  # 2 P(X <= high) may be below alpha or not
    while np.any(low < high):
        middle = np.ceil((low + high) / 2)
        small = 2 * bdtr(np.maximum(middle, 0.0), np.maximum(trials, 1), 0.5) <= alpha
        low, high = np.where(small, middle, low), np.where(small, high, middle - 1)
        high = np.maximum(high, low)
    return low


def bounds_need(
    differences: FloatArray,
    effect: float,
    *,
    start: int,
    seed: int,
    power: float = 0.8,
    level: float = 0.05,
) -> int | None:
    """Return the units at which the bounds within the family leave out 0 often enough.

    Differences of shares are drawn from the pilot's, about their mean and then shifted by the
    effect, to either side: skewed ones need more on one. So far from their mean they may lie beyond
    -1 or 1; cut there, the pilot's own mean would be in them. What is asked of each draw is what
    `bounded_limits` asks of 0. ``None`` where more than `_MOST_DRAWN` units do not suffice.

    Args:
        differences: of the pilot's units.
        effect: the smallest that matters.
        start: units to begin with.
        seed: of the draws.
        power: wanted.
        level: two-sided, of the comparison within its family.
    """
    centred = differences - differences.mean()
    sides = [np.append(sign * centred + effect, -1.0) for sign in (1, -1)]
    share = np.full(len(differences), 1 / len(differences))

    def reached(n: int) -> bool:
        drawn = generator(seed, "power", str(n)).multinomial(n, share, _DRAWS)
        counts = np.column_stack((drawn, np.ones(_DRAWS)))  # with the unit that is added
        return all(
            sum(chance_below(values, one) < level / 2 for one in counts) >= power * _DRAWS
            for values in sides
        )

    low, high = 1, max(start, MIN_UNITS)
    while not reached(high):
        low, high = high, 2 * high
        if high > _MOST_DRAWN:
            return None
    while high - low > max(1, high // 50):
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


@dataclass(frozen=True, slots=True, kw_only=True)
class PilotPower:
    """What a pilot comparison says of the cases that the real one needs.

    Attributes:
        spread: variance of the paired differences seen, about their own mean, so that the observed
            effect is not in it; for a 0/1 axis the share of discordant pairs.
        spread_high: its upper 95% limit; ``None`` where none can be had.
        n: cases that the test needs if the spread is as seen; ``None`` where nothing differed.
        n_high: the same if it is at its upper limit: what to plan for after a small pilot.
        decides: cases at which the comparison is decided, which the bounds within the family must
            allow as well (`bounds_need`); n of a 0/1 axis and of an amount.
        decides_high: the same at the upper limit.
        method: how n was found, or why it was not.
        units: pilot units that counted (cases, or clusters of them).
        clustered: whether units are clusters; then `n` counts clusters.
    """

    spread: float | None = None
    spread_high: float | None = None
    n: int | None = None
    n_high: int | None = None
    decides: int | None = None
    decides_high: int | None = None
    method: str
    units: int
    clustered: bool


def power_from_pilot(
    a: Mapping[str, float | None],
    b: Mapping[str, float | None],
    clusters: Mapping[str, str | None] | None = None,
    *,
    smallest_effect: float,
    seed: int,
    amount: bool = False,
    power: float = 0.8,
    alpha: float = 0.05,
    comparisons: int = 1,
) -> PilotPower:
    """Return the cases needed to find `smallest_effect` between two arms, judged by a pilot.

    The difference that the pilot happened to show enters nowhere: power at the observed effect only
    repeats the p-value.

    Args:
        a: case id -> value; NaN or ``None`` where undefined.
        b: the same for the other arm.
        clusters: case id -> cluster.
        smallest_effect: the least mean difference that matters, in the axis's unit.
        seed: of the interval of a graded axis's spread.
        amount: whether the axis is an amount.
        power: wanted.
        alpha: two-sided, of the family.
        comparisons: in the family.

    Raises:
        UnpairedCases: a case that only one of them has.
        ValueError: an argument outside its range, or a case that `clusters` does not name.
    """
    pairs = pair(a, b)
    labels = None if clusters is None else [clusters[case] for case in pairs.ids]
    units_a, clustered = unit_values(pairs.a, labels)
    units_b, _ = unit_values(pairs.b, labels)
    differences = units_a - units_b
    size = len(differences)
    share = not amount and is_share(pairs.a) and is_share(pairs.b)
    binary = share and is_binary(np.abs(differences))

    def needed(spread: float) -> CasesNeeded:
        return cases_needed(
            smallest_effect,
            spread if binary else spread + smallest_effect**2,
            binary=binary,
            share=share,
            power=power,
            alpha=alpha,
            comparisons=comparisons,
        )

    needed(0.0)  # refuses a bad argument, whatever the pilot holds
    if size == 0:
        return PilotPower(method="undefined: no cases", units=0, clustered=clustered)
    squares = differences**2
    high: float | None = None
    if binary:
        high = clopper_pearson(int(np.count_nonzero(differences)), size)[1]
    else:
        squares = (differences - differences.mean()) ** 2
        if size >= MIN_UNITS:
            # Differences of shares lie up to 2 apart. About 0 they vary more than about their mean.
            scale = 4.0 if share else 1.0
            about = mean_interval(squares / scale, seed=seed, amount=not share).high
            at_0 = mean_interval(differences**2, seed=seed, amount=not share).high
            limits = [at_0, None if about is None else scale * about]
            high = min((limit for limit in limits if limit is not None), default=None)
        squares = squares * size / max(size - 1, 1)
    spread = float(squares.mean())
    seen = needed(spread) if spread > 0 else None
    at_most = None if high is None else needed(max(high, spread))
    method = seen.method if seen else "no pair of the pilot differs: plan by the upper limit"
    if at_most is None:
        method += f"; no upper limit from {size} units"

    def decided(by_test: CasesNeeded | None, wider: float) -> int | None:
        if by_test is None or by_test.n is None or binary or not share or size < MIN_UNITS:
            return by_test.n if by_test else None
        found = bounds_need(
            differences * wider**0.5,
            smallest_effect,
            start=by_test.n,
            seed=seed,
            power=power,
            level=alpha / comparisons,
        )
        return None if found is None else max(found, by_test.n)

    return PilotPower(
        decides=decided(seen, 1.0),
        decides_high=decided(at_most, max(high / spread, 1.0) if high and spread else 1.0),
        spread=spread,
        spread_high=high,
        n=seen.n if seen else None,
        n_high=at_most.n if at_most else None,
        method=method,
        units=size,
        clustered=clustered,
    )
