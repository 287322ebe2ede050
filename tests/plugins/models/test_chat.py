"""What is read of a chat completion."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.operations.answering import AnswerRequest
from framework.operations.prompted import PromptSet
from framework.operations.propose_edit import ProposeEdit
from framework.records import TaskCard
from framework.registry import find
from plugins.models._chat import response_of


def request(properties: Mapping[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    return {"logprobs": True, "response_format": {"json_schema": {"schema": schema}}}


def said(*tokens: tuple[str, float]) -> list[dict[str, Any]]:
    return [{"token": token, "logprob": math.log(p), "top_logprobs": []} for token, p in tokens]


def confidence(tokens: list[dict[str, Any]], request: Mapping[str, Any]) -> float | None:
    choice = {"message": {"content": ""}, "logprobs": {"content": tokens}}
    return response_of({"choices": [choice]}, request).confidence


STATED = {"confidence": {"enum": [0, 0.5, 1, None]}}
DECIDED = {"decision": {"enum": ["APPROVE", "DENY"], "type": "string"}}


def test_a_number_that_the_model_states_is_no_choice_whose_share_is_taken() -> None:
    tokens = said(('{"confidence": ', 0.9), ("0.5", 0.2), ("}", 0.01))
    assert confidence(tokens, request(STATED)) is None
    rival = {"token": '"DENY"', "logprob": math.log(0.1)}
    tokens = said(('{"confidence": ', 0.9), ("0.5", 0.2), (', "decision": ', 1), ('"APPROVE"', 0.3))
    tokens[-1]["top_logprobs"] = [rival]
    assert confidence(tokens, request({**STATED, **DECIDED})) == pytest.approx(0.75)


def test_an_edit_in_the_short_form_is_as_sure_as_it_says() -> None:
    operation = PromptSet("small").bind(ProposeEdit())
    assert isinstance(operation, ProposeEdit)
    form: Any = operation.files.schema
    tokens = said(('{"confidence": ', 0.9), ("0.5", 0.2), ("}", 0.01))
    assert "enum" in form["properties"]["confidence"]
    assert confidence(tokens, request(form["properties"])) is None


TEXT = {"type": "string", "maxLength": 90}
IN_TEXT = {"evidence": TEXT, "answer": TEXT}


def test_an_answer_in_free_text_is_as_sure_as_its_tokens_are_likely() -> None:
    begun = (('{"evidence": "', 0.1), ("It is", 0.2), ('", "answer":', 0.3), (' "', 0.4))
    end = ((', "later": ', 0.1), ("1}", 0.1))
    tokens = said(*begun, ("Old", 0.5), (" Mill", 0.25), ('"', 0.5), *end)
    assert confidence(tokens, request(IN_TEXT)) == pytest.approx((0.5 * 0.25 * 0.5) ** (1 / 3))
    tokens = said(*begun[:-1], (' "Old', 0.5), (' \\"Mill\\""', 0.125), *end)
    assert confidence(tokens, request(IN_TEXT)) == pytest.approx(0.25)
    tokens = said(*begun[:-1], (' ""', 0.125), *end)  # no answer is written
    assert confidence(tokens, request(IN_TEXT)) == pytest.approx(0.125)
    assert confidence(said(*begun[:-1]), request(IN_TEXT)) is None
    apart = said(*begun[:-1], ("  ", 0.1), ("\n", 0.1), ('"', 0.1), ("Old", 0.5), ('"', 0.5))
    assert confidence(apart, request(IN_TEXT)) == pytest.approx(0.5)
    thought = said(('I try {"answer": "', 0.1), ("x", 0.9), ('"}. ', 0.1))
    assert confidence(thought + apart, request(IN_TEXT)) == pytest.approx(0.5)
    for untold in (None, math.nan):
        apart[-1]["logprob"] = untold
        assert confidence(apart, request(IN_TEXT)) is None
    assert confidence(tokens, {**request(IN_TEXT), "logprobs": False}) is None
    assert confidence(tokens, request({"evidence": TEXT})) is None  # a part that is no answer
    assert confidence(said(*begun), request({**IN_TEXT, **DECIDED})) is None  # a choice goes first


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=40))
def test_the_likelihood_does_not_fall_with_the_length_of_a_text(shares: list[float]) -> None:
    words = [("word ", share) for share in shares]
    sure = confidence(said(('{"answer": ', 1), ('"', 1), *words, ('"', 1)), request(IN_TEXT))
    assert sure is not None
    assert min(shares) - 1e-6 <= sure <= 1


@pytest.mark.parametrize("name", ["answer_question", "answer_from_sessions", "write_sql"])
@pytest.mark.parametrize("prompts", ["", "small"])
def test_the_likelihood_of_free_text_is_measured_and_not_asked_for(name: str, prompts: str) -> None:
    operation: Any = PromptSet(prompts).bind(find("operation", name).cls())
    asked = AnswerRequest(task=TaskCard(instruction="i", query="q"), view="v")
    form = operation.schema(asked)["properties"]
    said_ = {key: {"string": "x", "array": [], "boolean": False}[form[key]["type"]] for key in form}
    response = operation.parse(json.dumps(said_), asked)
    assert "confidence" not in form
    assert json.loads(operation.render(replace(response, confidence=0.5))) == said_
    assert operation.answer_of(response, asked.task).confidence is None
    assert operation.answer_of(replace(response, confidence=0.5), asked.task).confidence == 0.5
    with pytest.raises(ValueError, match=r"unknown keys \['confidence'\]"):
        operation.parse(json.dumps({**said_, "confidence": 0.5}), asked)
    tokens = said(*((token, 0.5) for token in json.dumps(said_)))
    assert confidence(tokens, request(form)) == pytest.approx(0.5)
