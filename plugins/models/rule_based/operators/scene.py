"""What operators over sessions look at: the question, and the statements that bear on it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from framework.operations.answer_from_sessions import QUESTION_DATE
from framework.records import ABSTAIN, Answer, MemoryView, TaskCard
from framework.text.sessions import date_of
from plugins.models.rule_based.sessions.matching import (
    Found,
    Match,
    Question,
    date_told,
    is_of_another,
    is_plan,
    matches,
)
from plugins.models.rule_based.sessions.recollect import Recollection, recollect
from plugins.models.rule_based.sessions.turns import Statement, names, statements_of, stems

OPERATION: Final = "answer_from_sessions"

COUNTS: Final = re.compile(r"\bhow many\b|\bhow often\b|\bnumber of\b", re.IGNORECASE)
"""Counting intent."""
ELAPSED: Final = re.compile(r"\bhow (?:many (?:days|weeks|months|years)|long ago)\b", re.IGNORECASE)
"""A question for a span of time, which is told in numbers and counted by the calendar."""

_TO_ASSISTANT: Final = re.compile(
    r"\byou (?:tell|told|say|said|recommend|recommended|suggest|suggested|mention|mentioned)\b",
    re.IGNORECASE,
)
_RELATIVE: Final = frozenset({"relative"})


@dataclass(frozen=True, slots=True)
class Scene:
    """A question and the statements that it may be answered from.

    Those are of the user about the user, and no plans, unless the question asks for what is left
    out thereby.
    """

    question: Question
    statements: tuple[Statement, ...]
    found: Found

    @property
    def near(self) -> tuple[Match, ...]:
        """The statements that bear on the question, in view order."""
        return self.found.near

    def answered(self, *force: str) -> Recollection:
        """The answer from these statements with some clauses in force."""
        return recollect(self.question, self.statements, frozenset(force))


def scene_of(task: TaskCard, view: MemoryView) -> Scene:
    """What a task and a view come to."""
    return _scene(task.query, task.material.get(QUESTION_DATE, ""), view.text)


@lru_cache(maxsize=64)
def _scene(query: str, day: str, text: str) -> Scene:
    question = Question(text=query, asked_on=date_of(day))
    asked = Statement(text=query, date=None, stamp="", role="user", stems=stems(query))
    kept = tuple(
        statement
        for statement in statements_of(text)
        # What is asked about a plan, another or the assistant is answered from what is said of or
        # by these.
        if (_TO_ASSISTANT.search(query) or statement.role != "assistant")
        and (is_plan(asked) or not is_plan(statement))
        and (is_of_another(asked) or not is_of_another(statement))
    )
    return Scene(question, kept, matches(question, kept))


def event_of(match: Match, question: Question) -> tuple[object, ...]:
    """What makes an event one: the names it bears beside the question's, and its day."""
    asked = stems(question.text)
    bears = tuple(name for name in names(match.statement.text) if not stems(name) <= asked)
    return (*bears, date_told(match.statement, _RELATIVE))


def in_place_of(answer: Answer, found: Recollection) -> Answer:
    """The reader's answer with another text, evidence and abstention."""
    return replace(
        answer,
        decision=ABSTAIN if found.abstains else "",
        text=found.answer,
        rationale=" ".join(found.evidence),
        confidence=None,
    )
