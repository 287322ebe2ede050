"""Whatever the forms for small models admit can be read: such a model is held to them word by word.

A text that is there to be copied is an `enum` there, and what may stand with what is an `anyOf`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.contracts import Operation
from framework.operations.answering import AnswerRequest
from framework.operations.check_completeness import CompletenessRequest
from framework.operations.consolidate import Consolidate, ConsolidateRequest
from framework.operations.prompted import PromptSet
from framework.operations.synthesize_schema import (
    SynthesizeSchemaRequest,
    SynthesizeSchemaResponse,
)
from framework.operations.take_note import Note, TakeNoteRequest
from framework.operations.write_patch import WritePatch
from framework.records import Answer, FactField, TaskCard
from framework.registry import find
from framework.text.hunks import Hunk, apply, as_edit, hunks_of, named_blocks
from plugins.domains.codebase.domain import Codebase, CodebaseSettings

SMALL = PromptSet("small")
FILES = {"a.py": "import x\n\n\ndef f():\n    return 1\n", "b.py": "z = 1\n"}
CARD = TaskCard(operation="write_patch", instruction="", query="", material=FILES)
DECIDED = TaskCard(
    operation="decide",
    instruction="",
    query="",
    decisions=("A",),
    fields=(FactField(key="income", label="income", type="money"),),
)
STORE = SynthesizeSchemaRequest(
    store=SynthesizeSchemaResponse(), chunks=("c",), fields=DECIDED.fields, limit_tokens=300
)
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
        case [kind, "null"]:
            return st.none() | answers({**schema, "type": kind})
        case "number":
            return st.floats(schema["minimum"], schema["maximum"])
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
        ("consolidate", TWO),
        ("decide", AnswerRequest(task=DECIDED, view="")),
        ("synthesize_schema", STORE),
        ("take_note", TakeNoteRequest(document="d")),
        ("take_note", TakeNoteRequest(document="d", notes=(Note(text="n", context="c"),) * 2)),
        ("write_patch", AnswerRequest(task=CARD, view="")),
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
    changes = operation.parse(json.dumps(said), TWO).changes
    touched = [c.number for c in changes if c.action in ("UPDATE", "DELETE")]
    assert len(set(touched)) == len(touched)
    assert {c["number"] for c in said["changes"]} == {c.number for c in changes}


def test_the_last_change_of_a_memory_holds() -> None:
    once = {"action": "UPDATE", "number": 1, "text": "new"}
    added = {"action": "ADD", "number": 0, "text": "more"}
    gone = {"action": "DELETE", "number": 1, "text": ""}
    for said, expected in (
        ([once, once], [once]),
        ([once, added, {**once, "text": "newer"}], [added, {**once, "text": "newer"}]),
        ([once, added, gone], [added, gone]),
        ([gone, once, {**once, "number": 2}], [once, {**once, "number": 2}]),
    ):
        found = Consolidate().parse(json.dumps({"changes": said}), TWO).changes
        assert [asdict(change) for change in found] == expected


def test_without_memories_there_is_only_what_is_added() -> None:
    schema: Any = Consolidate().schema(ConsolidateRequest(document="d"))
    (form,) = schema["properties"]["changes"]["items"]["anyOf"]
    assert form["properties"]["action"]["enum"] == ["ADD"]


def test_the_short_form_of_a_patch_replaces_a_block() -> None:
    request = AnswerRequest(task=CARD, view="")
    operation = small("write_patch")
    assert names_of(operation.schema(request)) == {
        "a.py": ["import x", "def f():"],
        "b.py": ["z = 1"],
    }
    edit = {"file": "a.py", "search": "def f():", "replace": "def g(): ..."}
    response = operation.parse(json.dumps({"edits": [edit], "note": ""}), request)
    assert apply(response.edits, FILES)["a.py"] == "import x\n\n\ndef g(): ...\n"
    edit["search"] = "    return 1"
    with pytest.raises(ValueError, match="no block of"):
        operation.parse(json.dumps({"edits": [edit], "note": ""}), request)


def test_a_file_without_a_block_of_its_own_is_not_named() -> None:
    files = {"a.py": "x = 1\n", "empty.py": "", "twice.py": "y\n\ny\n"}
    schema = small("write_patch").schema(AnswerRequest(task=replace(CARD, material=files), view=""))
    assert names_of(schema) == {"a.py": ["x = 1"]}


def test_the_whole_form_of_a_patch_takes_a_stretch_of_lines() -> None:
    request = AnswerRequest(task=CARD, view="")
    schema: Any = WritePatch().schema(request)
    assert "enum" not in schema["properties"]["edits"]["items"]["properties"]["search"]
    edit = {"file": "a.py", "search": "import x\n\n\n", "replace": ""}
    assert len(WritePatch().parse(json.dumps({"edits": [edit], "note": ""}), request).edits) == 1


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["stripped", "full"])
def test_a_right_patch_fits_the_short_form(spec: Literal["stripped", "full"]) -> None:
    """What a patch by hand imports is imported in the function here, for it may be one edit."""
    domain = Codebase(CodebaseSettings(spec=spec))
    operation = small("write_patch")
    edits: Any = operation.files.schema["properties"]["edits"]
    longest = edits["items"]["properties"]["replace"]["maxLength"]
    for case in domain.cases(None, 0):
        reference = domain.reference(case)
        assert reference is not None
        edit = in_one_block(hunks_of(reference.edit), case.task.material)
        request = AnswerRequest(task=case.task, view="")
        assert edit["search"] in names_of(operation.schema(request))[edit["file"]]
        assert len(edit["replace"]) <= longest
        response = operation.parse(json.dumps({"edits": [edit], "note": ""}), request)
        assert domain.checks(Answer(edit=as_edit(response.edits)), case)["merge_ready"]


def in_one_block(hunks: Sequence[Hunk], files: Mapping[str, str]) -> dict[str, str]:
    """What a patch makes of its function, with what it imports there."""
    path = hunks[0].file
    after = apply(hunks, files)[path]
    new = [line for line in after.split("\n") if line not in files[path].split("\n")]
    imports = [f"    {line}" for line in new if line.startswith(("import ", "from "))]
    ((name, _),) = _changed(named_blocks(files[path]), named_blocks(after))
    ((_, text),) = _changed(named_blocks(after), named_blocks(files[path]))
    lines = text.split("\n")
    body = next((i for i, line in enumerate(lines, 1) if line.endswith(":")), 0)
    whole = "\n".join([*lines[:body], *imports, *lines[body:]])
    return {"file": path, "search": name, "replace": whole}


def _changed(these: Mapping[str, str], those: Mapping[str, str]) -> list[tuple[str, str]]:
    """The blocks that are in one file and not the other, but those of imports."""
    return [
        (name, block)
        for name, block in these.items()
        if block not in those.values() and not block.startswith(("import ", "from "))
    ]


def names_of(schema: Any) -> dict[str, list[str]]:
    """By file, the blocks that the form of a patch can name."""
    forms = [form["properties"] for form in schema["properties"]["edits"]["items"]["anyOf"]]
    return {form["file"]["enum"][0]: form["search"]["enum"] for form in forms}
