"""The judge that follows the structure of the gold: phrases, typed values, regular expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from framework.contracts import Client, Judge, Verdict, answer_by_rule
from framework.operations.audit import Audit, AuditRequest
from framework.operations.entail import Entail, EntailRequest
from framework.operations.equivalent import Equivalent, EquivalentRequest
from framework.records import Answer, ReasoningPoint, Standard
from framework.registry import NoSettings, register


@register("judge", "rules")
class Rules(Judge[NoSettings]):
    """Phrases within one sentence for entailment, regular expressions for audits; no model.

    Deterministic and blind to the arm. It is no measure of how well a language model argues: it
    knows only the wordings that the gold lists. It says what the rules for the
    operations `entail`, `audit` and `equivalent` say.

    Raises re.error when a checklist item is not a regular expression.
    """

    kind: ClassVar[Literal["rule-based", "llm"]] = "rule-based"

    def entail(
        self, rationale: str, points: Sequence[ReasoningPoint], client: Client
    ) -> Sequence[Verdict]:
        request = EntailRequest(rationale=rationale, points=tuple(points))
        return [
            Verdict(id=f.id, met=f.met, evidence=": ".join(filter(None, (f.why, *f.quotes))))
            for f in answer_by_rule(Entail(), request)
        ]

    def audit(self, answer: Answer, standard: Standard, client: Client) -> Sequence[Verdict]:
        return [
            Verdict(id=finding.id, met=finding.met, evidence=finding.evidence)
            for finding in answer_by_rule(Audit(), AuditRequest.of(answer, standard))
        ]

    def equivalent(
        self, question: str, expected: str, given: str, kind: str, client: Client
    ) -> Verdict:
        request = EquivalentRequest(question=question, expected=expected, given=given, kind=kind)
        response = answer_by_rule(Equivalent(), request)
        return Verdict(id="answer", met=response.met, evidence=response.why)
