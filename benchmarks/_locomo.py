"""A conversation of LoCoMo in the form that `domain=longmemeval` reads."""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any, Final

_TYPES: Final = {1: "multi-session", 2: "temporal-reasoning", 4: "single-session-user"}
"""LongMemEval's types for LoCoMo's categories of several hops, time and one hop. Open questions and
those without an answer are left out: the one needs other knowledge, the other no memory."""


def sample(path: Path, *, sessions: int | None, questions: int) -> str:
    """The first conversation's first sessions (None: all), and questions that they answer.

    As many of each type as there are, in the file's order, `questions` in all. The first speaker is
    the user, the other the assistant; each turn begins with its speaker's name.
    """
    whole = json.loads(path.read_text(encoding="utf-8"))[0]
    said = whole["conversation"]
    numbers = [n for n in range(1, 1000) if f"session_{n}" in said][:sessions]
    kept = {turn["dia_id"] for n in numbers for turn in said[f"session_{n}"]}
    chosen = list[dict[str, Any]]()
    for category in _TYPES:
        fitting = [
            one
            for one in whole["qa"]
            if one["category"] == category and one["evidence"] and kept.issuperset(one["evidence"])
        ]
        chosen += fitting[: questions // len(_TYPES)]
    records = [_record(number, one, said, numbers) for number, one in enumerate(chosen)]
    return json.dumps(records)


def _record(
    number: int, asked: dict[str, Any], said: dict[str, Any], numbers: list[int]
) -> dict[str, Any]:
    def turn(one: dict[str, Any]) -> dict[str, Any]:
        return {
            "role": "user" if one["speaker"] == said["speaker_a"] else "assistant",
            "content": f"{one['speaker']}: {one['text']}",
            "has_answer": one["dia_id"] in asked["evidence"],
        }

    days = {n: _day(said[f"session_{n}_date_time"]) for n in numbers}
    gold = {int(re.match(r"D(\d+)", name)[1]) for name in asked["evidence"]}  # type: ignore[index]
    return {
        "question_id": f"q{number:02d}",
        "question_type": _TYPES[asked["category"]],
        "question": asked["question"],
        "answer": str(asked["answer"]),
        "question_date": days[numbers[-1]],
        "answer_session_ids": [f"session_{n}" for n in sorted(gold)],
        "sessions": [
            {
                "session_id": f"session_{n}",
                "date": days[n],
                "turns": [turn(one) for one in said[f"session_{n}"]],
            }
            for n in numbers
        ],
    }


def _day(told: str) -> str:
    """`1:56 pm on 8 May, 2023` as `2023/05/08`."""
    return datetime.strptime(told.split(" on ")[1], "%d %B, %Y").strftime("%Y/%m/%d")
