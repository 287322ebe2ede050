"""Two measurements of the same cases side by side, and what a loop came to: `improve.json`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from framework.contracts import Outcome, Route, Taxonomy
from framework.statistics.paired import compare
from framework.statistics.proportions import mcnemar_p
from plugins.protocols.improve.operators import SEAM, reading
from plugins.protocols.improve.stack import Candidate


@dataclass(frozen=True, slots=True)
class PairedOutcomes:
    """The same cases before and after. Raises ValueError for others, or in another order."""

    before: Sequence[Outcome]
    after: Sequence[Outcome]

    def __post_init__(self) -> None:
        if [o.case_id for o in self.before] != [o.case_id for o in self.after]:
            raise ValueError("not the same cases in the same order")

    @property
    def settled(self) -> list[Outcome]:
        """`before` as it is compared: what failed then is taken as right where it is right after.

        A model that was away for a while is no gain of what is measured when it is back. What fails
        after counts as wrong.
        """
        both = zip(self.before, self.after, strict=True)
        return [replace(b, correct=a.correct) if b.error else b for b, a in both]

    @property
    def fixed(self) -> list[str]:
        """Cases that were wrong and are right."""
        return [b.case_id for b, a in self._pairs() if a.correct and not b.correct]

    @property
    def broken(self) -> list[str]:
        """Cases that were right and are wrong."""
        return [b.case_id for b, a in self._pairs() if b.correct and not a.correct]

    @property
    def net(self) -> int:
        """Fixed less broken."""
        return len(self.fixed) - len(self.broken)

    @property
    def changed_requests(self) -> int:
        """Cases whose recorded request is another, or where another operator acted.

        A case with an error counts as changed.
        """
        return sum(
            (a.request, a.acted) != (b.request, b.acted) or bool(a.error) for b, a in self._pairs()
        )

    def by(self, groups: Sequence[str]) -> dict[str, dict[str, int]]:
        """Cases, fixed and broken by group, given the group of each case."""
        counts: dict[str, Counter[str]] = {}
        for group, (b, a) in zip(groups, self._pairs(), strict=True):
            count = counts.setdefault(group, Counter())
            count["n"] += 1
            count["before"] += b.correct
            count["after"] += a.correct
            count["fixed"] += a.correct and not b.correct
            count["broken"] += b.correct and not a.correct
        names = ("n", "before", "after", "fixed", "broken")
        return {g: {n: int(c[n]) for n in names} for g, c in sorted(counts.items())}

    def by_kind(self) -> dict[str, dict[str, int]]:
        """By question type, and `abstention` for the cases where not answering is right."""
        kinds = self.by([o.kind for o in self.before])
        if any(o.abstention for o in self.before):
            groups = self.by(["abstention" if o.abstention else "" for o in self.before])
            kinds["abstention"] = groups["abstention"]
        return kinds

    def by_regime(self, taxonomy: Taxonomy) -> dict[str, dict[str, int]]:
        """By the regime that the case had before, `correct` for none (localisation)."""
        return self.by([taxonomy.regime_of(o) or "correct" for o in self.before])

    def _pairs(self) -> list[tuple[Outcome, Outcome]]:
        return list(zip(self.settled, self.after, strict=True))


def accuracy(outcomes: Sequence[Outcome]) -> float:
    """The share of correct cases."""
    return sum(o.correct for o in outcomes) / max(1, len(outcomes))


def paired(
    pairs: PairedOutcomes,
    clusters: Mapping[str, str | None],
    taxonomy: Taxonomy,
    seed: int,
    name: str,
) -> dict[str, Any]:
    """Two stacks on one set of cases: accuracies, flips, exact McNemar, bootstrap, tables.

    Keys: n, before, after (accuracies, over cases), delta, wrong_to_right, right_to_wrong,
    mcnemar_p (exact, two-sided, case by case: descriptive where there are clusters), permutation_p
    (two-sided, over clusters), interval (95%, of delta, over clusters), clusters (how many, None
    where every case stands alone), by_kind (with `abstention`), by_regime (localisation, by the
    regime before), fixed, broken (case ids); where any acted, operator
    (`plugins.protocols.improve.operators.reading`); where any failed before, failed_before: how
    many, which are taken as they came out after (`PairedOutcomes.settled`).

    clusters : by case, its cluster; None for a case that stands alone.
    """
    before = {o.case_id: float(o.correct) for o in pairs.settled}
    after = {o.case_id: float(o.correct) for o in pairs.after}
    found = compare(after, before, clusters, seed=seed, names=("improve", name))
    fixed, broken = pairs.fixed, pairs.broken
    failed = sum(bool(o.error) for o in pairs.before)
    acting = any(o.acted for side in (pairs.before, pairs.after) for o in side)
    return {
        "n": len(before),
        "before": accuracy(pairs.settled),
        "after": accuracy(pairs.after),
        "delta": pairs.net / max(1, len(before)),
        "wrong_to_right": len(fixed),
        "right_to_wrong": len(broken),
        "mcnemar_p": mcnemar_p(len(fixed), len(broken)),
        "permutation_p": found.permutation.p,
        "interval": [found.interval.low, found.interval.high],
        "clusters": found.n_clusters,
        "by_kind": pairs.by_kind(),
        "by_regime": pairs.by_regime(taxonomy),
        "fixed": fixed,
        "broken": broken,
        **({SEAM: reading(pairs.before, pairs.after)} if acting else {}),
        **({"failed_before": failed} if failed else {}),
    }


@dataclass(slots=True)
class Results:
    """Gathers what `improve.json` holds: the paper's tables of one run, as data.

    data : everything but the drafts, by its key. candidates : one entry a draft, by its number.
    """

    data: dict[str, Any] = field(default_factory=lambda: {"trajectory": [], "analyses": []})
    candidates: dict[int, dict[str, Any]] = field(default_factory=dict)

    def optimized(self, number: int, diff: Mapping[str, Any]) -> None:
        """Note a draft's result on OPTIMIZE."""
        kept = ("net", "target_fixed", "target_failures", "requests_changed", "passed", "reason")
        self._entry(number)["optimize"] = _counted(diff, kept)

    def analysed(self, number: int, diff: Mapping[str, Any]) -> None:
        """Note an interim analysis of CONFIRM."""
        kept = ("analysis", "net", "delta", "bound", "alpha", "threshold", "passed", "reason")
        entry = _counted(diff, kept)
        self._entry(number)["confirm"] = entry
        self.data["analyses"].append({"number": number, **entry})

    def discarded(
        self, number: int, candidate: Candidate | None, route: Route, stage: str, reason: str
    ) -> None:
        """Note a draft that came to nothing."""
        entry = self._entry(number)
        if candidate is not None:
            entry |= {**candidate.plain(), "why": candidate.why}
        entry |= {"regime": route.regime, "outcome": "discarded", "stage": stage, "reason": reason}

    def promoted(
        self, number: int, candidate: Candidate, route: Route, cumulative: PairedOutcomes
    ) -> None:
        """Note a promotion; `cumulative` is the new stack against the bare pipeline."""
        entry = self._entry(number)
        confirm = entry["confirm"]
        entry |= {**candidate.plain(), "why": candidate.why}
        entry |= {"regime": route.regime, "outcome": "promoted", "stage": "confirm"}
        entry["reason"] = confirm["reason"]
        self.data["trajectory"].append(
            {
                "number": number,
                "seam": candidate.seam,
                "regime": route.regime,
                **{name: confirm[name] for name in ("delta", "fixed", "broken")},
                "cumulative_delta": cumulative.net / max(1, len(cumulative.before)),
                "cumulative_fixed": len(cumulative.fixed),
                "cumulative_broken": len(cumulative.broken),
            }
        )

    def removed(self, candidate: Candidate) -> None:
        """Note an entry that consolidation dropped."""
        for entry in self.candidates.values():
            if entry.get("candidate") == candidate.digest and entry["outcome"] == "promoted":
                entry["outcome"] = "consolidated"

    def plain(self) -> dict[str, Any]:
        """The content of `improve.json`."""
        candidates = [entry for _, entry in sorted(self.candidates.items())]
        return {**self.data, "candidates": candidates, "funnel": _funnel(candidates)}

    def _entry(self, number: int) -> dict[str, Any]:
        return self.candidates.setdefault(number, {"number": number})


def baseline_of(
    taxonomy: Taxonomy, optimize: Sequence[Outcome], confirm: Sequence[Outcome]
) -> dict[str, Any]:
    """The bare pipeline: accuracies, and its failures on OPTIMIZE by regime and question type."""
    kinds: dict[str, Counter[str]] = {}
    for o in optimize:
        if not o.correct:
            kinds.setdefault(o.kind, Counter())[taxonomy.regime_of(o)] += 1
    return {
        "optimize": accuracy(optimize),
        "confirm": accuracy(confirm),
        "failures": taxonomy.histogram(optimize),
        "failures_by_kind": {kind: dict(sorted(n.items())) for kind, n in sorted(kinds.items())},
    }


def _counted(diff: Mapping[str, Any], kept: Sequence[str]) -> dict[str, Any]:
    """What is kept of an evaluation's difference, with fixed and broken as counts.

    Of an operator also what it did, which is `plugins.protocols.improve.operators.reading`.
    """
    flips = {name: len(diff[name]) for name in ("fixed", "broken")}
    acted: dict[str, Any] = {SEAM: diff[SEAM]} if SEAM in diff else {}
    return {**{name: diff[name] for name in kept}, **flips, **acted}


def _funnel(candidates: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Drafts by where they ended (the paper's table 1c), and by seam what was drafted at all."""
    stages = Counter(
        entry["stage"] if entry["outcome"] == "discarded" else "promoted" for entry in candidates
    )
    seams = Counter(entry.get("seam", "none") for entry in candidates)
    names = ("static", "sandbox", "best_of", "optimize", "confirm", "plateau", "promoted")
    return {
        "authored": len(candidates),
        **{name: stages[name] for name in names},
        **{f"seam_{seam}": n for seam, n in sorted(seams.items())},
    }
