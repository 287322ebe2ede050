"""Answer a question from the dated sessions of a conversation, or say that they hold no answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from framework.operations.answering import AnswerRequest
from framework.operations.prompted import PromptedAnswering
from framework.records import ABSTAIN, Answer, TaskCard
from framework.registry import register

QUESTION_DATE: Final = "question_date"
"""Key of `TaskCard.material` under which the day of the question stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFromSessionsResponse:
    """The answer and the sentences it rests on.

    abstains : the sessions hold no answer, and `answer` says so.
    """

    answer: str
    evidence: tuple[str, ...] = ()
    abstains: bool = False
    confidence: float | None = field(default=None, metadata={"measured": True})


@register("operation", "answer_from_sessions")
class AnswerFromSessions(PromptedAnswering[AnswerFromSessionsResponse]):
    """Answer a question from dated turns of several sessions, following the instruction."""

    response = AnswerFromSessionsResponse
    slots = frozenset({"instruction", "record", "question", "question_date"})

    def answer_of(self, response: AnswerFromSessionsResponse, task: TaskCard) -> Answer:
        return Answer(
            decision=ABSTAIN if response.abstains else "",
            text=response.answer,
            confidence=response.confidence,
            rationale=" ".join(response.evidence),
        )

    def fill(self, request: AnswerRequest) -> Mapping[str, str]:
        return {
            "instruction": request.task.instruction,
            "record": request.view,
            "question": request.task.query,
            "question_date": request.task.material.get(QUESTION_DATE) or "not told",
        }
