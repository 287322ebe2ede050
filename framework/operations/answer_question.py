"""Answer a question from a view: the words of the answer and the sentence they stand in."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from framework.contracts import Profile
from framework.operations import _json
from framework.operations.answering import AnsweringOperation
from framework.operations.prompted import PromptedOperation
from framework.operations.reading.noise import mishap
from framework.records import Answer, TaskCard
from framework.registry import register
from framework.text.sentences import sentences
from framework.text.values import find_values

__all__ = ["AnswerQuestion", "AnswerQuestionRequest", "AnswerQuestionResponse"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerQuestionRequest:
    """The question and the text of the view, which is all that the answer may rest on."""

    question: str
    view: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerQuestionResponse:
    """The answer, empty when the view holds none, and the sentence that it rests on, verbatim."""

    answer: str
    evidence: str


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


@register("operation", "answer_question")
class AnswerQuestion(
    PromptedOperation[AnswerQuestionRequest, AnswerQuestionResponse],
    AnsweringOperation[AnswerQuestionRequest, AnswerQuestionResponse],
):
    """Answer a question from a view in the fewest words, with the sentence it rests on.

    The rule-based answer is a lexical baseline: the sentence that shares most of the question's
    rarer words, and in it a date, a number or a name that the question does not hold, whichever the
    question asks for; the whole sentence when there is none.
    """

    slots = frozenset({"record", "question"})

    def request_of(self, task: TaskCard, view: str) -> AnswerQuestionRequest:
        return AnswerQuestionRequest(question=task.query, view=view)

    def answer_of(self, response: AnswerQuestionResponse, task: TaskCard) -> Answer:
        return Answer(text=response.answer, rationale=response.evidence)

    def fill(self, request: AnswerQuestionRequest) -> Mapping[str, str]:
        return {"record": request.view, "question": request.question}

    def parse(self, text: str, request: AnswerQuestionRequest) -> AnswerQuestionResponse:
        data = self.json_object(text)
        _json.expect_keys(data, ("answer", "evidence"))
        return AnswerQuestionResponse(
            answer=_json.text(data, "answer"), evidence=_json.text(data, "evidence")
        )

    def offline(self, request: AnswerQuestionRequest, profile: Profile) -> AnswerQuestionResponse:
        found = [s for s in sentences(request.view) if mishap(s, profile) != "miss"]
        sentence = _best(request.question, found)
        return AnswerQuestionResponse(answer=_span(request.question, sentence), evidence=sentence)


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if word not in _STOP]


def _best(question: str, found: Sequence[str]) -> str:
    """The sentence with the greatest sum of idf over the question's words, the first of equals."""
    asked = set(_words(question))
    shared = [asked & set(_words(sentence)) for sentence in found]
    frequency = Counter(word for words in shared for word in words)
    scores = [sum(math.log1p(len(found) / frequency[w]) for w in sorted(s)) for s in shared]
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
