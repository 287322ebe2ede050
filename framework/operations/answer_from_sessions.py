"""Answer a question from the dated sessions of a conversation, or say that they hold no answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from framework.operations.prompted import PromptedAnswering
from framework.records import ABSTAIN, Answer, TaskCard
from framework.registry import register

QUESTION_DATE: Final = "question_date"
"""Key of `TaskCard.material` under which the day of the question stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFromSessionsRequest:
    """The question, the day on which it is asked, how to answer, and the text of the view."""

    question: str
    question_date: str
    instruction: str
    view: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFromSessionsResponse:
    """The answer and the sentences it rests on.

    abstains : the sessions hold no answer, and `answer` says so.
    """

    answer: str
    evidence: tuple[str, ...] = ()
    abstains: bool = False


@register("operation", "answer_from_sessions")
class AnswerFromSessions(PromptedAnswering[AnswerFromSessionsRequest, AnswerFromSessionsResponse]):
    """Answer a question from dated turns of several sessions, as the instruction says."""

    response = AnswerFromSessionsResponse
    slots = frozenset({"instruction", "record", "question", "question_date"})

    def request_of(self, task: TaskCard, view: str) -> AnswerFromSessionsRequest:
        return AnswerFromSessionsRequest(
            question=task.query,
            question_date=task.material.get(QUESTION_DATE, ""),
            instruction=task.instruction,
            view=view,
        )

    def answer_of(self, response: AnswerFromSessionsResponse, task: TaskCard) -> Answer:
        return Answer(
            decision=ABSTAIN if response.abstains else "",
            text=response.answer,
            rationale=" ".join(response.evidence),
        )

    def fill(self, request: AnswerFromSessionsRequest) -> Mapping[str, str]:
        return {
            "instruction": request.instruction,
            "record": request.view,
            "question": request.question,
            "question_date": request.question_date or "not told",
        }
