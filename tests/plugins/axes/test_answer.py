"""Answers to questions: as judged, by their words, and abstentions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from framework.records import ABSTAIN, Answer, AxisScore, Gold
from framework.registry import NoSettings
from plugins.judges.rules import Rules
from tests.plugins.axes.helpers import score, scored

EXPECTED = Gold(answer="the Harbour Museum", answer_kind="single-session-user")
NOWHERE = Gold(answer="It is not mentioned.", answer_kind="abstention", decision=ABSTAIN)


def given(answer: Answer, gold: Gold = EXPECTED, *, judged: bool = True) -> AxisScore:
    of = scored(answer)
    judge = Rules(NoSettings()) if judged else None
    return score("answer", replace(of, case=replace(of.case, gold=gold), judge=judge))


@pytest.mark.parametrize(
    ("text", "correct", "f1", "precision", "exact"),
    [
        ("Harbour Museum", 1.0, 1.0, 1.0, 1.0),
        ("It was the harbour museum.", 1.0, 2 * 2 / (4 + 2), 0.5, 0.0),
        ("Harbour Museum; City Museum", 0.0, 2 * 2 / (4 + 2), 0.5, 0.0),
        ("City Museum", 0.0, 0.5, 0.5, 0.0),
        ("", 0.0, 0.0, None, 0.0),
    ],
)
def test_an_answer(
    text: str, correct: float, f1: float, precision: float | None, exact: float
) -> None:
    assert given(Answer(text=text)).values == {
        "answer_correct": correct,
        "abstained_right": 1.0,
        "answer_f1": pytest.approx(f1),
        "answer_precision": precision,
        "answer_exact": exact,
    }


@pytest.mark.parametrize(
    ("text", "correct", "f1", "precision", "exact"),
    [
        ("Harbour Museum", 1.0, 1.0, 1.0, 1.0),
        ("the Old Customs House", 1.0, 1.0, 1.0, 1.0),
        ("It was the Old Customs House.", 1.0, 2 * 3 / (5 + 3), 3 / 5, 0.0),
        ("Customs Museum", 0.0, 0.5, 0.5, 0.0),
        ("Town Hall", 0.0, 0.0, 0.0, 0.0),
    ],
)
def test_an_alias_is_as_right_as_the_answer(
    text: str, correct: float, f1: float, precision: float, exact: float
) -> None:
    two = replace(EXPECTED, aliases=("Old Customs House",))
    found = given(Answer(text=text), two)
    assert found.values == {
        "answer_correct": correct,
        "abstained_right": 1.0,
        "answer_f1": pytest.approx(f1),
        "answer_precision": pytest.approx(precision),
        "answer_exact": exact,
    }
    assert found.evidence[0] == "expected: the Harbour Museum | Old Customs House"


def test_to_abstain_from_a_question_with_an_answer_is_wrong_whatever_is_said() -> None:
    found = given(Answer(text="Harbour Museum", decision=ABSTAIN)).values
    assert found["answer_correct"] == 0.0
    assert found["abstained_right"] == 0.0


def test_where_there_is_no_answer_the_words_say_so_and_the_decision_abstains() -> None:
    right = given(Answer(text="The information is not available.", decision=ABSTAIN), NOWHERE)
    assert right.values["answer_correct"] == right.values["abstained_right"] == 1.0
    assert right.values["answer_f1"] is None
    wrong = given(Answer(text="Harbour Museum"), NOWHERE)
    assert wrong.values["answer_correct"] == wrong.values["abstained_right"] == 0.0


def test_without_a_judge_correctness_is_undefined_and_the_rest_is_not() -> None:
    found = given(Answer(text="Harbour Museum"), judged=False).values
    assert found["answer_correct"] is None
    assert found["answer_exact"] == 1.0


def test_a_case_that_expects_no_answer_has_no_value() -> None:
    assert set(given(Answer(text="x"), Gold()).values.values()) == {None}
