"""Questions over sessions as a target: LongMemEval from its file or drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final

from framework.contracts import Domain, Outcome, Patch, Sizes
from framework.records import Case, Row
from framework.registry import register
from plugins.targets.retrieval import RetrievalSettings, RetrievalTarget, library_of, outcome_of

_DRAWN: Final = "longmemeval_synthetic"


def _shifted_shares() -> dict[str, float]:
    """Fewer counts and spans of time, more of what a clause for them would spoil."""
    return {
        "fact": 0.1,
        "price": 0.06,
        "plan": 0.06,
        "other": 0.06,
        "assistant": 0.12,
        "preference": 0.06,
        "count": 0.06,
        "times": 0.04,
        "total": 0.04,
        "list": 0.04,
        "update": 0.06,
        "original": 0.08,
        "running": 0.04,
        "worn": 0.02,
        "ago": 0.04,
        "between": 0.02,
        "when": 0.04,
        "window": 0.03,
        "order": 0.03,
    }


@dataclass(frozen=True, kw_only=True)
class LongMemEvalTargetSettings(RetrievalSettings):
    """Settings of `target=longmemeval`, besides those of `RetrievalSettings`.

    shifted_abstention, shifted_held_out, shifted_shares : the second TEST of drawn questions: the
        share without an answer, that in held-out wordings, and the weights of the structures.
    """

    shifted_abstention: float = 0.3
    shifted_held_out: float = 1.0
    shifted_shares: Mapping[str, float] = field(default_factory=_shifted_shares)


@register("target", "longmemeval")
class LongMemEvalTarget(RetrievalTarget[LongMemEvalTargetSettings]):
    """Answers over dated sessions under the retrieval regimes (Regimes 5, 6).

    A case is correct as the judge finds by the rule for its type. Evidence is the turns that have
    the answer, each in the view when its text is. The rule-based reader follows the clauses of the
    closed grammar in the fragment `guidance`, so its library is made of them.
    """

    domains: ClassVar[tuple[str, ...]] = ("longmemeval", _DRAWN)

    @property
    def library(self) -> tuple[Patch, ...]:
        return library_of("answer_from_sessions")

    def sizes(self, domain: Domain[Any]) -> Sizes:
        """Of drawn questions so many that a bound can exceed 0: docs/results/improve.md."""
        if domain.name != _DRAWN:
            return super().sizes(domain)
        return Sizes(pool=700, optimize=100, confirm=400, test=200)

    def axes(self, domain: Domain[Any]) -> tuple[str, ...]:
        return ("answer",)

    def outcome(self, case: Case, row: Row, record: Mapping[str, Any]) -> Outcome:
        correct = (row.axes.get("answer_correct") or 0.0) >= 0.5
        return outcome_of(self, case, row, record, correct)

    def shifted(self, domain: Domain[Any]) -> Domain[Any] | None:
        if domain.name != _DRAWN:
            return None
        s = self.settings
        settings = replace(
            domain.settings,
            shares=s.shifted_shares,
            abstention=s.shifted_abstention,
            held_out=s.shifted_held_out,
        )
        return type(domain)(settings)

    def summary(self, outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
        kinds = Counter(outcome.kind for outcome in outcomes)
        right = Counter(outcome.kind for outcome in outcomes if outcome.correct)
        return {kind: f"{right[kind]}/{n}" for kind, n in sorted(kinds.items())}
