"""What is read of a chat completion."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from framework.operations.prompted import PromptSet
from framework.operations.propose_edit import ProposeEdit
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
