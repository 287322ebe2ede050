"""How a notice is audited: by patterns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from framework.contracts import Profile, Rule
from framework.operations.audit import AuditRequest
from framework.operations.verdicts import Finding
from framework.records import ChecklistItem
from framework.registry import register
from framework.text.counting import counted
from plugins.models.rule_based.visible import visible

_SPACES: Final = re.compile(r"\\(?:s|W)[+*]\??")
_SENTENCE: Final = re.compile(r"[^.;!?]*")
_UNSURE: Final = re.compile(
    r"\b(?:may\s+or\s+may\s+not|might\s+or\s+might\s+not|perhaps|possibly|"
    r"(?:is|was|are|were|have|has)\s+or\s+(?:is|was|are|were|have|has)\s+not)\b",
    re.IGNORECASE,
)
_NOT_SAID: Final = re.compile(
    r"\b(?:whether|would\s+have|(?:false|not\s+true|untrue)\s+that|"
    r"nothing\s+to\s+do\s+with)\b|(?:\b(?:no|not|never|nor|without)|\[\s*\])\s*$",
    re.IGNORECASE,
)
"""Before a match, what makes the sentence say something else than the match alone."""
_TAKEN_BACK: Final = re.compile(r"^[\s,]*(?:is|was|are|were)\s+(?:not|no)\b", re.IGNORECASE)
"""The same, right after it."""


@register("rule", "audit")
class AuditRule(Rule[AuditRequest, tuple[Finding, ...]]):
    """An item is met if the notice matches its patterns (any white space counts as one space).

    The notice is all that the applicant gets. It must have a match for one alternative of each
    group, in a sentence that neither denies it nor calls it a condition or a mere possibility,
    nowhere its denial, and nothing forbidden. A "not" that is itself part of what the item asks for
    denies nothing. Raises re.error when one of them is not a regular expression.
    """

    def answer(self, request: AuditRequest, profile: Profile) -> tuple[Finding, ...]:
        text = " ".join(visible(request.notice).split())
        return tuple(_audited(item, text) for item in request.items)


def _audited(item: ChecklistItem, text: str) -> Finding:
    for pattern in item.forbids:
        if match := _compiled(pattern).search(text):
            return Finding(id=item.id, met=False, quotes=(match.group(),), why="forbidden")
    quotes: list[str] = []
    for group in item.requires:
        match = next((m for p in group for m in _compiled(p).finditer(text) if _sure(m)), None)
        if match is None:
            return Finding(id=item.id, met=False, why=f"not found: {_wording(group)}")
        if denial := _denial(match, item):
            return Finding(id=item.id, met=False, quotes=(denial,), why="denied")
        quotes.append(match.group())
    return Finding(id=item.id, met=True, quotes=tuple(quotes))


def _wording(group: Sequence[str]) -> str:
    """What was looked for: the first pattern as a person would read it, and how many others."""
    first = _SPACES.sub(" ", group[0]).replace(r"\b", "")
    if "(?" in first:  # of no wording that a person would know
        return counted(len(group), "pattern")
    return first + (f" (or {counted(len(group) - 1, 'other pattern')})" if group[1:] else "")


def _sure(match: re.Match[str]) -> bool:
    """Whether the sentence of a match says what the match says, and for certain."""
    start = max(match.string.rfind(end, 0, match.start()) for end in ".;!?") + 1
    end = _SENTENCE.match(match.string, match.end())
    before, after = match.string[start : match.start()], match.string[match.end() :]
    unsure = _UNSURE.search(match.string[start : end.end() if end else None])
    return not (unsure or _NOT_SAID.search(before) or _TAKEN_BACK.search(after))


def _denial(match: re.Match[str], item: ChecklistItem) -> str:
    """Where the text says the opposite of a match; empty when it does not.

    Nothing does where the match itself has the words of the denial, as "is not affordable" has;
    nor do those words within a match of what else the item requires.
    """
    words = match.group().split()
    said = r"\s+".join(map(re.escape, words[-1:]))
    if not words or not words[-1][-1].isalpha():
        return ""
    denied = re.compile(
        rf"\b(?:not|never|n['’]t)\s+(?:(?:to|been|be|yet)\s+)?{said}\b", re.IGNORECASE
    )
    if denied.search(match.group()):
        return ""
    for found in denied.finditer(match.string):
        apart = found.end() <= match.start() or match.end() <= found.start()
        if apart and not any(_within(found, p) for group in item.requires for p in group):
            return found.group()
    return ""


def _within(found: re.Match[str], pattern: str) -> bool:
    """Whether a match lies within one of the pattern in the same text."""
    others = _compiled(pattern).finditer(found.string)
    return any(o.start() <= found.start() and found.end() <= o.end() for o in others)


@lru_cache(maxsize=1 << 12)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
