"""The shape of a measure over causal depth: its slope, and from where one arm leads the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from framework.statistics.clusters import MIN_UNITS, FloatArray, Units
from framework.statistics.intervals import as_values
from framework.statistics.paired import pair, paired_bounds
from plugins.recipes._cells import Measured

LEVEL: Final = 0.95
"""Coverage of every interval here."""
_Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slope:
    """How a measure changes with depth.

    Attributes:
        per_hop: least-squares slope, in the axis's unit a hop; ``None`` where undefined.
        low: 95% limit of `per_hop`, ``None`` where none is claimed.
        high: the other.
        endpoint: mean at the largest depth minus mean at the smallest.
        endpoint_low: 95% limit of `endpoint`, ``None`` also where hardly a case differs there.
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
        low: the smallest depth at which a lead can't be ruled out; ``None`` where that is "at no
            depth measured", or no interval is claimed.
        high: the smallest depth at which it leads for sure, whichever depths are looked at.
        claimed: whether `low` and `high` are an interval.
        leads: by depth.
        method: of the interval, or why there is none.
    """

    depth: float | None
    leads: tuple[DepthLead, ...]
    method: str
    low: float | None = None
    high: float | None = None
    claimed: bool = False


def depth_slope(
    values: npt.ArrayLike | Sequence[float | None],
    depths: Sequence[float],
    *,
    clusters: Sequence[str | None] | None = None,
) -> Slope:
    """Fit value = a + b depth by least squares over cases.

    Limits are Student's t by the CR2 variance over clusters (HC2 where every case stands alone).
    None are claimed where a depth has cases of fewer than 10 effective clusters, or where fewer
    than 10 clusters hold a case that is not as the rest of its depth.
    Source: Depth, section 7 and example (l); docs/decisions/0014.

    Args:
        values: n values; NaN or ``None`` where undefined: such cases do not count.
        depths: n depths.
        clusters: n labels, ``None`` for a case that stands alone.

    Raises:
        ValueError: different lengths, or an infinite value or depth.
    """
    y, x = as_values(values), as_values(depths)
    labels = [None] * len(y) if clusters is None else list(clusters)
    if not len(y) == len(x) == len(labels):
        raise ValueError(f"{len(y)} values for {len(x)} depths and {len(labels)} clusters")
    kept = ~(np.isnan(y) | np.isnan(x))
    # In an order that the input's order can't move, down to the last bit.
    order = sorted(np.flatnonzero(kept), key=lambda i: (x[i], y[i], labels[i] or ""))
    y, x, unit = y[order], x[order], _numbered([labels[i] for i in order])
    levels = np.unique(x)
    means = tuple((float(d), int(np.sum(x == d)), float(np.mean(y[x == d]))) for d in levels)
    if len(levels) < 2:
        reason = "undefined: one depth" if len(levels) else "undefined: no cases"
        return Slope(means=means, method=reason)
    per_hop, low, high, method = _fitted(y, x, unit)
    ends = (x == levels[0]) | (x == levels[-1])
    rise, *limits, _ = _fitted(y[ends], (x[ends] == levels[-1]).astype(np.float64), unit[ends])
    end_low, end_high = limits if low is not None else (None, None)
    return Slope(
        means=means, method=method, per_hop=per_hop, low=low, high=high,
        endpoint=rise, endpoint_low=end_low, endpoint_high=end_high,
    )  # fmt: skip


def _fitted(
    y: FloatArray, x: FloatArray, unit: _Indices
) -> tuple[float, float | None, float | None, str]:
    """The slope of y on x, its limits, and how they were found or why there are none."""
    from scipy.special import stdtrit

    design = np.stack([np.ones_like(x), x - x.mean()], axis=1)
    bread = np.linalg.inv(design.T @ design)
    weights = design @ bread[1]
    value = float(weights @ y)
    reason = _too_few(x, unit) or _similar(y, x, unit)
    if reason:
        return value, None, None, reason
    clustered = len(np.unique(unit)) < len(y)
    variance, freedom = _cr2(design, bread, y - design @ (bread @ design.T @ y), unit)
    half = float(stdtrit(freedom, (1 + LEVEL) / 2)) * variance**0.5
    return value, value - half, value + half, "cr2 t over clusters" if clustered else "hc2 t"


def _cr2(
    design: FloatArray, bread: FloatArray, residuals: FloatArray, unit: _Indices
) -> tuple[float, float]:
    """The variance of the last coefficient and Satterthwaite's degrees of freedom.

    Those are for independent cases. Source: Bell and McCaffrey, Survey Methodology 28 (2002),
    169-181; Pustejovsky and Tipton, J. Business and Economic Statistics 36 (2018), 672-683.
    """
    number = int(unit.max()) + 1
    adjusted = np.zeros((number, len(design)))
    for at in range(number):
        (rows,) = np.nonzero(unit == at)
        part = design[rows]
        sizes, vectors = np.linalg.eigh(np.eye(len(rows)) - part @ bread @ part.T)
        scale = np.where(sizes > 1e-10, 1 / np.sqrt(np.maximum(sizes, 1e-10)), 0.0)
        adjusted[at, rows] = vectors @ (scale * (vectors.T @ (part @ bread[-1])))
    variance = float(np.sum((adjusted @ residuals) ** 2))
    across = adjusted @ design
    spread = adjusted @ adjusted.T - across @ bread @ across.T
    return variance, float(np.trace(spread) ** 2 / np.sum(spread**2))


def effective(labels: Sequence[object]) -> float:
    """What cases with these clusters count as, ``None`` standing alone; see `Units.effective`."""
    counts = Counter(label for label in labels if label is not None)
    sizes = np.array([*counts.values(), *[1] * sum(x is None for x in labels)], dtype=np.float64)
    return Units(sizes, sizes).effective


def _too_few(x: FloatArray, unit: _Indices) -> str:
    """Why no interval is claimed where a depth's clusters count as few; else empty."""
    by_depth = [unit[x == depth].tolist() for depth in np.unique(x)]
    fewest = min(by_depth, key=effective)
    if effective(fewest) >= MIN_UNITS:
        return ""
    number, sizes = len(set(fewest)), set(Counter(fewest).values())
    worth = f" of unequal size, worth {effective(fewest):.1f}," if len(sizes) > 1 else ""
    what = "clusters" if len(np.unique(unit)) < len(unit) else "cases"
    return f"no interval: {number} {what}{worth} at a depth, fewer than {MIN_UNITS}"


def _similar(y: FloatArray, x: FloatArray, unit: _Indices) -> str:
    """Why none is claimed where hardly a cluster holds a case unlike its depth; else empty."""
    differing: set[int] = set()
    for depth in np.unique(x):
        here, found = unit[x == depth], np.round(y[x == depth], 12)
        kinds, counts = np.unique(found, return_counts=True)
        differing |= set(here[found != kinds[np.argmax(counts)]].tolist())
    if not differing:
        return "no interval: no variation within any depth"
    if len(differing) < MIN_UNITS:
        return f"no interval: {len(differing)} units differ within depths, fewer than {MIN_UNITS}"
    return ""


def _numbered(labels: Sequence[str | None]) -> _Indices:
    keys = [("case", i) if label is None else (label, -1) for i, label in enumerate(labels)]
    number = {key: at for at, key in enumerate(dict.fromkeys(keys))}
    return np.array([number[key] for key in keys], dtype=np.intp)


def crossover(
    arm: Mapping[str, float],
    rivals: Mapping[str, Mapping[str, float]],
    depths: Mapping[str, float],
    *,
    clusters: Mapping[str, str | None] | None = None,
) -> Crossover:
    """Find the smallest depth from which an arm leads every rival (Depth, section 7).

    To lead the best rival is to lead each, so each depth takes the least of the decision bounds
    against the rivals: valid at its level without choosing a rival first. `depth` looks at several
    depths, each at its own level; the interval's ends share .025 each: the upper one among the
    depths, the lower one among the rivals.

    Args:
        arm: case id -> value.
        rivals: name -> case id -> value, on the same cases.
        depths: case id -> depth.
        clusters: case id -> cluster, ``None`` for a case that stands alone.

    Raises:
        UnpairedCases: a rival with other cases.
        ValueError: no rival, no case, a case without a depth, or an undefined value.
    """
    if not rivals or not arm:
        raise ValueError("a crossover needs cases and at least one rival")
    if any(pair(arm, rival).undefined for rival in rivals.values()):
        raise ValueError("an undefined value")
    levels = sorted({depths[case] for case in arm})
    alpha = 1 - LEVEL
    leads = [_lead(arm, rivals, depths, clusters, depth, alpha) for depth in levels]
    found = next((x.depth for x in leads if x.low is not None and x.low > 0), None)
    cases = sorted(arm)
    unit = _numbered([None if clusters is None else clusters[case] for case in cases])
    reason = _too_few(np.array([depths[case] for case in cases], dtype=np.float64), unit)
    bare = Crossover(depth=found, leads=tuple(leads), method=reason)
    if reason:
        return bare
    sure = (_lead(arm, rivals, depths, clusters, d, alpha / len(levels)) for d in levels)
    able = (_lead(arm, rivals, depths, clusters, d, alpha / len(rivals)) for d in levels)
    return replace(
        bare,
        claimed=True,
        low=next((x.depth for x in able if x.high is None or x.high > 0), None),
        high=next((x.depth for x in sure if x.low is not None and x.low > 0), None),
        method=f"decision bounds{' over clusters' if len(np.unique(unit)) < len(cases) else ''}",
    )


def _lead(
    arm: Mapping[str, float],
    rivals: Mapping[str, Mapping[str, float]],
    depths: Mapping[str, float],
    clusters: Mapping[str, str | None] | None,
    depth: float,
    alpha: float,
) -> DepthLead:
    here = {case: value for case, value in arm.items() if depths[case] == depth}
    bounds = {
        name: paired_bounds(here, {case: rival[case] for case in here}, clusters, alpha=alpha)
        for name, rival in rivals.items()
    }
    deltas = {name: found.mean for name, found in bounds.items() if found.mean is not None}
    rival = min(deltas, key=lambda name: deltas[name])
    lows = [b.low for b in bounds.values() if b.low is not None]
    highs = [b.high for b in bounds.values() if b.high is not None]
    whole = len(lows) == len(highs) == len(bounds)
    return DepthLead(
        depth=depth,
        lead=deltas[rival],
        rival=rival,
        low=min(lows) if whole else None,
        high=min(highs) if whole else None,
        n=len(here),
    )
