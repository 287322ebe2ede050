"""Questions from a file: the published schema, or the neighbouring one with `sessions`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from framework.text.sessions import date_of
from plugins.domains.data_file import (
    BadRecordError,
    kind_of,
    list_in,
    listed,
    read_questions,
    text_in,
)
from plugins.domains.longmemeval.records import TYPES, Question, Session, Turn

WHERE_TO_GET_IT: Final = (
    "download longmemeval_s_cleaned.json from "
    "https://huggingface.co/datasets/xiaowu0162/longmemeval-cleaned and set domain.path=FILE"
)


FILES: Final[Mapping[str, str]] = {
    "longmemeval_s_cleaned.json": "sha256:"
    "d6f21ea9d60a0d56f34a05b609c79c88a451d2ae03597821ea3d5a9678c3a442",
    "longmemeval_m_cleaned.json": "sha256:"
    "9d79e5524794a2e6900a3aa9cb7d9152c5a3e8319c9a87c25494ba1eacee495f",
    "longmemeval_oracle.json": "sha256:"
    "821a2034d219ab45846873dd14c14f12cfe7776e73527a483f9dac095d38620c",
    "snapshot.json of BriefBench, 12 questions": "sha256:"
    "333268364f4eb3d2b8a61e69fb9cc2c8315cbf10d870568c0749dc0005838788",
}
"""Digests of the published files."""


def parse(path: str, data: bytes) -> tuple[tuple[Question, ...], Mapping[str, Any] | None]:
    """The questions of a file, in its order, and what it says of itself, None where it does not.

    Raises DataError naming file and record: no JSON, no list of questions, a key that is missing or
    of another type, a date without a date in it, a gold session that is not there, one id twice.
    """
    records, stated = listed(path, data, lines=False)
    return tuple(read_questions(path, records, "question_id", question_in).values()), stated


def question_in(record: object) -> Question:
    """One record. Raises BadRecordError."""
    if not isinstance(record, dict):
        raise BadRecordError(f"an object expected, {kind_of(record)} found")
    type_ = text_in(record, "question_type")
    if type_ not in TYPES:
        raise BadRecordError(f"question_type: {type_[:80]!r} is none of {', '.join(TYPES)}")
    answer = record.get("answer")
    gold = list_in(record, "answer_session_ids") if "answer_session_ids" in record else []
    question = Question(
        id=text_in(record, "question_id"),
        type=type_,
        text=text_in(record, "question"),
        # Some answers of the published file are numbers.
        answer=str(answer) if type(answer) in (int, float) else text_in(record, "answer"),
        date=_dated(text_in(record, "question_date"), "question_date"),
        sessions=_sessions(record, frozenset(map(str, gold))),
    )
    missing = sorted(set(map(str, gold)) - {session.id for session in question.sessions})
    if missing:
        raise BadRecordError(f"answer_session_ids: {missing[0][:80]!r} is not among the sessions")
    return question


def _sessions(record: Mapping[str, Any], gold: frozenset[str]) -> tuple[Session, ...]:
    parts: list[tuple[Any, Any, Any]] = []
    if "sessions" in record:
        for number, entry in enumerate(list_in(record, "sessions"), start=1):
            if not isinstance(entry, dict):
                raise BadRecordError(f"sessions: {number}: an object expected")
            parts.append(
                (text_in(entry, "session_id"), text_in(entry, "date"), list_in(entry, "turns"))
            )
    else:
        ids = list_in(record, "haystack_session_ids")
        dates = list_in(record, "haystack_dates")
        turns = list_in(record, "haystack_sessions")
        if not len(ids) == len(dates) == len(turns):
            raise BadRecordError(
                f"haystack_session_ids, haystack_dates, haystack_sessions: {len(ids)}, "
                f"{len(dates)}, {len(turns)} entries, as many of each expected"
            )
        parts = list(zip(ids, dates, turns, strict=True))
    sessions = []
    for id_, date, turns in parts:
        if not isinstance(id_, str) or not isinstance(date, str) or not isinstance(turns, list):
            raise BadRecordError("haystack: a session id, a date and a list of turns expected")
        sessions.append(
            Session(
                id=id_,
                date=_dated(date, f"session {id_[:80]!r}"),
                turns=_turns(turns, id_),
                is_gold=id_ in gold,
            )
        )
    return tuple(sessions)


def _turns(turns: Sequence[Any], session: str) -> tuple[Turn, ...]:
    found = []
    for number, turn in enumerate(turns, start=1):
        where = f"session {session[:80]!r}, turn {number}"
        if not isinstance(turn, dict):
            raise BadRecordError(f"{where}: an object expected, {kind_of(turn)} found")
        role, content, marked = turn.get("role"), turn.get("content"), turn.get("has_answer")
        if role not in ("user", "assistant"):
            raise BadRecordError(
                f"{where}: role: user or assistant expected, {repr(role)[:80]} found"
            )
        if not isinstance(content, str):
            raise BadRecordError(f"{where}: content: text expected, {kind_of(content)} found")
        if not isinstance(marked, (bool, type(None))):
            raise BadRecordError(f"{where}: has_answer: true, false or nothing expected")
        found.append(Turn(role=role, content=content, has_answer=bool(marked)))
    return tuple(found)


def _dated(text: str, where: str) -> str:
    if date_of(text) is None:
        raise BadRecordError(f"{where}: {text[:80]!r} has no date such as 2023/05/29")
    return text
