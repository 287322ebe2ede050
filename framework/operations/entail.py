"""Check which inferences a rationale entails (LongHorizon 3.3, the judge E of RCS)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from framework.contracts import Profile
from framework.operations._verdicts import Finding, numbered, read_findings, written
from framework.operations.prompted import PromptedOperation
from framework.records import ReasoningPoint
from framework.registry import register
from framework.text.canonical import canonical_json
from framework.text.values import contains, find_values

__all__ = ["Entail", "EntailRequest", "Finding", "entailed"]

_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")


@dataclass(frozen=True, slots=True, kw_only=True)
class EntailRequest:
    """The whole rationale, and the points in the order in which they are shown.

    A language model is shown the points' texts only; the phrases that they require and forbid are
    for the rule-based answer.
    """

    rationale: str
    points: tuple[ReasoningPoint, ...]


@register("operation", "entail")
class Entail(PromptedOperation[EntailRequest, tuple[Finding, ...]]):
    """Say, point by point, whether a rationale entails it, with the words that it rests on.

    The rule-based answer follows phrases: a point is met by a sentence that has one alternative of
    each of its groups (a value in any form of its type, other text as whole words in any case) and
    none of the phrases that deny it. It knows only the wordings that the gold lists.
    """

    slots = frozenset({"rationale", "points", "count"})

    def fill(self, request: EntailRequest) -> Mapping[str, str]:
        return {
            "rationale": request.rationale,
            "points": numbered([point.text for point in request.points]),
            "count": str(len(request.points)),
        }

    def parse(self, text: str, request: EntailRequest) -> tuple[Finding, ...]:
        ids = [point.id for point in request.points]
        return read_findings(self.json_object(text), ids, request.rationale)

    def offline(self, request: EntailRequest, profile: Profile) -> tuple[Finding, ...]:
        return tuple(entailed(request.rationale, request.points))

    def render(self, response: tuple[Finding, ...]) -> str:
        return canonical_json(written(response))


def entailed(rationale: str, points: Sequence[ReasoningPoint]) -> list[Finding]:
    """By phrases, whether each point is entailed by one sentence; one that denies it is quoted."""
    found = [part.strip() for part in _SENTENCE_END.split(rationale) if part.strip()]
    return [_entailed(point, found) for point in points]


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
