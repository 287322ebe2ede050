"""The shape of a measure over causal depth: its slope, and from where one arm leads the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from framework.statistics.bootstrap import (
    MIN_UNITS,
    RESAMPLES,
    FloatArray,
    bootstrap_means,
    percentile_limits,
)
from framework.statistics.intervals import as_values
from framework.statistics.paired import Comparison, compare
from framework.statistics.seeding import generator

__all__ = ["Crossover", "DepthLead", "Slope", "crossover", "depth_slope"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slope:
    """How a measure changes with depth.

    Attributes:
        per_hop: least-squares slope, in the axis's unit a hop; ``None`` where undefined.
        low: 95% percentile limit of `per_hop`, ``None`` where none is claimed.
        high: the other.
        endpoint: mean at the largest depth minus mean at the smallest.
        endpoint_low: 95% percentile limit of `endpoint`.
        endpoint_high: the other.
        means: (depth, cases, mean), by depth.
        method: of the limits, or why there are none.
    """

    per_hop: float | None
    low: float | None
    high: float | None
    endpoint: float | None
    endpoint_low: float | None
    endpoint_high: float | None
    means: tuple[tuple[float, int, float], ...]
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DepthLead:
    """An arm's lead over the best of its rivals at one depth.

    Attributes:
        depth: in hops.
        lead: the arm's mean minus the highest mean of a rival.
        rival: which rival that is.
        low: the least of the lower decision bounds against each rival; ``None`` where one has none.
        high: the least of the upper ones.
        n: cases.
    """

    depth: float
    lead: float
    rival: str
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossover:
    """From which depth an arm leads.

    Attributes:
        depth: the smallest depth whose `low` is above the margin; ``None`` where there is none.
        low: 2.5% quantile, over resamples of cases, of the smallest depth with a lead above the
            margin; ``None`` where that is "at no depth measured", or no interval is claimed.
        high: 97.5% quantile, likewise.
        never: share of resamples in which the arm leads at no depth.
        leads: by depth.
        method: of the interval, or why there is none.
    """

    depth: float | None
    low: float | None
    high: float | None
    never: float | None
    leads: tuple[DepthLead, ...]
    method: str


def depth_slope(
    values: npt.ArrayLike | Sequence[float | None],
    depths: Sequence[float],
    *,
    seed: int,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Slope:
    """Fit value = a + b depth by least squares, resampling cases within each depth.

    Source: Depth, section 7 and example (l).

    Args:
        values: n values; NaN or ``None`` where undefined: such cases do not count.
        depths: n depths.
        seed: of the resampling.
        resamples: of the bootstrap.
        level: coverage.

    Raises:
        ValueError: different lengths, or an infinite value or depth.
    """
    y, x = as_values(values), as_values(depths)
    if len(y) != len(x):
        raise ValueError(f"{len(y)} values for {len(x)} depths")
    kept = ~(np.isnan(y) | np.isnan(x))
    y, x = y[kept], x[kept]
    levels = np.unique(x)
    strata = [np.sort(y[x == depth]) for depth in levels]
    means = tuple(
        (float(depth), len(part), float(part.mean()))
        for depth, part in zip(levels, strata, strict=True)
    )
    if len(levels) < 2:
        reason = "undefined: one depth" if len(levels) else "undefined: no cases"
        return _no_slope(means, None, None, reason)
    sizes = np.array([len(part) for part in strata], dtype=np.float64)
    away = levels - np.average(levels, weights=sizes)
    weights = sizes * away / np.sum(sizes * away**2)
    centre = np.array([part.mean() for part in strata])
    per_hop, endpoint = float(weights @ centre), float(centre[-1] - centre[0])
    if sizes.min() < MIN_UNITS:
        reason = f"no interval: {int(sizes.min())} cases at a depth, fewer than {MIN_UNITS}"
        return _no_slope(means, per_hop, endpoint, reason)
    if all(np.ptp(part) == 0 for part in strata):
        return _no_slope(means, per_hop, endpoint, "no interval: no variation within any depth")
    drawn = np.stack(
        [
            bootstrap_means([part], generator(seed, "slope", str(depth)), resamples)[0]
            for depth, part in zip(levels, strata, strict=True)
        ]
    )
    low, high = percentile_limits(weights @ drawn, level)
    end_low, end_high = percentile_limits(drawn[-1] - drawn[0], level)
    return Slope(
        per_hop=per_hop,
        low=low,
        high=high,
        endpoint=endpoint,
        endpoint_low=end_low,
        endpoint_high=end_high,
        means=means,
        method="percentile bootstrap within depths",
    )


def crossover(
    arm: Mapping[str, float],
    rivals: Mapping[str, Mapping[str, float]],
    depths: Mapping[str, float],
    *,
    seed: int,
    margin: float = 0.0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Crossover:
    """Find the smallest depth from which an arm leads every rival (Depth, section 7).

    To lead the best rival is to lead each, so each depth takes the least of the decision bounds
    against the rivals: valid at its level without choosing a rival first. Several depths are looked
    at; the interval of the depth shows how firm it is.

    Args:
        arm: case id -> value.
        rivals: name -> case id -> value, on the same cases.
        depths: case id -> depth.
        seed: of the resampling.
        margin: what a lead must exceed.
        resamples: of the bootstrap.
        level: coverage.

    Raises:
        UnpairedCases: a rival with other cases.
        ValueError: no rival, no case, a case without a depth, or an undefined value.
    """
    if not rivals or not arm:
        raise ValueError("a crossover needs cases and at least one rival")
    levels = sorted({depths[case] for case in arm})
    leads, firsts = [], []
    few = min(sum(depths[case] == d for case in arm) for d in levels)
    for depth in levels:
        here = [case for case in sorted(arm) if depths[case] == depth]
        compared = {
            name: compare(
                {case: arm[case] for case in here},
                {case: v for case, v in rival.items() if depths[case] == depth},
                seed=seed,
                names=("crossover", str(depth), name),
                alpha=1 - level,
            )
            for name, rival in rivals.items()
        }
        leads.append(_lead(depth, compared))
        if few >= MIN_UNITS:
            columns = [as_values([arm[c] for c in here])]
            columns += [as_values([rival[c] for c in here]) for rival in rivals.values()]
            rng = generator(seed, "crossover", str(depth))
            own, *others = bootstrap_means(columns, rng, resamples)
            firsts.append(own - np.max(np.stack(others), axis=0) > margin)
    found = next((x.depth for x in leads if x.low is not None and x.low > margin), None)
    if few < MIN_UNITS:
        reason = f"no interval: {few} cases at a depth, fewer than {MIN_UNITS}"
        return Crossover(
            depth=found, low=None, high=None, never=None, leads=tuple(leads), method=reason
        )
    low, high, never = _first_depths(np.array(levels), np.stack(firsts), level)
    return Crossover(
        depth=found,
        low=low,
        high=high,
        never=never,
        leads=tuple(leads),
        method="percentile bootstrap within depths",
    )


def _lead(depth: float, compared: Mapping[str, Comparison]) -> DepthLead:
    deltas = {name: c.delta for name, c in compared.items() if c.delta is not None}
    if len(deltas) < len(compared) or any(c.n_undefined for c in compared.values()):
        raise ValueError(f"an undefined value at depth {depth}")
    rival = min(deltas, key=lambda name: deltas[name])
    bounds = [c.bounds for c in compared.values()]
    lows = [b.low for b in bounds if b.low is not None]
    highs = [b.high for b in bounds if b.high is not None]
    whole = len(lows) == len(highs) == len(bounds)
    return DepthLead(
        depth=depth,
        lead=deltas[rival],
        rival=rival,
        low=min(lows) if whole else None,
        high=min(highs) if whole else None,
        n=compared[rival].n,
    )


def _first_depths(
    levels: FloatArray, leads: npt.NDArray[np.bool_], level: float
) -> tuple[float | None, float | None, float]:
    """Quantiles of the first depth with a lead, "at none" counting as deeper than any."""
    anywhere = leads.any(axis=0)
    first = np.where(anywhere, np.argmax(leads, axis=0), len(levels))
    tail = (1 - level) / 2
    ends = np.quantile(first, (tail, 1 - tail), method="inverted_cdf")
    low, high = (float(levels[int(i)]) if i < len(levels) else None for i in ends)
    return low, high, float(1 - anywhere.mean())


def _no_slope(
    means: tuple[tuple[float, int, float], ...],
    per_hop: float | None,
    endpoint: float | None,
    reason: str,
) -> Slope:
    return Slope(
        per_hop=per_hop,
        low=None,
        high=None,
        endpoint=endpoint,
        endpoint_low=None,
        endpoint_high=None,
        means=means,
        method=reason,
    )
