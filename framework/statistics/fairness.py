"""Fairness over twins: cases that differ in a protected attribute alone.

A population-level axis: decisions, the reasons given, and what the memory retained are compared
within twins, so that a difference can come from nothing but the attribute (or from chance).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from framework.statistics.bootstrap import RESAMPLES
from framework.statistics.intervals import Interval, mean_interval
from framework.statistics.paired import Comparison, compare
from framework.statistics.ratios import Ratio, ratio_of_means

FOUR_FIFTHS = 0.8
"""Below this ratio of favourable rates the four-fifths rule sees adverse impact (29 CFR 1607.4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinSide:
    """One of two twins.

    Attributes:
        favourable: whether the decision favours the person; abstaining does not. ``None``: no
            decision was measured.
        reasons: those given; ``None``: no answer was measured.
        retention: share of the gold items retained, in [0, 1]; ``None`` where undefined.
    """

    favourable: bool | None
    reasons: frozenset[str] | None
    retention: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinPair:
    """Twins: the same case with one value of the attribute and with another.

    `cluster` groups pairs that are not independent, such as several twins of one case.
    """

    id: str
    protected: TwinSide
    reference: TwinSide
    cluster: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinFairness:
    """How treatment differs between a protected group and its reference, over twins.

    Attributes:
        decisions: favourable rate, protected minus reference, paired.
        decisions_changed: share of twins that are decided differently, in either direction.
        reasons_distance: mean Jaccard distance between the reasons of twins; 0 where both give
            none.
        reasons_changed: share of twins whose reasons differ.
        retention: share retained, protected minus reference, paired.
        retention_changed: share of twins that retain different shares.
        impact_ratio: favourable rate of the protected over that of the reference.
        adverse_impact: "yes" where the ratio's interval lies below .8, "no" where it lies at .8 or
            above, else "undecided".
        n: twins.
    """

    decisions: Comparison
    decisions_changed: Interval
    reasons_distance: Interval
    reasons_changed: Interval
    retention: Comparison
    retention_changed: Interval
    impact_ratio: Ratio
    adverse_impact: Literal["yes", "no", "undecided"]
    n: int


def twin_fairness(
    twins: Sequence[TwinPair],
    *,
    seed: int,
    smallest_effect: float | None = None,
    resamples: int = RESAMPLES,
) -> TwinFairness:
    """Compare treatment within twins.

    No difference found is not fairness: only with `smallest_effect` do `decisions` and `retention`
    say whether the groups are treated alike within it.

    Args:
        twins: pairs with ids of their own.
        seed: of the resampling.
        smallest_effect: difference in rates, and in retained shares, that matters.
        resamples: of the bootstrap.

    Raises:
        ValueError: two pairs of one id.
    """
    if len({twin.id for twin in twins}) < len(twins):
        raise ValueError("two pairs of twins have one id")
    clusters = {twin.id: twin.cluster for twin in twins}
    labels = [twin.cluster for twin in twins]
    favoured = {
        twin.id: tuple(None if s.favourable is None else float(s.favourable) for s in _sides(twin))
        for twin in twins
    }
    kept = {twin.id: tuple(side.retention for side in _sides(twin)) for twin in twins}
    distances = [_jaccard(twin) for twin in twins]

    def paired(values: dict[str, tuple[float | None, ...]], name: str) -> Comparison:
        return compare(
            {i: v[0] for i, v in values.items()},
            {i: v[1] for i, v in values.items()},
            clusters,
            seed=seed,
            names=("fairness", name),
            smallest_effect=smallest_effect,
            resamples=resamples,
        )

    def share(values: list[float | None]) -> Interval:
        return mean_interval(values, labels, seed=seed, resamples=resamples)

    complete = [t for t in twins if None not in favoured[t.id]]
    ratio = ratio_of_means(
        [favoured[t.id][0] for t in complete],
        [favoured[t.id][1] for t in complete],
        [t.cluster for t in complete],
    )
    return TwinFairness(
        decisions=paired(favoured, "decisions"),
        decisions_changed=share([_differ(favoured[twin.id]) for twin in twins]),
        reasons_distance=share(distances),
        reasons_changed=share([None if d is None else float(d > 0) for d in distances]),
        retention=paired(kept, "retention"),
        retention_changed=share([_differ(kept[twin.id]) for twin in twins]),
        impact_ratio=ratio,
        adverse_impact=_impact(ratio),
        n=len(twins),
    )


def _sides(twin: TwinPair) -> tuple[TwinSide, TwinSide]:
    return twin.protected, twin.reference


def _jaccard(twin: TwinPair) -> float | None:
    a, b = (side.reasons for side in _sides(twin))
    if a is None or b is None:
        return None
    return 1 - len(a & b) / len(a | b) if a | b else 0.0


def _differ(values: tuple[float | None, ...]) -> float | None:
    a, b = values
    return None if a is None or b is None else float(a != b)


def _impact(ratio: Ratio) -> Literal["yes", "no", "undecided"]:
    if ratio.high is not None and ratio.high < FOUR_FIFTHS:
        return "yes"
    if ratio.low is not None and ratio.low >= FOUR_FIFTHS:
        return "no"
    return "undecided"
