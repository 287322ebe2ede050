"""The shape of a measure over causal depth: its slope, and from where one arm leads the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from framework.statistics.bootstrap import RESAMPLES, bootstrap_means, percentile_limits
from framework.statistics.clusters import MIN_UNITS, FloatArray
from framework.statistics.intervals import as_values
from framework.statistics.paired import Comparison, compare
from framework.statistics.seeding import generator
from plugins.recipes._cells import Measured

LEVEL: Final = 0.95
"""Coverage of every interval here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slope:
    """How a measure changes with depth.

    Attributes:
        per_hop: least-squares slope, in the axis's unit a hop; ``None`` where undefined.
        low: 95% percentile limit of `per_hop`, ``None`` where none is claimed.
        high: the other.
        endpoint: mean at the largest depth minus mean at the smallest.
        endpoint_low: 95% percentile limit of `endpoint`, ``None`` also where neither end varies.
        endpoint_high: the other.
        means: (depth, cases, mean), by depth.
        method: of the limits, or why there are none.
    """

    means: tuple[tuple[float, int, float], ...]
    method: str
    per_hop: float | None = None
    low: float | None = None
    high: float | None = None
    endpoint: float | None = None
    endpoint_low: float | None = None
    endpoint_high: float | None = None

    @property
    def hop(self) -> Measured:
        """`per_hop` with its limits."""
        return Measured(value=self.per_hop, low=self.low, high=self.high)

    @property
    def ends(self) -> Measured:
        """`endpoint` with its limits."""
        return Measured(value=self.endpoint, low=self.endpoint_low, high=self.endpoint_high)


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
        depth: the smallest depth whose `low` is above 0; ``None`` where there is none.
        low: 2.5% quantile, over resamples of cases, of the smallest depth with a lead; ``None``
            where that is "at no depth measured", or no interval is claimed.
        high: 97.5% quantile, likewise.
        never: share of resamples in which the arm leads at no depth.
        leads: by depth.
        method: of the interval, or why there is none.
    """

    depth: float | None
    leads: tuple[DepthLead, ...]
    method: str
    low: float | None = None
    high: float | None = None
    never: float | None = None


def depth_slope(
    values: npt.ArrayLike | Sequence[float | None],
    depths: Sequence[float],
    *,
    seed: int,
    clusters: Sequence[str | None] | None = None,
    resamples: int = RESAMPLES,
) -> Slope:
    """Fit value = a + b depth by least squares over cases.

    Resampled are the cases within each depth; where some cluster holds several cases, clusters as a
    whole, whatever the depths of their cases. No limits are claimed where a depth has cases of
    fewer than 10 such units. Source: Depth, section 7 and example (l).

    Args:
        values: n values; NaN or ``None`` where undefined: such cases do not count.
        depths: n depths.
        seed: of the resampling.
        clusters: n labels, ``None`` for a case that stands alone.
        resamples: of the bootstrap.

    Raises:
        ValueError: different lengths, or an infinite value or depth.
    """
    y, x = as_values(values), as_values(depths)
    labels = [None] * len(y) if clusters is None else list(clusters)
    if not len(y) == len(x) == len(labels):
        raise ValueError(f"{len(y)} values for {len(x)} depths and {len(labels)} clusters")
    kept = ~(np.isnan(y) | np.isnan(x))
    y, x = y[kept], x[kept]
    labels = [label for label, counts in zip(labels, kept, strict=True) if counts]
    levels = np.unique(x)
    strata = [np.sort(y[x == depth]) for depth in levels]
    means = tuple(
        (float(depth), len(part), float(part.mean()))
        for depth, part in zip(levels, strata, strict=True)
    )
    if len(levels) < 2:
        reason = "undefined: one depth" if len(levels) else "undefined: no cases"
        return Slope(means=means, method=reason)
    sizes = np.array([len(part) for part in strata], dtype=np.float64)
    away = levels - np.average(levels, weights=sizes)
    weights = sizes * away / np.sum(sizes * away**2)
    centre = np.array([part.mean() for part in strata])
    per_hop, endpoint = float(weights @ centre), float(centre[-1] - centre[0])
    units = _Units.of(y[None], x, levels, labels)
    bare = Slope(means=means, method=units.method, per_hop=per_hop, endpoint=endpoint)
    if units.too_few:
        return replace(bare, method=units.too_few)
    if all(np.ptp(part) == 0 for part in strata):
        return replace(bare, method="no interval: no variation within any depth")
    (sums,), counts = units.drawn(seed, "slope", resamples)
    low, high = percentile_limits(_slopes(sums, counts, levels), LEVEL)
    end_low, end_high = None, None
    if np.ptp(strata[0]) or np.ptp(strata[-1]):  # else resamples would claim certainty
        end_low, end_high = percentile_limits(sums[-1] / counts[-1] - sums[0] / counts[0], LEVEL)
    return replace(bare, low=low, high=high, endpoint_low=end_low, endpoint_high=end_high)


def _slopes(sums: FloatArray, counts: FloatArray, levels: FloatArray) -> FloatArray:
    """Least-squares slope over cases by resample, from their sums and numbers by depth."""
    n = counts.sum(axis=0)
    centre = levels @ counts / n
    across = levels @ sums - centre * sums.sum(axis=0)
    slopes: FloatArray = across / (levels**2 @ counts - n * centre**2)
    return slopes


def crossover(
    arm: Mapping[str, float],
    rivals: Mapping[str, Mapping[str, float]],
    depths: Mapping[str, float],
    *,
    seed: int,
    clusters: Mapping[str, str | None] | None = None,
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
        clusters: case id -> cluster, ``None`` for a case that stands alone; resampled as in
            `depth_slope`.

    Raises:
        UnpairedCases: a rival with other cases.
        ValueError: no rival, no case, a case without a depth, or an undefined value.
    """
    if not rivals or not arm:
        raise ValueError("a crossover needs cases and at least one rival")
    cases = sorted(arm)
    levels = np.unique([depths[case] for case in cases])
    leads = []
    for depth in map(float, levels):
        here = [case for case in cases if depths[case] == depth]
        compared = {
            name: compare(
                {case: arm[case] for case in here},
                {case: v for case, v in rival.items() if depths[case] == depth},
                clusters,
                seed=seed,
                names=("crossover", str(depth), name),
                alpha=1 - LEVEL,
            )
            for name, rival in rivals.items()
        }
        leads.append(_lead(depth, compared))
    found = next((x.depth for x in leads if x.low is not None and x.low > 0), None)
    units = _Units.of(
        np.array([[values[case] for case in cases] for values in (arm, *rivals.values())]),
        np.array([depths[case] for case in cases], dtype=np.float64),
        levels,
        [None if clusters is None else clusters[case] for case in cases],
    )
    if units.too_few:
        return Crossover(depth=found, leads=tuple(leads), method=units.too_few)
    (own, *others), counts = units.drawn(seed, "crossover", RESAMPLES)
    ahead = (own - np.max(np.stack(others), axis=0)) / counts > 0
    low, high, never = _first_depths(levels, ahead)
    return Crossover(
        depth=found, low=low, high=high, never=never, leads=tuple(leads), method=units.method
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Units:
    """What is resampled: sums of values and numbers of cases, by depth.

    sums : (columns, depths, units). counts : (depths, units). clustered : whether a unit may be a
        cluster of cases; each unit is of one depth otherwise.
    """

    sums: FloatArray
    counts: FloatArray
    clustered: bool

    @classmethod
    def of(
        cls, values: FloatArray, x: FloatArray, levels: FloatArray, labels: Sequence[str | None]
    ) -> _Units:
        """Join cases of a cluster; `values` is (columns, cases)."""
        keys = [("case", i) if label is None else (label, -1) for i, label in enumerate(labels)]
        number = {key: at for at, key in enumerate(dict.fromkeys(keys))}
        unit = np.array([number[key] for key in keys], dtype=np.intp)
        depth = np.searchsorted(levels, x)
        sums = np.zeros((len(values), len(levels), len(number)))
        counts = np.zeros((len(levels), len(number)))
        for column, row in zip(values, sums, strict=True):
            np.add.at(row, (depth, unit), column)
        np.add.at(counts, (depth, unit), 1)
        # In an order that the input's order can't move: draws are by place.
        order = np.lexsort([*counts, *sums.reshape(-1, len(number))])
        return cls(
            sums=sums[..., order], counts=counts[:, order], clustered=len(number) < len(keys)
        )

    @property
    def too_few(self) -> str:
        """Why no interval is claimed where a depth has cases of few units; else empty."""
        fewest = int(np.count_nonzero(self.counts, axis=1).min())
        word = "clusters" if self.clustered else "cases"
        found = f"no interval: {fewest} {word} at a depth, fewer than {MIN_UNITS}"
        return found if fewest < MIN_UNITS else ""

    @property
    def method(self) -> str:
        """How limits are found."""
        return f"percentile bootstrap {'over clusters' if self.clustered else 'within depths'}"

    def drawn(self, seed: int, name: str, resamples: int) -> tuple[FloatArray, FloatArray]:
        """Resampled sums (columns, depths, resamples) and numbers of cases (depths, resamples).

        Both are over the number of units drawn. A resample of clusters may lack a depth: all that
        do are left out (with 10 clusters a depth, less than 1 in 20,000 for each depth).
        """
        columns, levels, _ = self.sums.shape
        if self.clustered:
            every = [*self.sums.reshape(columns * levels, -1), *self.counts]
            found = np.stack(bootstrap_means(every, generator(seed, name), resamples))
            counts = found[columns * levels :]
            whole = counts.min(axis=0) > 0
            sums = found[: columns * levels].reshape(columns, levels, -1)
            return sums[..., whole], counts[:, whole]
        drawn = []
        for level in range(levels):
            here = self.counts[level] > 0
            rng = generator(seed, name, str(level))
            drawn.append(bootstrap_means([*self.sums[:, level, here]], rng, resamples))
        sizes = self.counts.sum(axis=1)[:, None]
        sums = np.stack([np.stack(one) for one in drawn], axis=1) * sizes
        return sums, np.broadcast_to(sizes, (levels, resamples))


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
    levels: FloatArray, leads: npt.NDArray[np.bool_]
) -> tuple[float | None, float | None, float]:
    """Quantiles of the first depth with a lead, "at none" counting as deeper than any."""
    anywhere = leads.any(axis=0)
    first = np.where(anywhere, np.argmax(leads, axis=0), len(levels))
    tail = (1 - LEVEL) / 2
    ends = np.quantile(first, (tail, 1 - tail), method="inverted_cdf")
    low, high = (float(levels[int(i)]) if i < len(levels) else None for i in ends)
    return low, high, float(1 - anywhere.mean())
