"""How a notice is audited: by patterns."""

from __future__ import annotations

import re
from functools import lru_cache

from framework.contracts import Profile, Rule
from framework.operations.audit import AuditRequest
from framework.operations.verdicts import Finding
from framework.records import ChecklistItem
from framework.registry import register


@register("rule", "audit")
class AuditRule(Rule[AuditRequest, tuple[Finding, ...]]):
    """An item is met when the notice matches its patterns, white space runs as one space.

    The notice is all that the applicant gets. It must have a match for one alternative of each
    group and for nothing forbidden. Raises re.error when one of them is not a regular
    expression.
    """

    def answer(self, request: AuditRequest, profile: Profile) -> tuple[Finding, ...]:
        text = " ".join(request.notice.split())
        return tuple(_audited(item, text) for item in request.items)


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
