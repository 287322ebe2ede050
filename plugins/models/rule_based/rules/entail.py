"""Whether a rationale entails points, by the phrases that each requires and forbids."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from framework.contracts import Profile, Rule
from framework.operations.entail import EntailRequest
from framework.operations.verdicts import Finding
from framework.records import ReasoningPoint
from framework.registry import register
from framework.text.values import contains, find_values

_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")


@register("rule", "entail")
class EntailRule(Rule[EntailRequest, tuple[Finding, ...]]):
    """A point is met by a sentence that has one alternative of each of its groups and denies none.

    A value counts in any form of its type, other text as whole words in any case. A sentence
    that has a phrase that denies the point is quoted. It knows only the wordings that the gold
    lists.
    """

    def answer(self, request: EntailRequest, profile: Profile) -> tuple[Finding, ...]:
        parts = (part.strip() for part in _SENTENCE_END.split(request.rationale))
        found = [part for part in parts if part]
        return tuple(_entailed(point, found) for point in request.points)


def _entailed(point: ReasoningPoint, sentences: Sequence[str]) -> Finding:
    denied = ""
    for sentence in sentences:
        if all(any(_says(sentence, option) for option in group) for group in point.requires):
            if not any(_says(sentence, phrase) for phrase in point.forbids):
                return Finding(id=point.id, met=True, quotes=(sentence,))
            denied = denied or sentence
    if denied:
        return Finding(id=point.id, met=False, quotes=(denied,), why="denied")
    return Finding(id=point.id, met=False)


def _says(sentence: str, option: str) -> bool:
    return contains(sentence, option, _type(option))


@lru_cache(maxsize=1 << 14)
def _type(option: str) -> str:
    """The type of an alternative that is one value as a whole; else empty: a phrase."""
    values = find_values(option)
    is_value = len(values) == 1 and values[0].text == option.strip()
    return values[0].type if is_value else ""
