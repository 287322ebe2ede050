from __future__ import annotations

import pytest

from framework.errors import UserError
from framework.operations.answer_question import AnswerQuestion
from framework.operations.answering import AnswerRequest, answering
from framework.operations.decide import Decide
from framework.records import TaskCard


def test_the_card_names_the_operation_that_answers_it() -> None:
    assert isinstance(answering(TaskCard(instruction="Decide.", query="q")), Decide)
    card = TaskCard(instruction="Answer.", query="Who?", operation="answer_question")
    assert isinstance(answering(card), AnswerQuestion)


def test_a_question_is_answered_from_the_view() -> None:
    card = TaskCard(
        instruction="In one word.", query="In what year did the mill close?", operation="x"
    )
    request = AnswerRequest(task=card, view="The mill closed in 1931.")
    prompt = AnswerQuestion().prompt(request).user
    assert f"{card.instruction}\n{card.query}" in prompt
    assert request.view in prompt


@pytest.mark.parametrize("name", ["decided", "summarize"])
def test_an_operation_that_answers_no_task_is_named(name: str) -> None:
    with pytest.raises(UserError, match=f"{name}.*decide"):
        answering(TaskCard(instruction="i", query="q", operation=name))
