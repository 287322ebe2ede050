"""The data of LongMemEval (Wu et al., ICLR 2025): questions, each over dated sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

TYPES: Final = (
    "single-session-user",
    "single-session-assistant",
    "single-session-preference",
    "multi-session",
    "knowledge-update",
    "temporal-reasoning",
)
"""The question types of the benchmark."""

ABSTENTION: Final = "_abs"
"""What the id of a question ends with that the sessions do not answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What one side said. `has_answer`: the answer rests on it."""

    role: str
    content: str
    has_answer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation of one date, as `2023/05/29 (Mon) 01:53`. `is_gold`: the answer needs it."""

    id: str
    date: str
    turns: tuple[Turn, ...]
    is_gold: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One record. `structure` and `form` are known of drawn questions alone, empty otherwise.

    structure : what the question really needs (a count, the latest value, ...), which its type does
        not tell. form : `development` or `held_out` wording.
    unanswerable : the sessions do not tell, whatever the id ends with.
    """

    id: str
    type: str
    text: str
    answer: str
    date: str
    sessions: tuple[Session, ...]
    structure: str = ""
    form: str = ""
    unanswerable: bool = False

    @property
    def abstains(self) -> bool:
        """Whether the right answer is that the sessions do not tell."""
        return self.unanswerable or self.id.endswith(ABSTENTION)


def published(question: Question) -> dict[str, Any]:
    """The record in the published schema (`longmemeval_s_cleaned.json`)."""
    return {
        "question_id": question.id,
        "question_type": question.type,
        "question": question.text,
        "answer": question.answer,
        "question_date": question.date,
        "haystack_dates": [session.date for session in question.sessions],
        "haystack_session_ids": [session.id for session in question.sessions],
        "haystack_sessions": [
            [
                {"role": turn.role, "content": turn.content, "has_answer": turn.has_answer}
                for turn in session.turns
            ]
            for session in question.sessions
        ],
        "answer_session_ids": [session.id for session in question.sessions if session.is_gold],
    }
