"""Audit an adverse decision's notice against a checklist (LongHorizon 3.4, CRR)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from framework.operations.prompted import PromptedOperation
from framework.operations.verdicts import Finding, numbered, read_findings, written
from framework.records import Answer, ChecklistItem, Standard
from framework.registry import register
from framework.text.canonical import canonical_json


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """What the auditor sees of an answer, the audit question, and the items in the order shown.

    A language model is shown each item's text and citation; its patterns are for a rule.
    """

    decision: str
    rationale: str
    notice: str
    question: str
    items: tuple[ChecklistItem, ...]

    @classmethod
    def of(
        cls, answer: Answer, standard: Standard, items: tuple[ChecklistItem, ...] | None = None
    ) -> AuditRequest:
        """An answer under a standard; `items` are those of the standard that are asked for."""
        return cls(
            decision=answer.decision,
            rationale=answer.rationale,
            notice=answer.notice,
            question=standard.question,
            items=standard.items if items is None else items,
        )

    @property
    def document(self) -> str:
        """Decision, rationale and notice as one text: all that a verdict may rest on."""
        return (
            f"Decision: {self.decision}.\n\nRationale:\n{self.rationale}\n\n"
            f"Notice:\n{self.notice or '(none)'}"
        )


@register("operation", "audit")
class Audit(PromptedOperation[AuditRequest, tuple[Finding, ...]]):
    """Say, item by item, whether decision, rationale and notice meet it, quoting the evidence."""

    slots = frozenset({"question", "document", "items", "count"})

    def fill(self, request: AuditRequest) -> Mapping[str, str]:
        return {
            "question": request.question,
            "document": request.document,
            "items": numbered([_demand(item) for item in request.items]),
            "count": str(len(request.items)),
        }

    def parse(self, text: str, request: AuditRequest) -> tuple[Finding, ...]:
        ids = [item.id for item in request.items]
        return read_findings(self.json_object(text), ids, request.document)

    def render(self, response: tuple[Finding, ...]) -> str:
        return canonical_json(written(response))


def _demand(item: ChecklistItem) -> str:
    return f"{item.text} ({item.citation})" if item.citation else item.text
