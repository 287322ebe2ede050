"""A witness passes on what a judge says and keeps it with the demand."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from framework.contracts import Verdict
from framework.errors import UserError
from framework.pipeline.recording_judge import RecordingJudge
from framework.records import Answer, ChecklistItem, ReasoningPoint, Standard
from framework.registry import NoSettings
from plugins.judges.rules import Rules

POINTS = [ReasoningPoint(id="p", text="It is low.", requires=(("low",),))]
STANDARD = Standard(
    name="s", question="q", items=(ChecklistItem(id="i", text="who", citation="", requires=()),)
)


def test_everything_said_is_kept_in_order() -> None:
    judge = Rules(NoSettings())
    witness = RecordingJudge(judge)
    nobody: Any = None

    async def ask() -> None:
        assert await witness.entail("So low.", POINTS, nobody) == judge.entail(
            "So low.", POINTS, nobody
        )
        assert await witness.audit(Answer(), STANDARD, nobody) == judge.audit(
            Answer(), STANDARD, nobody
        )
        assert (await witness.equivalent("Who?", "Ada", "Ada it is", "answer", nobody)).met

    asyncio.run(ask())
    assert [(v["question"], v["id"], v["demand"], v["met"]) for v in witness.verdicts] == [
        ("entail", "p", "It is low.", True),
        ("audit", "i", "who", True),
        ("equivalent", "answer", "Who? Expected: Ada", True),
    ]


def test_verdicts_on_something_else_are_told_by_what_they_are_on() -> None:
    class Odd(Rules):
        """Answers for a point that nobody asked about, and for none."""

        def entail(self, rationale: str, points: Any, client: Any) -> Any:
            return [Verdict(id="q", met=True)] if rationale else []

    witness = RecordingJudge(Odd(NoSettings()))
    for rationale, said in (("So low.", "q"), ("", "nothing")):
        with pytest.raises(ValueError, match=f"judge: verdicts on {said}, not on p"):
            asyncio.run(witness.entail(rationale, POINTS, None))  # type: ignore[arg-type]


def test_a_judge_without_equivalence_says_so() -> None:
    from framework.contracts import Judge

    nobody: Any = None
    with pytest.raises(UserError, match="does not judge answers to questions"):
        Judge.equivalent(Rules(NoSettings()), "q", "e", "g", "answer", nobody)
