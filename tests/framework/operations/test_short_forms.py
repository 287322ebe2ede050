"""Whatever the forms for small models admit can be read: such a model is held to them word by word.

A text that is there to be copied is an `enum` there, and what may stand with what is an `anyOf`.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.contracts import Operation
from framework.operations.answering import AnswerRequest
from framework.operations.check_completeness import CompletenessRequest
from framework.operations.consolidate import Consolidate, ConsolidateRequest
from framework.operations.prompted import PromptSet
from framework.operations.write_patch import WritePatch
from framework.records import TaskCard
from framework.registry import find

SMALL = PromptSet("small")
FILES = {"a.py": "x = 1\ny = 2\n\ny = 2\n", "b.py": "z = 1\nzz = 1\n", "blank.py": "\n\n"}
CARD = TaskCard(operation="write_patch", instruction="", query="", material=FILES)
TWO = ConsolidateRequest(document="d", memories=("one", "two"))
LETTERS = st.characters(codec="utf-8", exclude_categories=["Cs", "Z", "C"])


def small(name: str) -> Operation[Any, Any]:
    return SMALL.bind(find("operation", name).cls())


def answers(schema: Any) -> st.SearchStrategy[Any]:
    """Answers in a form, as constrained decoding may give them."""
    if "anyOf" in schema:
        return st.one_of([answers(form) for form in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema["type"]:
        case "object":
            return st.fixed_dictionaries({k: answers(v) for k, v in schema["properties"].items()})
        case "array":
            return st.lists(answers(schema["items"]), max_size=schema["maxItems"])
        case "string":
            least = schema.get("minLength", 0)
            return st.text(LETTERS, min_size=least, max_size=schema["maxLength"])
        case "integer":
            return st.integers(schema["minimum"], schema["maximum"])
        case kind:
            assert kind == "boolean"
            return st.booleans()


@pytest.mark.parametrize(
    ("name", "request_"),
    [
        ("answer_question", AnswerRequest(task=CARD, view="")),
        ("answer_from_sessions", AnswerRequest(task=CARD, view="")),
        ("check_completeness", CompletenessRequest(task=CARD, view="", strictness="strict")),
        ("consolidate", ConsolidateRequest(document="d")),
    ],
)
@given(data=st.data())
@settings(max_examples=30)
def test_whatever_a_form_admits_is_read(name: str, request_: Any, data: st.DataObject) -> None:
    operation = small(name)
    operation.parse(json.dumps(data.draw(answers(operation.schema(request_)))), request_)


@given(data=st.data())
def test_a_change_is_one_that_the_store_allows(data: st.DataObject) -> None:
    operation = small("consolidate")
    said = data.draw(answers(operation.schema(TWO)))
    touched = [c["number"] for c in said["changes"] if c["action"] in ("UPDATE", "DELETE")]
    if len(set(touched)) == len(touched):
        assert len(operation.parse(json.dumps(said), TWO).changes) <= len(said["changes"])


def test_the_same_change_twice_is_one_and_two_of_one_memory_are_refused() -> None:
    once = {"action": "UPDATE", "number": 1, "text": "new"}
    (change,) = Consolidate().parse(json.dumps({"changes": [once, once]}), TWO).changes
    assert (change.number, change.text) == (1, "new")
    other = {**once, "text": "newer"}
    with pytest.raises(ValueError, match="two changes of one memory"):
        Consolidate().parse(json.dumps({"changes": [once, other]}), TWO)


def test_without_memories_there_is_only_what_is_added() -> None:
    schema: Any = Consolidate().schema(ConsolidateRequest(document="d"))
    (form,) = schema["properties"]["changes"]["items"]["anyOf"]
    assert form["properties"]["action"]["enum"] == ["ADD"]


@given(data=st.data())
def test_an_edit_is_of_a_line_that_is_there_once(data: st.DataObject) -> None:
    request = AnswerRequest(task=CARD, view="")
    operation = small("write_patch")
    schema: Any = operation.schema(request)
    items = schema["properties"]["edits"]["items"]
    lines = [form["properties"]["search"]["enum"] for form in items["anyOf"]]
    assert lines == [["x = 1"], ["zz = 1"]]  # "z = 1" stands in it, and so is there twice
    (edit,) = data.draw(st.tuples(answers(items)))
    (hunk,) = operation.parse(json.dumps({"edits": [edit, edit], "note": ""}), request).edits
    assert hunk.search in FILES[hunk.file].splitlines()


def test_the_whole_form_of_a_patch_takes_a_stretch_of_lines() -> None:
    request = AnswerRequest(task=CARD, view="")
    schema: Any = WritePatch().schema(request)
    assert "enum" not in schema["properties"]["edits"]["items"]["properties"]["search"]
    edit = {"file": "a.py", "search": "x = 1\ny = 2\n\n", "replace": ""}
    assert len(WritePatch().parse(json.dumps({"edits": [edit], "note": ""}), request).edits) == 1
