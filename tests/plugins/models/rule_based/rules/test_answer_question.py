"""The lexical answer to a question."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.contracts import Profile, answer_by_rule
from framework.operations.answer_question import (
    AnswerQuestion,
    AnswerQuestionResponse,
)
from framework.operations.answering import AnswerRequest
from framework.records import TaskCard

ANSWER = AnswerQuestion()
VIEW = """\
The Silver Kettle is a novel by Ada Marsh, set in Lisbon.
Ada Marsh was born on March 3, 1901 and wrote 14 novels.
The kettle company moved its office twice."""


def answer(question: str, view: str = VIEW, profile: Profile | None = None) -> tuple[str, str]:
    request = AnswerRequest(task=TaskCard(instruction="", query=question), view=view)
    response = answer_by_rule(ANSWER, request, profile or Profile())
    return response.answer, response.evidence


@pytest.mark.parametrize(
    ("question", "expected", "line"),
    [
        ("Who wrote the novel The Silver Kettle?", "Ada Marsh", 0),
        ("When was Ada Marsh born?", "March 3, 1901", 1),
        ("How many novels did Ada Marsh write?", "14", 1),
        ("How often did the company move its office?", VIEW.splitlines()[2], 2),
    ],
)
def test_answers_with_the_kind_of_span_that_is_asked_for(
    question: str, expected: str, line: int
) -> None:
    assert answer(question) == (expected, VIEW.splitlines()[line])


def test_no_word_in_common_is_no_answer() -> None:
    assert answer("Who painted Guernica?") == ("", "")
    assert answer("Who?", "") == ("", "")


def test_a_missed_sentence_answers_nothing() -> None:
    deaf = Profile(style="noisy", miss_rate=1.0)
    assert answer("When was Ada Marsh born?", profile=deaf) == ("", "")


@pytest.mark.slow
@given(st.text(max_size=80), st.text(max_size=200))
def test_the_evidence_is_verbatim(question: str, view: str) -> None:
    found, evidence = answer(question, view)
    assert evidence in view
    assert found in evidence
    assert answer(question, view) == (found, evidence)


def test_round_trip_and_refusal() -> None:
    request = AnswerRequest(task=TaskCard(instruction="", query="q"), view="v")
    response = AnswerQuestionResponse(answer='a "b"', evidence="e")
    assert ANSWER.parse(ANSWER.render(response), request) == response
    for broken in ({}, {"answer": "a"}, {"answer": 1, "evidence": "e"}):
        with pytest.raises(ValueError, match=r"."):
            ANSWER.parse(json.dumps(broken), request)


def test_the_prompt_holds_question_and_view() -> None:
    prompt = ANSWER.prompt(
        AnswerRequest(task=TaskCard(instruction="", query="Who is it?"), view="It is Ada.")
    )
    assert "Who is it?" in prompt.user
    assert "It is Ada." in prompt.user
