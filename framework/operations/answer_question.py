"""Answer a question from a view: the words of the answer and the sentence they stand in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from framework.operations.answering import AnswerRequest
from framework.operations.prompted import PromptedAnswering
from framework.records import Answer, TaskCard
from framework.registry import register


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerQuestionResponse:
    """The answer, empty when the view holds none, and the sentence that it rests on, verbatim.

    confidence : what log-probabilities give it, where the model tells them.
    """

    answer: str
    evidence: str
    confidence: float | None = field(default=None, metadata={"measured": True})


@register("operation", "answer_question")
class AnswerQuestion(PromptedAnswering[AnswerQuestionResponse]):
    """Answer a question from a view in the fewest words, and quote the supporting sentence."""

    response = AnswerQuestionResponse
    slots = frozenset({"record", "question"})

    def answer_of(self, response: AnswerQuestionResponse, task: TaskCard) -> Answer:
        sure, text = response.confidence, response.answer
        return Answer(text=text, rationale=response.evidence, confidence=sure)

    def fill(self, request: AnswerRequest) -> Mapping[str, str]:
        asked = f"{request.task.instruction}\n{request.task.query}"
        return {"record": request.view, "question": asked.strip()}
