"""What a loop came to, as `improve.json` holds it: the paper's tables of one run, as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from framework.contracts import Outcome, Route, Taxonomy
from framework.improve.drafting import Draft
from framework.improve.flips import Flips
from framework.improve.splits import Splits
from framework.improve.stack import Candidate, Stack
from framework.records import Case
from framework.statistics import compare
from framework.statistics.proportions import mcnemar_p

__all__ = ["Results", "paired"]


def paired(
    pairs: Flips, clusters: Mapping[str, str | None], taxonomy: Taxonomy, seed: int, name: str
) -> dict[str, Any]:
    """Two stacks on one set of cases: accuracies, flips, exact McNemar, bootstrap, tables.

    Keys: n, before, after (accuracies, over cases), delta, wrong_to_right, right_to_wrong,
    mcnemar_p (exact, two-sided, case by case: descriptive where there are clusters), permutation_p
    (two-sided, over clusters), interval (95%, of delta, over clusters), clusters (how many, None
    where every case stands alone), by_kind (with `abstention`), by_regime (localisation, by the
    regime before), fixed, broken (case ids).

    clusters : by case, its cluster; None for a case that stands alone.
    """
    before = {o.case_id: float(o.correct) for o in pairs.before}
    after = {o.case_id: float(o.correct) for o in pairs.after}
    found = compare(after, before, clusters, seed=seed, names=("improve", name))
    n = max(1, len(before))
    return {
        "n": len(before),
        "before": sum(before.values()) / n,
        "after": sum(after.values()) / n,
        "delta": pairs.net / n,
        "wrong_to_right": len(pairs.fixed),
        "right_to_wrong": len(pairs.broken),
        "mcnemar_p": mcnemar_p(len(pairs.fixed), len(pairs.broken)),
        "permutation_p": found.permutation.p,
        "interval": [found.interval.low, found.interval.high],
        "clusters": found.n_clusters,
        "by_kind": pairs.by_kind(),
        "by_regime": pairs.by_regime(taxonomy),
        "fixed": pairs.fixed,
        "broken": pairs.broken,
    }


class Results:
    """Gathers what `improve.json` holds. One entry a draft, and none a case."""

    def __init__(self, taxonomy: Taxonomy, variants: Mapping[str, Taxonomy]) -> None:
        self._taxonomy = taxonomy
        self._variants = variants
        self._candidates: dict[int, dict[str, Any]] = {}
        self._data: dict[str, Any] = {"trajectory": [], "looks": []}

    def started(
        self,
        start: Mapping[str, Any],
        splits: Splits[Case],
        optimize: Sequence[Outcome],
        confirm: Sequence[Outcome],
        noise: Mapping[str, Any],
    ) -> None:
        """Note the baseline."""
        self._data |= {
            "loop": dict(start),
            "splits": {
                "optimize": len(splits.optimize),
                "confirm": len(splits.confirm),
                "test": len(splits.test),
                "rest": len(splits.rest),
            },
            "baseline": {
                "optimize": sum(o.correct for o in optimize) / max(1, len(optimize)),
                "confirm": sum(o.correct for o in confirm) / max(1, len(confirm)),
                "failures": self._taxonomy.histogram(optimize),
                "failures_by_kind": _crossed(self._taxonomy, optimize),
            },
            "noise": dict(noise),
            "sensitivity": {
                name: variant.histogram(optimize) for name, variant in self._variants.items()
            },
        }

    def measured(self, number: int, diff: Mapping[str, Any]) -> None:
        """Note a draft's result on OPTIMIZE."""
        kept = ("net", "target_fixed", "target_failures", "requests_changed", "passed", "reason")
        entry = self._entry(number)
        entry["optimize"] = {name: diff[name] for name in kept}
        entry["optimize"] |= {"fixed": len(diff["fixed"]), "broken": len(diff["broken"])}

    def looked(self, number: int, diff: Mapping[str, Any]) -> None:
        """Note a look at CONFIRM."""
        kept = ("look", "net", "delta", "bound", "alpha", "threshold", "passed", "reason")
        entry = {name: diff[name] for name in kept}
        entry |= {"fixed": len(diff["fixed"]), "broken": len(diff["broken"])}
        self._entry(number)["confirm"] = entry
        self._data["looks"].append({"number": number, **entry})

    def discarded(
        self, number: int, candidate: Candidate | None, route: Route, stage: str, reason: str
    ) -> None:
        """Note a draft that came to nothing."""
        entry = self._entry(number)
        if candidate is not None:
            entry |= {**candidate.plain(), "why": candidate.why}
        entry |= {"regime": route.regime, "outcome": "discarded", "stage": stage, "reason": reason}

    def promoted(self, draft: Draft, cumulative: Flips) -> None:
        """Note a promotion; `cumulative` is the new stack against the bare pipeline."""
        entry = self._entry(draft.number)
        entry |= {**draft.candidate.plain(), "why": draft.candidate.why}
        entry |= {"regime": draft.route.regime, "outcome": "promoted", "stage": "confirm"}
        entry["reason"] = entry["confirm"]["reason"]
        self._data["trajectory"].append(
            {
                "number": draft.number,
                "seam": draft.candidate.seam,
                "regime": draft.route.regime,
                "delta": entry["confirm"]["delta"],
                "fixed": entry["confirm"]["fixed"],
                "broken": entry["confirm"]["broken"],
                "cumulative_delta": cumulative.net / max(1, len(cumulative.before)),
                "cumulative_fixed": len(cumulative.fixed),
                "cumulative_broken": len(cumulative.broken),
            }
        )

    def removed(self, candidate: Candidate) -> None:
        """Note an entry that consolidation dropped."""
        for entry in self._candidates.values():
            if entry.get("candidate") == candidate.digest and entry["outcome"] == "promoted":
                entry["outcome"] = "consolidated"

    def stopped(self, stopped: Mapping[str, Any], stack: Stack) -> None:
        """Note why the loop stopped, and with what."""
        self._data |= {"stopped": dict(stopped), "stack": stack.plain()}

    def pairs(self, name: str, pairs: Flips, clusters: Mapping[str, str | None], seed: int) -> None:
        """Note the final stack against the bare pipeline where it was selected on."""
        self._data[name] = paired(pairs, clusters, self._taxonomy, seed, name)

    def tested(self, name: str, said: Mapping[str, Any]) -> None:
        """Note a TEST."""
        self._data[name] = {key: value for key, value in said.items() if key != "split"}

    def spent(self, **by: tuple[int, float]) -> None:
        """Note tokens in and out and dollars at list price, of evaluations and of the author."""
        self._data["spent"] = {
            name: {"tokens": tokens, "cost_usd": cost} for name, (tokens, cost) in by.items()
        }

    def plain(self) -> dict[str, Any]:
        """The content of `improve.json`."""
        candidates = [entry for _, entry in sorted(self._candidates.items())]
        return {**self._data, "candidates": candidates, "funnel": _funnel(candidates)}

    def _entry(self, number: int) -> dict[str, Any]:
        return self._candidates.setdefault(number, {"number": number})


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


def _crossed(taxonomy: Taxonomy, outcomes: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    """Failures by question type and regime."""
    found: dict[str, Counter[str]] = {}
    for o in outcomes:
        if not o.correct:
            found.setdefault(o.kind, Counter())[taxonomy.regime_of(o)] += 1
    return {kind: dict(sorted(counts.items())) for kind, counts in sorted(found.items())}
