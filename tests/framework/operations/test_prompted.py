"""Prompts are files: every slot is filled, a set replaces them, a mistake names its file."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from framework.contracts import Assignment, Operation, answer_by_rule
from framework.errors import UserError
from framework.operations.answer_question import AnswerQuestion
from framework.operations.answering import AnswerRequest
from framework.operations.author_candidate import AuthorCandidate
from framework.operations.consolidate import Consolidate, ConsolidateRequest
from framework.operations.decide import Decide
from framework.operations.entail import Entail
from framework.operations.equivalent import Equivalent, EquivalentRequest
from framework.operations.extract_edges import Candidate, ExtractEdges, ExtractEdgesRequest
from framework.operations.project import Project, ProjectRequest
from framework.operations.prompted import NO_SET, SETS, SHIPPED, PromptedOperation, PromptSet, load
from framework.operations.summarize import Summarize, SummarizeRequest
from framework.operations.synthesize_schema import (
    SynthesizeSchema,
    SynthesizeSchemaRequest,
    SynthesizeSchemaResponse,
)
from framework.operations.take_note import Note, TakeNote, TakeNoteRequest
from framework.operations.write_patch import WritePatch
from framework.records import TaskCard
from framework.registry import plugins
from tests.plugins.models.rule_based.cards import LOAN

ASK = AnswerRequest(
    task=TaskCard(instruction="", query="Who wrote {it}?"), view="Ada {wrote} it. {record}"
)
OURS = [p.cls for p in plugins("operation") if p.cls.__module__.startswith("framework.")]


@pytest.mark.parametrize("cls", OURS, ids=lambda cls: cls.name)
def test_every_shipped_operation_has_its_files(cls: type[PromptedOperation[Any, Any]]) -> None:
    files = cls().files
    assert files.system.endswith("Answer with one JSON object and nothing else.")
    assert files.schema is not None
    for name in files.schema["properties"]:
        assert f'"{name}"' in files.user, "the prompt names every key of the answer"


def test_every_folder_is_an_operations() -> None:
    folders = {path.name for path in SHIPPED.iterdir()} - {SETS.name}
    assert folders == {cls.name for cls in OURS}


@pytest.mark.parametrize("name", sorted(path.name for path in SETS.iterdir()))
def test_every_shipped_set_loads_and_changes_something(name: str) -> None:
    default, changed = NO_SET.digests(["framework"]), PromptSet(name).digests(["framework"])
    differ = {op for op in default if default[op] != changed[op]}
    assert differ == {path.name for path in (SETS / name).iterdir()}


def strict(schema: Any) -> None:
    """Every object lists all its keys as required and allows no other."""
    if isinstance(schema, list):
        for part in schema:
            strict(part)
    elif isinstance(schema, dict):
        if schema.get("type") == "object":
            assert schema["additionalProperties"] is False
            assert sorted(schema["required"]) == sorted(schema["properties"])
        for part in schema.values():
            strict(part)


HANG_ON_THE_REQUEST = (
    "author_candidate",
    "consolidate",
    "decide",
    "extract_edges",
    "project",
    "propose_edit",
    "summarize",
    "synthesize_schema",
    "take_note",
    "write_patch",
)


@pytest.mark.parametrize(
    "cls",
    [c for c in OURS if c.name not in HANG_ON_THE_REQUEST],
    ids=lambda c: c.name,
)
def test_schemas_are_strict(cls: type[PromptedOperation[Any, Any]]) -> None:
    strict(cls().schema(None))


def test_schemas_that_hang_on_the_request_are_strict() -> None:
    decide: Any = Decide().schema(AnswerRequest(task=LOAN, view="v"))
    strict(decide)
    assert decide["properties"]["decision"]["enum"] == [
        "APPROVE",
        "DENY",
        "ABSTAIN",
        "UNDETERMINED",
    ]
    assert list(decide["properties"]["facts"]["properties"]) == [f.key for f in LOAN.fields]
    for n in (0, 3):
        candidates = tuple(Candidate(name=f"c{i}", text="t") for i in range(n))
        links: Any = ExtractEdges().schema(ExtractEdgesRequest(document="d", candidates=candidates))
        strict(links)
        number = links["properties"]["links"]["items"]["properties"]["number"]
        assert (number["minimum"], number["maximum"]) == (1, max(n, 1))
        assert links["properties"]["links"]["maxItems"] == (32 if n else 0)
    for n in (0, 3):
        notes = (Note(text="n", context="c"),) * n
        note: Any = TakeNote().schema(TakeNoteRequest(document="d", notes=notes))
        strict(note)
        tied, revised = (note["properties"][name] for name in ("links", "revised"))
        for number in (tied["items"], revised["items"]["properties"]["number"]):
            assert (number["minimum"], number["maximum"]) == (1, max(n, 1))
        assert tied["maxItems"] == revised["maxItems"] == n
    for memories in ((), ("one",)):
        strict(Consolidate().schema(ConsolidateRequest(document="d", memories=memories)))
    files = replace(LOAN, material={"a.py": "x = 1\n"})
    strict(WritePatch().schema(AnswerRequest(task=files, view="v")))
    strict(PromptSet("small").bind(WritePatch()).schema(AnswerRequest(task=files, view="v")))
    request = SynthesizeSchemaRequest(
        store=SynthesizeSchemaResponse(), chunks=("c",), fields=LOAN.fields, limit_tokens=9
    )
    store: Any = SynthesizeSchema().schema(request)
    strict(store)
    assert list(store["properties"]["facts"]["properties"]) == [f.label for f in LOAN.fields]
    for limit in (335, 3350):
        view: Any = Project().schema(ProjectRequest(task=LOAN, events=(), limit_tokens=limit))
        summary: Any = Summarize().schema(
            SummarizeRequest(summary="", chunks=(), limit_tokens=limit)
        )
        strict([view, summary])
        longest = view["properties"]["view"]["maxLength"]
        assert longest == summary["properties"]["summary"]["maxLength"] > 5 * limit
    for code in (False, True):
        asked = Assignment(
            regime="", meaning="", seams=("score",), failures=(), fragments={}, signals=(),
            tried=(), library=(), attempt=0, seed=0, code=code,
        )  # fmt: skip
        draft: Any = AuthorCandidate().schema(asked)
        strict(draft)
        assert ("code" in draft["properties"]) is code
    assert Decide().files.schema is not None
    assert "enum" not in Decide().files.schema["properties"]["decision"]


def test_an_unknown_fact_may_be_null() -> None:
    request = AnswerRequest(task=LOAN, view="v")
    answer = json.loads(Decide().render(answer_by_rule(Decide(), request)))
    answer["facts"] = {field.key: None for field in LOAN.fields} | {"score": "610"}
    assert Decide().parse(json.dumps(answer), request).facts == {"score": "610"}


def test_values_are_not_read_as_slots() -> None:
    prompt = AnswerQuestion().prompt(ASK)
    assert "Who wrote {it}?" in prompt.user
    assert "Ada {wrote} it. {record}" in prompt.user


def test_the_schema_is_the_callers_own() -> None:
    schema: Any = AnswerQuestion().schema(ASK)
    schema["properties"].clear()
    assert AnswerQuestion().schema(ASK) != schema


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        suffix = "json" if name in ("schema", "rules") else "md"
        (folder / f"{name}.{suffix}").write_text(text, encoding="utf-8")
    return folder


def test_a_set_replaces_what_it_holds(tmp_path: Path) -> None:
    write(tmp_path / "answer_question", user="{{Q}} {question}\n{record}\n")
    bound = PromptSet(str(tmp_path)).bind(AnswerQuestion())
    prompt = bound.prompt(ASK)
    assert prompt.user == f"{{Q}} {ASK.task.query}\n{ASK.view}"
    assert prompt.system == AnswerQuestion().prompt(ASK).system
    assert bound.schema(ASK) == AnswerQuestion().schema(ASK)
    assert AnswerQuestion().prompt(ASK).user != prompt.user, "the operation itself is unchanged"


def test_what_was_bound_first_stays(tmp_path: Path) -> None:
    write(tmp_path / "entail", system="Mine.")
    mine = PromptSet(str(tmp_path)).bind(Entail())
    assert PromptSet("paraphrase").bind(mine) is mine
    other = PromptSet("paraphrase").bind(Entail())
    assert isinstance(other, Entail)
    assert other.files.system != "Mine."


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"user": "{question} {record} {view}"}, r"user\.md: no slot \{view\}.*allowed: question"),
        ({"user": "{question}"}, r"user\.md: the slot \{record\} is missing"),
        ({"user": "{question} {record} {"}, r"user\.md: .*brace twice"),
        ({"user": "{question} {record:>9}"}, r"user\.md: \{record\} is not a slot"),
        ({"user": "{question} {record} {}"}, r"user\.md: \{\} is not a slot"),
        ({"schema": "{"}, r"schema\.json:1: not JSON"),
        ({"schema": '{"properties": {"answer": {}}}'}, r"schema\.json: the keys"),
        ({"rules": '{"a": 1}'}, r"rules\.json: an object of texts"),
    ],
)
def test_a_mistake_names_the_file(tmp_path: Path, files: dict[str, str], said: str) -> None:
    write(tmp_path / "answer_question", **files)
    with pytest.raises(UserError, match=said):
        PromptSet(str(tmp_path))


def test_of_a_directory_that_is_no_set_nothing_is_told(tmp_path: Path) -> None:
    (tmp_path / "private-folder").mkdir()
    for chosen in (str(tmp_path), os.path.relpath(tmp_path), os.path.relpath(tmp_path, SETS)):
        with pytest.raises(UserError) as caught:
            PromptSet(chosen)
        assert "private-folder" not in str(caught.value)


def test_a_set_must_be_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="did you mean 'paraphrase'"):
        PromptSet("paraphrased")
    with pytest.raises(UserError, match="holds no operation's folder"):
        PromptSet(str(tmp_path))
    (tmp_path / "decides").mkdir()
    with pytest.raises(UserError, match="did you mean 'decide'"):
        PromptSet(str(tmp_path))


def test_an_operation_without_files_says_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"system\.md: no such prompt file"):
        load(tmp_path / "nothing", frozenset())


def test_digests_are_of_content_and_package(tmp_path: Path) -> None:
    assert NO_SET.digests(["elsewhere"]) == {}
    copy = tmp_path / "entail"
    own = SHIPPED / "entail"
    write(copy, system=(own / "system.md").read_text(), user=(own / "user.md").read_text())
    same = PromptSet(str(tmp_path))
    assert same.digests(["framework"]) == NO_SET.digests(["framework"])
    assert set(same.digests([])) == {"entail"}
    (copy / "system.md").write_text("Other.\n")
    assert PromptSet(str(tmp_path)).digests([]) != same.digests([])


def test_an_operation_with_a_prompt_of_its_own_is_left_alone() -> None:
    @dataclass(frozen=True)
    class Plain(Operation[str, str]):
        def prompt(self, request: str) -> Any: ...
        def parse(self, text: str, request: str) -> str:
            return text

    plain = Plain()
    assert PromptSet("paraphrase").bind(plain) is plain
    assert plain.schema("") is None


def test_the_named_sets_hold_the_published_kinds() -> None:
    def kinds(name: str) -> set[str]:
        return set(json.loads((SETS / name / "equivalent" / "rules.json").read_text()))

    assert kinds("longmemeval") == {
        *("single-session-user", "single-session-assistant", "single-session-preference"),
        *("multi-session", "temporal-reasoning", "knowledge-update", "abstention"),
    }
    assert kinds("locomo") == {
        "multi-hop", "temporal", "open-domain", "single-hop", "adversarial"
    }  # fmt: skip
    request = EquivalentRequest(question="q", expected="e", given="g", kind="abstention")
    assert "can't be answered" in PromptSet("longmemeval").bind(Equivalent()).prompt(request).user
    with pytest.raises(ValueError, match=re.escape("no rule 'abstention'; allowed: answer")):
        Equivalent().prompt(request)


def test_three_budgets_share_the_log() -> None:
    card = TaskCard(instruction="I {log}", query="Q")
    prompts = [
        Project().prompt(ProjectRequest(task=card, events=("E1", "E2"), limit_tokens=limit))
        for limit in (100, 999, 1000)
    ]
    length = prompts[0].shared
    assert {p.shared for p in prompts} == {length}
    assert len({p.user[:length] for p in prompts}) == 1
    assert "E2\n</log>" in prompts[0].user[:length]
    assert prompts[0].user[length : length + 3] == "100"
    assert AnswerQuestion().prompt(ASK).shared == 0


@pytest.mark.parametrize(
    ("cut", "kept"),
    [
        ('{"summary": "The score is 68', "The score is 68"),
        ('{"summary": "a\\nb\\', "a\nb"),
        ('{"summary": "a\\\\', "a\\"),
        ('{"summary": "caf\\u00', "caf"),
        ('{"summary": "caf\\u00e9', "café"),
        ('{"summary": "so \\ud83d', "so "),
        ('{"summary": "so \\ud83d\\ude', "so "),
    ],
    ids=["word", "escape", "backslash", "code", "whole_code", "half_a_pair", "pair"],
)
def test_a_summary_that_was_cut_off_is_read_as_far_as_it_goes(cut: str, kept: str) -> None:
    request = SummarizeRequest(summary="", chunks=(), limit_tokens=10)
    assert Summarize().parse_cut(cut, request, 10).summary == kept


@pytest.mark.parametrize("cut", ["", "{", "The score is 68", '{"summary": ["a", "b'])
def test_what_is_no_summary_is_none_when_it_is_cut_off(cut: str) -> None:
    request = SummarizeRequest(summary="", chunks=(), limit_tokens=10)
    with pytest.raises(ValueError, match=r".+"):
        Summarize().parse_cut(cut, request, 10)
