"""The judge that follows the structure of the gold: phrases, typed values, regular expressions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar, Final, Literal

from framework.contracts import Client, Judge, Verdict
from framework.records import Answer, ChecklistItem, ReasoningPoint, Standard
from framework.registry import NoSettings, register
from framework.values import contains, find_values

_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")


@register("judge", "rules")
class Rules(Judge[NoSettings]):
    """Entailment by phrases within one sentence, audit by regular expressions; no model is asked.

    Deterministic and blind to the arm. An instrument check, not a measure of how well a language
    model argues: it knows only the wordings that the gold lists.

    entail : a point is met by a sentence of the rationale that has one alternative of each of its
        groups (a value in any form of its type, other text as whole words in any case) and none of
        the phrases that deny it.
    audit : an item is met when the text of decision, rationale and notice has a match for one
        alternative of each group and for nothing forbidden, white space runs as one space.

    Raises re.error when a checklist item is not a regular expression.
    """

    kind: ClassVar[Literal["rule-based", "llm"]] = "rule-based"

    def entail(
        self, rationale: str, points: Sequence[ReasoningPoint], client: Client
    ) -> Sequence[Verdict]:
        sentences = [part.strip() for part in _SENTENCE_END.split(rationale) if part.strip()]
        return [_entailed(point, sentences) for point in points]

    def audit(self, answer: Answer, standard: Standard, client: Client) -> Sequence[Verdict]:
        parts = (f"Decision: {answer.decision}.", answer.rationale, answer.notice)
        text = " ".join(" ".join(parts).split())
        return [_audited(item, text) for item in standard.items]


def _entailed(point: ReasoningPoint, sentences: Sequence[str]) -> Verdict:
    denied = ""
    for sentence in sentences:
        if all(any(_says(sentence, option) for option in group) for group in point.requires):
            if not any(_says(sentence, phrase) for phrase in point.forbids):
                return Verdict(id=point.id, met=True, evidence=sentence)
            denied = denied or sentence
    return Verdict(id=point.id, met=False, evidence=denied and f"denied: {denied}")


def _says(sentence: str, option: str) -> bool:
    return contains(sentence, option, _type(option))


@lru_cache(maxsize=1 << 14)
def _type(option: str) -> str:
    """The type of an alternative that is one value as a whole; else empty: a phrase."""
    values = find_values(option)
    is_value = len(values) == 1 and values[0].text == option.strip()
    return values[0].type if is_value else ""


def _audited(item: ChecklistItem, text: str) -> Verdict:
    for pattern in item.forbids:
        if match := _compiled(pattern).search(text):
            return Verdict(id=item.id, met=False, evidence=f'forbidden: "{match.group()}"')
    quotes: list[str] = []
    for group in item.requires:
        match = next((m for p in group if (m := _compiled(p).search(text))), None)
        if match is None:
            return Verdict(id=item.id, met=False, evidence=f"not found: {' | '.join(group)}")
        quotes.append(f'"{match.group()}"')
    return Verdict(id=item.id, met=True, evidence=", ".join(quotes))


@lru_cache(maxsize=1 << 12)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
