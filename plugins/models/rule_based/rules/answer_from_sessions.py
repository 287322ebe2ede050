"""How an answer is found in dated sessions."""

from __future__ import annotations

from framework.contracts import Profile
from framework.operations.answer_from_sessions import QUESTION_DATE, AnswerFromSessionsResponse
from framework.operations.answering import AnswerRequest
from framework.registry import register
from framework.text.sessions import date_of
from plugins.models.rule_based.clauses import ClauseRule
from plugins.models.rule_based.noise import is_missed
from plugins.models.rule_based.sessions.matching import Question
from plugins.models.rule_based.sessions.recollect import recollect
from plugins.models.rule_based.sessions.turns import statements_of


@register("rule", "answer_from_sessions")
class AnswerFromSessionsRule(ClauseRule[AnswerRequest, AnswerFromSessionsResponse]):
    """The answer to a question from what was said in the sessions.

    A lexical baseline (`sessions.recollect`) that follows the clauses of a closed grammar in
    the instruction and no other text of it (`clauses`).
    """

    def answer(self, request: AnswerRequest, profile: Profile) -> AnswerFromSessionsResponse:
        question = Question(
            text=request.task.query, asked_on=date_of(request.task.material.get(QUESTION_DATE, ""))
        )
        force = self.in_force(request.task.instruction, request.task.query)
        read = [s for s in statements_of(request.view) if not is_missed(s.text, profile)]
        found = recollect(question, read, force)
        return AnswerFromSessionsResponse(
            answer=found.answer, evidence=found.evidence, abstains=found.abstains
        )
