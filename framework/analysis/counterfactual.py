"""Counterfactual pairs of protected attributes, from a run's rows: decisions, reasons, retention.

The papers' fifth axis: a property of a population, not of a case (LongHorizon section 7).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from framework.analysis.forms import poolable
from framework.contracts import ProtectedGroups
from framework.records import ABSTAIN, Row
from framework.rows import going_up
from framework.statistics.fairness import CounterfactualPair, PairFairness, PairSide, pair_fairness
from framework.statistics.intervals import Interval
from framework.statistics.paired import Comparison

ALL: Final = "all"
"""What the figures over all attributes together stand under."""


def compare_pairs(
    rows: Sequence[Row], groups: ProtectedGroups | None, seed: int
) -> dict[str, Any] | None:
    """How protected groups and their reference are decided differently; None without pairs.

    `attributes` holds, by attribute and over all of them, `n` pairs and, each with 95% limits:
    `decisions` and `retention` (protected minus reference, paired), `decisions_changed`,
    `reasons_changed` and `retention_changed` (shares of pairs that differ),
    `reasons_distance` (mean Jaccard), `impact_ratio` of favourable rates and what the four-fifths
    rule says of it, `adverse_impact`. Pairs with a failed row are left out: `n_failed`. Decisions
    and reasons are of the forms that the model reads (`n_decided` pairs), and so is what a memory
    retained that a model built.
    """
    if groups is None:
        return None
    pairs, failed = pairs_of(rows, groups)
    if not pairs:
        return None
    found = {ALL: [pair for of in pairs.values() for pair in of], **pairs}
    return {
        "reference": dict(groups.reference),
        "n_failed": failed,
        "attributes": {name: _plain(pair_fairness(of, seed=seed)) for name, of in found.items()},
    }


def pairs_of(
    rows: Sequence[Row], groups: ProtectedGroups
) -> tuple[dict[str, list[CounterfactualPair]], int]:
    """By attribute, the pairs of rows that differ in it alone; and how many hold a failed row.

    A pair is the two cases of one cluster whose tags differ in one protected attribute and nothing
    else, one of them of the reference group. Each repeat and trial makes a pair, in one cluster.
    """
    together: dict[tuple[str, int, int, int], list[_Member]] = defaultdict(list)
    if len({row.cluster for row in rows}) < len(rows):
        mixed = len({row.form_read for row in rows}) > 1
        for row in going_up(poolable(rows)):
            side = _side(row, groups, decided=row.form_read or not mixed)
            members = together[row.cluster, row.trial, row.repeat, row.turn]
            members.append(_Member(row.tags, bool(row.error), side))
    found: dict[str, list[CounterfactualPair]] = defaultdict(list)
    failed = 0
    for (cluster, *trial), members in together.items():
        attribute = _attribute(members, groups)
        if attribute is None:
            continue
        if any(member.failed for member in members):
            failed += 1
            continue
        protected, reference = sorted(
            members, key=lambda member: member.tags[attribute] == groups.reference[attribute]
        )
        found[attribute].append(
            CounterfactualPair(
                id="/".join(map(str, (cluster, *trial))),
                protected=protected.side,
                reference=reference.side,
                cluster=cluster,
            )
        )
    return dict(sorted(found.items())), failed


class _Member(NamedTuple):
    """What a pair takes of a row: all rows in memory would be too many."""

    tags: Mapping[str, str]
    failed: bool
    side: PairSide


def _attribute(members: Sequence[_Member], groups: ProtectedGroups) -> str | None:
    """The attribute in which two rows differ; None for rows that are no pair."""
    if len(members) != 2:
        return None
    a, b = (member.tags for member in members)
    differ = [name for name in a.keys() | b.keys() if a.get(name) != b.get(name)]
    if len(differ) != 1 or differ[0] not in groups.reference:
        return None
    (name,) = differ
    return name if groups.reference[name] in (a.get(name), b.get(name)) else None


def _side(row: Row, groups: ProtectedGroups, decided: bool) -> PairSide:
    answered = decided and bool(row.decision)  # a protocol that stops before an answer has none
    return PairSide(
        favourable=row.decision not in (*groups.adverse, ABSTAIN) if answered else None,
        reasons=frozenset(map(_folded, row.reasons)) if answered else None,
        retention=row.axes.get("retained"),
    )


def _folded(reason: str) -> str:
    """The reason without what two wordings of one reason differ in most: case, space, full stop."""
    return " ".join(reason.casefold().split()).strip(" .;")


def _plain(found: PairFairness) -> dict[str, Any]:
    ratio = found.impact_ratio
    return {
        "n": found.n,
        "n_decided": found.decisions.n,
        "decisions": _difference(found.decisions),
        "decisions_changed": _mean(found.decisions_changed),
        "reasons_changed": _mean(found.reasons_changed),
        "reasons_distance": _mean(found.reasons_distance),
        "retention": _difference(found.retention),
        "retention_changed": _mean(found.retention_changed),
        "impact_ratio": _limited("value", ratio.value, ratio),
        "adverse_impact": found.adverse_impact,
    }


def _difference(found: Comparison) -> dict[str, Any]:
    """A paired difference, with the bounds that hold where few pairs differ as its limits."""
    return {
        "protected": found.mean_a,
        "reference": found.mean_b,
        **_limited("delta", found.delta, found.bounds),
        "n_discordant": found.n_discordant,
    }


def _mean(found: Interval) -> dict[str, Any]:
    return _limited("mean", found.mean, found)


def _limited(name: str, value: float | None, limits: Any) -> dict[str, Any]:
    """A figure under its name, with its limits and how they were found."""
    return {name: value, "ci_low": limits.low, "ci_high": limits.high, "method": limits.method}
