"""The judge that follows the structure of the gold: phrases, typed values, regular expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final, Literal

from framework.contracts import Client, Judge, Profile, Verdict
from framework.operations.audit import AuditRequest, audited
from framework.operations.entail import entailed
from framework.operations.equivalent import Equivalent, EquivalentRequest
from framework.records import Answer, ReasoningPoint, Standard
from framework.registry import NoSettings, register

_EQUIVALENT: Final = Equivalent()


@register("judge", "rules")
class Rules(Judge[NoSettings]):
    """Entailment by phrases within one sentence, audit by regular expressions; no model is asked.

    Deterministic and blind to the arm. An instrument check, not a measure of how well a language
    model argues: it knows only the wordings that the gold lists. It says what the rule-based model
    says to the operations `entail`, `audit` and `equivalent`, whose docstrings say how.

    Raises re.error when a checklist item is not a regular expression.
    """

    kind: ClassVar[Literal["rule-based", "llm"]] = "rule-based"

    def entail(
        self, rationale: str, points: Sequence[ReasoningPoint], client: Client
    ) -> Sequence[Verdict]:
        return [
            Verdict(id=f.id, met=f.met, evidence=": ".join(filter(None, (f.why, *f.quotes))))
            for f in entailed(rationale, points)
        ]

    def audit(self, answer: Answer, standard: Standard, client: Client) -> Sequence[Verdict]:
        request = AuditRequest(
            decision=answer.decision,
            rationale=answer.rationale,
            notice=answer.notice,
            question=standard.question,
            items=standard.items,
        )
        return [
            Verdict(id=finding.id, met=finding.met, evidence=finding.evidence)
            for finding in audited(request.notice, request.items)
        ]

    def equivalent(
        self, question: str, expected: str, given: str, kind: str, client: Client
    ) -> Verdict:
        request = EquivalentRequest(question=question, expected=expected, given=given, kind=kind)
        response = _EQUIVALENT.offline(request, Profile())
        return Verdict(id="answer", met=response.met, evidence=response.why)
