"""Questions from a file: the published schema, or the neighbouring one with `sessions`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from framework.errors import DataError
from framework.text.sessions import date_of
from plugins.domains.longmemeval.records import TYPES, Question, Session, Turn

WHERE_TO_GET_IT: Final = (
    "download longmemeval_s_cleaned.json from "
    "https://huggingface.co/datasets/xiaowu0162/longmemeval-cleaned and set domain.path=FILE"
)


def parse(path: str, data: bytes) -> tuple[Question, ...]:
    """The questions of a file, in its order.

    Raises DataError naming file and record: no JSON, no list of questions, a key that is missing or
    of another type, a date without a date in it, a gold session that is not there, one id twice.
    """
    try:
        records = json.loads(data)
    except json.JSONDecodeError as error:
        raise DataError(path, error.lineno, f"not JSON: {error.msg}") from None
    except UnicodeDecodeError:
        raise DataError(path, None, "not JSON: not UTF-8 text") from None
    except RecursionError:
        raise DataError(path, None, "not the published JSON: nested too deeply") from None
    if isinstance(records, dict):
        records = records.get("questions")
    if not isinstance(records, list) or not records:
        raise DataError(path, None, "a list of questions expected, or an object with `questions`")
    found: dict[str, Question] = {}
    for number, record in enumerate(records, start=1):
        named = record.get("question_id") if isinstance(record, dict) else None
        try:
            question = _question(record)
            if question.id in found:
                raise _BadRecordError("a second question with this question_id")
        except _BadRecordError as error:
            where = f"question {number}" + (f" (question_id {named!r})" if named else "")
            raise DataError(path, None, f"{where}: {error}") from None
        found[question.id] = question
    return tuple(found.values())


class _BadRecordError(Exception):
    """What is wrong with one record."""


def _question(record: Any) -> Question:
    if not isinstance(record, dict):
        raise _BadRecordError(f"an object expected, {_kind(record)} found")
    type_ = _text(record, "question_type")
    if type_ not in TYPES:
        raise _BadRecordError(f"question_type: {type_!r} is none of {', '.join(TYPES)}")
    answer = record.get("answer")
    gold = _list(record, "answer_session_ids") if "answer_session_ids" in record else []
    question = Question(
        id=_text(record, "question_id"),
        type=type_,
        text=_text(record, "question"),
        # Some answers of the published file are numbers.
        answer=str(answer) if type(answer) in (int, float) else _text(record, "answer"),
        date=_dated(_text(record, "question_date"), "question_date"),
        sessions=_sessions(record, frozenset(map(str, gold))),
    )
    missing = sorted(set(map(str, gold)) - {session.id for session in question.sessions})
    if missing:
        raise _BadRecordError(f"answer_session_ids: {missing[0]!r} is not among the sessions")
    return question


def _sessions(record: Mapping[str, Any], gold: frozenset[str]) -> tuple[Session, ...]:
    parts: list[tuple[Any, Any, Any]] = []
    if "sessions" in record:
        for number, entry in enumerate(_list(record, "sessions"), start=1):
            if not isinstance(entry, dict):
                raise _BadRecordError(f"sessions: {number}: an object expected")
            parts.append((_text(entry, "session_id"), _text(entry, "date"), _list(entry, "turns")))
    else:
        ids = _list(record, "haystack_session_ids")
        dates = _list(record, "haystack_dates")
        turns = _list(record, "haystack_sessions")
        if not len(ids) == len(dates) == len(turns):
            raise _BadRecordError(
                f"haystack_session_ids, haystack_dates, haystack_sessions: {len(ids)}, "
                f"{len(dates)}, {len(turns)} entries, as many of each expected"
            )
        parts = list(zip(ids, dates, turns, strict=True))
    sessions = []
    for id_, date, turns in parts:
        if not isinstance(id_, str) or not isinstance(date, str) or not isinstance(turns, list):
            raise _BadRecordError("haystack: a session id, a date and a list of turns expected")
        sessions.append(
            Session(
                id=id_,
                date=_dated(date, f"session {id_!r}"),
                turns=_turns(turns, id_),
                is_gold=id_ in gold,
            )
        )
    return tuple(sessions)


def _turns(turns: Sequence[Any], session: str) -> tuple[Turn, ...]:
    found = []
    for number, turn in enumerate(turns, start=1):
        where = f"session {session!r}, turn {number}"
        if not isinstance(turn, dict):
            raise _BadRecordError(f"{where}: an object expected, {_kind(turn)} found")
        role, content, marked = turn.get("role"), turn.get("content"), turn.get("has_answer")
        if role not in ("user", "assistant"):
            raise _BadRecordError(f"{where}: role: user or assistant expected, {role!r} found")
        if not isinstance(content, str):
            raise _BadRecordError(f"{where}: content: text expected, {_kind(content)} found")
        if not isinstance(marked, (bool, type(None))):
            raise _BadRecordError(f"{where}: has_answer: true, false or nothing expected")
        found.append(Turn(role=role, content=content, has_answer=bool(marked)))
    return tuple(found)


def _dated(text: str, where: str) -> str:
    if date_of(text) is None:
        raise _BadRecordError(f"{where}: {text!r} has no date such as 2023/05/29")
    return text


def _list(record: Mapping[str, Any], key: str) -> list[Any]:
    value = record.get(key)
    if not isinstance(value, list):
        raise _BadRecordError(f"{key}: a list expected, {_kind(value)} found")
    return value


def _text(record: Mapping[str, Any], key: str) -> str:
    value = record.get(key)
    if not isinstance(value, str) or not value.strip():
        raise _BadRecordError(f"{key}: text expected, {_kind(value)} found")
    return value


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "no text", type(None): "nothing"}
    return names.get(type(value), f"{value!r}")
