"""Audit an adverse decision's notice against a checklist (LongHorizon 3.4, CRR)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from framework.contracts import Profile
from framework.operations._verdicts import Finding, numbered, read_findings, written
from framework.operations.prompted import PromptedOperation
from framework.records import ChecklistItem
from framework.registry import register
from framework.text.canonical import canonical_json

__all__ = ["Audit", "AuditRequest", "Finding", "audited"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """What the auditor sees of an answer, the audit question, and the items in the order shown.

    A language model is shown each item's text and citation; its patterns are for the rule-based
    answer.
    """

    decision: str
    rationale: str
    notice: str
    question: str
    items: tuple[ChecklistItem, ...]

    @property
    def document(self) -> str:
        """Decision, rationale and notice as one text: all that a verdict may rest on."""
        return (
            f"Decision: {self.decision}.\n\nRationale:\n{self.rationale}\n\n"
            f"Notice:\n{self.notice or '(none)'}"
        )


@register("operation", "audit")
class Audit(PromptedOperation[AuditRequest, tuple[Finding, ...]]):
    """Say, item by item, whether decision, rationale and notice meet it, with quoted evidence.

    The rule-based answer follows patterns: an item is met when the notice, which is all that the
    applicant gets, has a match for one alternative of each group and for nothing forbidden, white
    space runs as one space. Raises re.error when one of them is not a regular expression.
    """

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

    def offline(self, request: AuditRequest, profile: Profile) -> tuple[Finding, ...]:
        return tuple(audited(request.notice, request.items))

    def render(self, response: tuple[Finding, ...]) -> str:
        return canonical_json(written(response))


def _demand(item: ChecklistItem) -> str:
    return f"{item.text} ({item.citation})" if item.citation else item.text


def audited(notice: str, items: Sequence[ChecklistItem]) -> list[Finding]:
    """By patterns, whether the notice meets each item; what is forbidden is quoted."""
    text = " ".join(notice.split())
    return [_audited(item, text) for item in items]


def _audited(item: ChecklistItem, text: str) -> Finding:
    for pattern in item.forbids:
        if match := _compiled(pattern).search(text):
            return Finding(id=item.id, met=False, quotes=(match.group(),), why="forbidden")
    quotes: list[str] = []
    for group in item.requires:
        match = next((m for p in group if (m := _compiled(p).search(text))), None)
        if match is None:
            return Finding(id=item.id, met=False, why=f"not found: {' | '.join(group)}")
        quotes.append(match.group())
    return Finding(id=item.id, met=True, quotes=tuple(quotes))


@lru_cache(maxsize=1 << 12)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
