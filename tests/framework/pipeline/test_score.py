"""Which answers are right is one verdict: every column that rests on it has the same."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest

from framework.contracts import Axis, Scored, Verdict
from framework.pipeline.score import Measured, score_axes, scored_together
from framework.records import Answer, AxisScore
from framework.registry import NoSettings, find, settings_of
from plugins.judges.rules import Rules
from plugins.protocols.intervene.views import INSERTED, REMOVED
from tests.plugins.axes.helpers import DENIAL, SmallDomain, scored

ASKED = replace(DENIAL, answer="Ada Lovelace")
SAYS_SO = Answer(decision="APPROVE", text="Ada Lovelace")
SAYS_ELSE = Answer(decision="DENY", text="Charles Babbage")


class Question(SmallDomain):
    """A judge says which answers are right; by its own rule the label does."""

    success_axis = "answer_correct"


class Asked(Rules):
    """Counts what it is asked."""

    def __init__(self) -> None:
        super().__init__(NoSettings())
        self.given: list[str] = []

    def equivalent(
        self, question: str, expected: str, given: str, kind: str, client: Any
    ) -> Verdict:
        self.given.append(given)
        return super().equivalent(question, expected, given, kind, client)


def axes(*names: str) -> list[Axis[Any]]:
    return [(plugin := find("axis", name)).cls(settings_of(plugin, {})) for name in names]


def measured(
    answer: Answer, names: Sequence[str], judge: Rules | None = None, **others: Answer
) -> Measured:
    case = replace(scored(answer, ASKED), domain=Question(), judge=judge or Asked())
    other = {name: replace(case, answer=given) for name, given in others.items()}
    return asyncio.run(score_axes(axes(*names), replace(case, others=other)))


@pytest.mark.parametrize("names", [("answer", "use"), ("use", "answer")])
@pytest.mark.parametrize(("answer", "right"), [(SAYS_SO, 1.0), (SAYS_ELSE, 0.0)])
def test_use_is_of_the_answers_that_the_judge_finds_right(
    names: tuple[str, str], answer: Answer, right: float
) -> None:
    found = measured(answer, names)
    assert found.outcome["success"] == found.values["answer_correct"] == right
    assert found.values["kappa"] == right


def test_where_no_judge_says_it_use_is_by_the_rule_of_the_domain() -> None:
    case = scored(SAYS_SO, ASKED)
    assert asyncio.run(score_axes(axes("answer", "use"), case)).values["kappa"] == 0.0
    without = replace(case, domain=Question(), judge=None)
    assert asyncio.run(score_axes(axes("answer", "use"), without)).values["kappa"] == 0.0


def test_answers_from_other_views_are_judged_too_and_their_verdicts_are_none_of_the_case() -> None:
    judge = Asked()
    others = {INSERTED: SAYS_SO, REMOVED: SAYS_ELSE}
    found = measured(SAYS_ELSE, ("answer", "intervention", "use"), judge, **others)
    assert found.values["kappa_inserted"] == 1.0
    assert found.values["leak_removed"] == 0.0
    assert found.values["kappa"] == 0.0
    assert judge.given == [SAYS_ELSE.text, SAYS_SO.text], "each once"
    assert [(v["axis"], v["met"]) for v in found.verdicts] == [("answer", False)]
    assert found.of_others.keys() == {INSERTED}, "the answer without the gold is the case's own"
    assert [(v["axis"], v["met"]) for v in found.of_others[INSERTED]] == [("answer", True)]


def test_axes_that_share_a_verdict_are_scored_again_together() -> None:
    known = [find("axis", name).cls for name in ("retention", "answer", "use", "eda")]

    def chosen(success_axis: str, *names: str) -> list[str]:
        return scored_together(known, names, success_axis)

    assert chosen("answer_correct", "answer") == ["answer", "use"]
    assert chosen("answer_correct", "use") == ["answer", "use"]
    assert chosen("answer_correct", "retention") == ["retention"]
    assert chosen("eda", "use") == ["use"], "no judge says it"
    assert chosen("", "answer") == ["answer"]
    assert chosen("answer_correct", "anser") == ["anser"], "told as unknown where it is looked up"


def test_what_nobody_answered_is_not_right() -> None:
    assert not scored(None).succeeded
    assert not replace(scored(Answer(decision="DENY")), success=0.0).succeeded
    assert replace(scored(Answer(decision="APPROVE")), success=1.0).succeeded


class Fills(Axis[NoSettings]):
    """Gives what it is told to give."""

    name = "fills"
    higher_is_better: ClassVar[Mapping[str, bool | None]] = {"a": True, "b": None}
    given: Any = AxisScore(values={"a": 1, "b": None})

    def score(self, scored: Scored) -> AxisScore:
        found: AxisScore = self.given
        return found


def test_an_axis_that_fills_its_columns_is_taken_as_it_is() -> None:
    axis = Fills(NoSettings())
    assert asyncio.run(score_axes([axis], scored(SAYS_SO, ASKED))).values == {"a": 1, "b": None}
    axis.given = AxisScore(values={"a": np.float64(0.5), "b": None})
    assert asyncio.run(score_axes([axis], scored(SAYS_SO, ASKED))).values == {"a": 0.5, "b": None}


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        ({"a": 1.0}, ValueError, "axis fills: columns filled and declared differ: b"),
        (
            {"a": 1.0, "b": None, "c": 0.5},
            ValueError,
            "axis fills: columns filled and declared differ: c",
        ),
        ({"a": "0.5", "b": None}, TypeError, "axis fills: a is '0.5': float or None expected"),
        ({"a": None, "b": True}, TypeError, "axis fills: b is True: float or None expected"),
        ({"a": float("nan"), "b": None}, ValueError, "axis fills: a is nan"),
        (None, TypeError, "axis fills: score gives dict, not AxisScore"),
    ],
)
def test_an_axis_that_does_not_is_an_error_naming_the_column(
    given: Mapping[str, Any] | None, kind: type[Exception], said: str
) -> None:
    axis = Fills(NoSettings())
    axis.given = {} if given is None else AxisScore(values=given)
    with pytest.raises(kind) as told:
        asyncio.run(score_axes([axis], scored(SAYS_SO, ASKED)))
    assert str(told.value) == said
