"""How an answer is found in a view: by the question's rarer words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from framework.contracts import Profile, Rule
from framework.operations.answer_question import (
    AnswerQuestionResponse,
)
from framework.operations.answering import AnswerRequest
from framework.registry import register
from framework.text.sentences import sentences
from framework.text.values import find_values
from plugins.models.rule_based.noise import is_missed
from plugins.models.rule_based.rarity import rarity

_WORD: Final = re.compile(r"[^\W_]+")
_NAME: Final = re.compile(
    r"[^\W\d_a-z][\w'’.-]*(?:\s+(?:(?:of|the|de|la|von|van|and)\s+)?[^\W\d_a-z][\w'’-]*)*"
)
_YEAR: Final = re.compile(r"\b(?:1\d|20)\d\d\b")
_QUANTITY: Final = re.compile(
    r"\bhow (?:many|much|long|old|far|tall)\b|\bwhat (?:number|percent)", re.IGNORECASE
)
_TIME: Final = re.compile(
    r"\bwhen\b|\b(?:what|which|in what) (?:year|date|day|month)\b", re.IGNORECASE
)
_STOP_WORDS: Final = (
    "a an and are as at be by did do does for from had has have he her his how in is it its of on "
    "or she that the their they this to was were what when where which who whom whose why will with"
)
_STOP: Final = frozenset(_STOP_WORDS.split())


@register("rule", "answer_question")
class AnswerQuestionRule(Rule[AnswerRequest, AnswerQuestionResponse]):
    """A date, number or name from the sentence with most of the question's rarer words.

    A lexical baseline: of the dates, numbers or names in that sentence, whichever the question
    asks for, the first that the question does not hold; the whole sentence when there is none.
    """

    def answer(self, request: AnswerRequest, profile: Profile) -> AnswerQuestionResponse:
        found = [s for s in sentences(request.view) if not is_missed(s, profile)]
        sentence = _best(request.task.query, found)
        return AnswerQuestionResponse(answer=_span(request.task.query, sentence), evidence=sentence)


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if word not in _STOP]


def _best(question: str, found: Sequence[str]) -> str:
    """The sentence with the greatest sum of idf over the question's words, the first of equals."""
    scores = rarity(_words(question), [_words(sentence) for sentence in found])
    best = max(scores, default=0.0)
    return found[scores.index(best)] if best > 0 else ""


def _span(question: str, sentence: str) -> str:
    """What in the sentence the question asks for."""
    values = find_values(sentence)
    if _TIME.search(question):
        dates = [value.text for value in values if value.type == "date"]
        spans = dates or _YEAR.findall(sentence)
    elif _QUANTITY.search(question):
        spans = [value.text for value in values if value.type != "date"]
    else:
        spans = [name for name in _NAME.findall(sentence) if set(_words(name))]
    asked = question.casefold()
    return next((span for span in spans if span.casefold() not in asked), sentence)
