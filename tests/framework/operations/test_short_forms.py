"""Whatever the forms for small models admit can be read: a model is held to them word by word."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.contracts import Operation
from framework.operations.answering import AnswerRequest
from framework.operations.check_completeness import CompletenessRequest
from framework.operations.prompted import PromptSet
from framework.records import TaskCard
from framework.registry import find

SMALL = PromptSet("small")
CARD = TaskCard(operation="answer_question", instruction="", query="")
LETTERS = st.characters(codec="utf-8", exclude_categories=["Cs", "Z", "C"])


def small(name: str) -> Operation[Any, Any]:
    return SMALL.bind(find("operation", name).cls())


def answers(schema: Any) -> st.SearchStrategy[Any]:
    """Answers in a form, as constrained decoding may give them."""
    match schema["type"]:
        case "object":
            return st.fixed_dictionaries({k: answers(v) for k, v in schema["properties"].items()})
        case "array":
            return st.lists(answers(schema["items"]), max_size=schema["maxItems"])
        case "string":
            return st.text(LETTERS, max_size=schema["maxLength"])
        case kind:
            assert kind == "boolean"
            return st.booleans()


@pytest.mark.parametrize(
    ("name", "request_"),
    [
        ("answer_question", AnswerRequest(task=CARD, view="")),
        ("answer_from_sessions", AnswerRequest(task=CARD, view="")),
        ("check_completeness", CompletenessRequest(task=CARD, view="", strictness="strict")),
    ],
)
@given(data=st.data())
@settings(max_examples=30)
def test_whatever_a_form_admits_is_read(name: str, request_: Any, data: st.DataObject) -> None:
    operation = small(name)
    operation.parse(json.dumps(data.draw(answers(operation.schema(request_)))), request_)
