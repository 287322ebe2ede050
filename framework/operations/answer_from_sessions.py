"""Answer a question from the dated sessions of a conversation, or say that they hold no answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from framework.contracts import Profile
from framework.operations import _json
from framework.operations.answering import AnsweringOperation
from framework.operations.prompted import PromptedOperation
from framework.operations.reading.clauses import clauses_in
from framework.operations.reading.matching import Question
from framework.operations.reading.noise import mishap
from framework.operations.reading.recollect import recollect
from framework.operations.reading.turns import date_of, statements_of
from framework.records import ABSTAIN, Answer, TaskCard
from framework.registry import register

__all__ = [
    "QUESTION_DATE",
    "AnswerFromSessions",
    "AnswerFromSessionsRequest",
    "AnswerFromSessionsResponse",
]

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
class AnswerFromSessions(
    PromptedOperation[AnswerFromSessionsRequest, AnswerFromSessionsResponse],
    AnsweringOperation[AnswerFromSessionsRequest, AnswerFromSessionsResponse],
):
    """Answer a question from dated turns of several sessions, as the instruction says.

    The rule-based answer is a lexical baseline (see `reading.recollect`) that follows the clauses
    of a closed grammar in the instruction and no other text of it (`reading.clauses`).
    """

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

    def parse(self, text: str, request: AnswerFromSessionsRequest) -> AnswerFromSessionsResponse:
        data = self.json_object(text)
        _json.expect_keys(data, ("evidence", "answer", "abstains"))
        return AnswerFromSessionsResponse(
            answer=_json.text(data, "answer"),
            evidence=_json.texts(data, "evidence"),
            abstains=_json.truth(data, "abstains"),
        )

    def offline(
        self, request: AnswerFromSessionsRequest, profile: Profile
    ) -> AnswerFromSessionsResponse:
        question = Question(text=request.question, asked_on=date_of(request.question_date))
        force = clauses_in(request.instruction, self.name).in_force(request.question)
        read = [s for s in statements_of(request.view) if mishap(s.text, profile) != "miss"]
        found = recollect(question, read, force)
        return AnswerFromSessionsResponse(
            answer=found.answer, evidence=found.evidence, abstains=found.abstains
        )
