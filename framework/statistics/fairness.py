"""Fairness over counterfactual pairs: cases that differ in a protected attribute alone.

A population-level axis: decisions, the reasons given, and what the memory retained are compared
within pairs, so that a difference can come from nothing but the attribute (or from chance).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from framework.statistics.intervals import Interval, mean_interval
from framework.statistics.paired import Comparison, compare
from framework.statistics.ratios import Ratio, ratio_of_means

FOUR_FIFTHS = 0.8
"""Below this ratio of favourable rates the four-fifths rule sees adverse impact (29 CFR 1607.4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSide:
    """One case of a pair.

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
class CounterfactualPair:
    """The same case with one value of the attribute and with another.

    `cluster` groups pairs that are not independent, such as several pairs of one case.
    """

    id: str
    protected: PairSide
    reference: PairSide
    cluster: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFairness:
    """How decisions differ between a protected group and its reference, over pairs.

    Attributes:
        decisions: favourable rate, protected minus reference, paired.
        decisions_changed: share of pairs that are decided differently, in either direction.
        reasons_distance: mean Jaccard distance between the reasons of a pair; 0 where both give
            none.
        reasons_changed: share of pairs whose reasons differ.
        retention: share retained, protected minus reference, paired.
        retention_changed: share of pairs that retain different shares.
        impact_ratio: favourable rate of the protected over that of the reference.
        adverse_impact: "yes" where the ratio's interval lies below .8, "no" where it lies at .8 or
            above, else "undecided".
        n: pairs.
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


def pair_fairness(pairs: Sequence[CounterfactualPair], *, seed: int) -> PairFairness:
    """Compare decisions, reasons and retention within pairs. No difference found is not fairness.

    Args:
        pairs: with ids of their own.
        seed: of the resampling.

    Raises:
        ValueError: two pairs of one id.
    """
    if len({pair.id for pair in pairs}) < len(pairs):
        raise ValueError("two pairs have one id")
    clusters = {pair.id: pair.cluster for pair in pairs}
    labels = [pair.cluster for pair in pairs]
    favoured = {
        pair.id: tuple(None if s.favourable is None else float(s.favourable) for s in _sides(pair))
        for pair in pairs
    }
    kept = {pair.id: tuple(side.retention for side in _sides(pair)) for pair in pairs}
    distances = [_jaccard(pair) for pair in pairs]

    def paired(values: dict[str, tuple[float | None, ...]], name: str) -> Comparison:
        return compare(
            {i: v[0] for i, v in values.items()},
            {i: v[1] for i, v in values.items()},
            clusters,
            seed=seed,
            names=("fairness", name),
        )

    def share(values: list[float | None]) -> Interval:
        return mean_interval(values, labels, seed=seed)

    complete = [t for t in pairs if None not in favoured[t.id]]
    ratio = ratio_of_means(
        [favoured[t.id][0] for t in complete],
        [favoured[t.id][1] for t in complete],
        [t.cluster for t in complete],
    )
    return PairFairness(
        decisions=paired(favoured, "decisions"),
        decisions_changed=share([_differ(favoured[pair.id]) for pair in pairs]),
        reasons_distance=share(distances),
        reasons_changed=share([None if d is None else float(d > 0) for d in distances]),
        retention=paired(kept, "retention"),
        retention_changed=share([_differ(kept[pair.id]) for pair in pairs]),
        impact_ratio=ratio,
        adverse_impact=_impact(ratio),
        n=len(pairs),
    )


def _sides(pair: CounterfactualPair) -> tuple[PairSide, PairSide]:
    return pair.protected, pair.reference


def _jaccard(pair: CounterfactualPair) -> float | None:
    a, b = (side.reasons for side in _sides(pair))
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
