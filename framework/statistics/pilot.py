"""Cases needed, from a pilot's rows: its discordance is used, its effect never."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from framework.statistics.bootstrap import MIN_UNITS, unit_values
from framework.statistics.intervals import clopper_pearson, is_binary, is_share, mean_interval
from framework.statistics.paired import pair
from framework.statistics.power import CasesNeeded, cases_needed


@dataclass(frozen=True, slots=True, kw_only=True)
class PilotPower:
    """What a pilot comparison says of the cases that the real one needs.

    Attributes:
        spread: mean squared paired difference seen; for a 0/1 axis the share of discordant pairs.
        spread_high: its upper 95% limit; ``None`` where none can be had.
        n: cases needed if the spread is as seen; ``None`` where nothing differed.
        n_high: cases needed if it is at its upper limit: what to plan for after a small pilot.
        method: how n was found, or why it was not.
        units: pilot units that counted (cases, or clusters of them).
        clustered: whether units are clusters; then `n` counts clusters.
    """

    spread: float | None
    spread_high: float | None
    n: int | None
    n_high: int | None
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
            spread,
            binary=binary,
            share=share,
            power=power,
            alpha=alpha,
            comparisons=comparisons,
        )

    needed(0.0)  # refuses a bad argument, whatever the pilot holds
    if size == 0:
        return PilotPower(
            spread=None,
            spread_high=None,
            n=None,
            n_high=None,
            method="undefined: no cases",
            units=0,
            clustered=clustered,
        )
    squares = differences**2
    spread = float(squares.mean())
    high: float | None
    if binary:
        high = clopper_pearson(int(np.count_nonzero(differences)), size)[1]
    elif size < MIN_UNITS:
        high = None
    else:
        high = mean_interval(squares, seed=seed, amount=not share).high
    seen = needed(spread) if spread > 0 else None
    at_most = None if high is None else needed(max(high, spread))
    method = seen.method if seen else "no pair of the pilot differs: plan by the upper limit"
    if at_most is None:
        method += f"; no upper limit from {size} units"
    return PilotPower(
        spread=spread,
        spread_high=high,
        n=seen.n if seen else None,
        n_high=at_most.n if at_most else None,
        method=method,
        units=size,
        clustered=clustered,
    )
