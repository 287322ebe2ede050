"""The authors: what they are shown, what they answer, and that no gold reaches them."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest

from framework.contracts import Assignment, Failure, Patch, Profile, answer_by_rule
from framework.contracts.improve import SEAMS, Tried
from framework.operations.author_candidate import AuthorCandidate
from framework.sandbox import available
from plugins.authors.rules import Rules
from plugins.protocols.improve import code
from plugins.protocols.improve.operators import described, library
from plugins.protocols.improve.operators import form as operator_form
from plugins.protocols.improve.seams import RULES, SIGNALS
from plugins.protocols.improve.stack import read_candidate
from plugins.targets.retrieval import library_of
from tests.framework.operations.test_bounds_of_schemas import unbounded_parts
from tests.plugins.protocols.improve.scripted import run_script, script_plan

needs_sandbox = pytest.mark.skipif(available() is not None, reason=f"no sandbox: {available()}")
LIBRARY = library_of("answer_from_sessions")

FAILED = Failure(question="How many concerts did I attend?", view="I saw a band.", answer="1")
ASSIGNMENT = Assignment(
    regime="assemble-internal",
    meaning="the evidence was in the view",
    seams=("reader_prompt",),
    failures=(FAILED,),
    fragments={"guidance": ""},
    signals=SIGNALS,
    tried=(),
    library=LIBRARY,
    attempt=0,
    seed=7,
)


def drafts(author: Any, assignment: Assignment) -> list[str]:
    """All that an author proposes, each discarded."""
    found: list[str] = []
    while True:
        draft = asyncio.run(author.draft(assignment, None))
        if draft is None:
            return found
        found.append(draft)
        data = json.loads(draft)
        payload = {k: v for k, v in data.items() if k not in ("seam", "why")}
        tried = Tried(seam=data["seam"], payload=payload, reason="optimize: no")
        assignment = dataclasses.replace(assignment, tried=(*assignment.tried, tried))


@pytest.mark.parametrize("seam", SEAMS)
def test_rules_propose_each_patch_of_a_seam_once(seam: Any) -> None:
    assignment = dataclasses.replace(ASSIGNMENT, seams=(seam,))
    found = drafts(Rules(Rules.Settings()), assignment)
    assert {json.loads(d)["why"] for d in found} == {p.id for p in LIBRARY if p.seam == seam}
    assert len(found) == len(set(found))
    other = drafts(Rules(Rules.Settings()), dataclasses.replace(assignment, seed=8))
    assert sorted(other) == sorted(found)


def test_the_order_is_the_seeds() -> None:
    orders = {
        tuple(drafts(Rules(Rules.Settings()), dataclasses.replace(ASSIGNMENT, seed=seed)))
        for seed in range(5)
    }
    assert len(orders) > 1


def test_half_of_the_library_is_null_or_harmful_and_all_of_it_is_valid() -> None:
    worthless = [p for p in LIBRARY if not p.note.startswith("help")]
    assert len(worthless) >= len(LIBRARY) / 2
    assert len({p.id for p in LIBRARY}) == len(LIBRARY)
    for patch in LIBRARY:
        draft = json.dumps({"seam": patch.seam, **patch.payload})
        assert read_candidate(draft, SEAMS, {"guidance": ""}).seam == patch.seam


def test_an_assignment_has_no_place_for_gold() -> None:
    shown = {f.name for cls in (Assignment, Failure, Tried, Patch) for f in dataclasses.fields(cls)}
    assert shown == {
        "regime", "meaning", "seams", "failures", "fragments", "signals", "tried", "library",
        "attempt", "seed", "question", "view", "answer", "seam", "payload", "reason", "text", "id",
        "note", "code", "operators", "form",
    }  # fmt: skip


def test_operators_are_told_where_there_are_any_and_then_the_form_has_them() -> None:
    names = ("count_listed_events",)
    told = dataclasses.replace(ASSIGNMENT, operators=described(names), form=operator_form(names))
    plain, with_operators = AuthorCandidate().schema(ASSIGNMENT), AuthorCandidate().schema(told)
    assert plain is not None
    assert with_operators is not None
    assert "operator" not in plain["properties"]
    assert {"operator", "guard"} <= set(with_operators["required"])
    assert list(unbounded_parts(with_operators)) == []
    assert names[0] in AuthorCandidate().prompt(told).user
    assert names[0] not in AuthorCandidate().prompt(ASSIGNMENT).user
    given = {"seam": "operator", **library(names)[0].payload, "why": "counts"}
    text = AuthorCandidate().parse(json.dumps({**given, "expression": None, "rules": None}), told)
    assert read_candidate(text, ("operator",), {}, installs=names).payload == {
        key: given[key] for key in ("operator", "guard")
    }


def test_the_prompt_shows_the_failures_and_not_the_library() -> None:
    tried = Tried(seam="score", payload={"expression": "recency"}, reason="confirm: too little")
    refused = Tried(
        seam="", payload={}, reason="static: not one JSON object", text="Sure! An edit:"
    )
    user = AuthorCandidate().prompt(dataclasses.replace(ASSIGNMENT, tried=(tried, refused))).user
    for text in (
        *(FAILED.question, FAILED.view, "assemble-internal"),
        '- {"expression":"recency","seam":"score"}: confirm: too little',
        '- "Sure! An edit:": static: not one JSON object',
    ):
        assert text in user
    for patch in LIBRARY:
        if patch.seam == "reader_prompt":
            assert patch.payload["fragments"]["guidance"] not in user
    untold = dataclasses.replace(ASSIGNMENT, regime="", meaning="", failures=())
    assert "Why these failed: not told" in AuthorCandidate().prompt(untold).user


def test_every_form_in_the_prompt_passes_the_static_gate() -> None:
    user = AuthorCandidate().prompt(ASSIGNMENT).user
    parsed = []
    for line in user.splitlines():
        for found in re.findall(r'\{"seam".*?\}(?=[.:])', line):
            text = AuthorCandidate().parse(found, ASSIGNMENT)
            parsed.append(read_candidate(text, SEAMS, {"guidance": ""}).seam)
    assert parsed == list(SEAMS)
    rules = {json.loads(r)["rule"] for r in re.findall(r'\{"rule"[^}]*\}', user)}
    assert rules == set(RULES)
    assert all(signal in user for signal in SIGNALS)


def test_code_is_offered_where_an_edit_may_be_code_and_nowhere_else() -> None:
    operation, coding = AuthorCandidate(), dataclasses.replace(ASSIGNMENT, code=True)
    plain = operation.schema(ASSIGNMENT)
    schema = operation.schema(coding)
    assert plain is not None
    assert schema is not None
    assert "code" not in plain["properties"]
    assert set(schema["required"]) == set(schema["properties"]) == {*plain["properties"], "code"}
    assert '"code"' not in operation.prompt(ASSIGNMENT).user
    user = operation.prompt(coding).user
    assert 'the keys "seam", "expression", "rules", "code", "fragments" and "why"' in user
    forms = re.findall(r'\{"seam": "\w+", "code": ".*?"\}(?=\.)', user)
    shown = [json.loads(form) for form in forms]
    assert [form["seam"] for form in shown] == ["score", "assembly"]
    empty = {"expression": None, "rules": None, "fragments": None}
    for form in shown:
        text = operation.parse(json.dumps({**form, **empty, "why": "w"}), coding)
        assert read_candidate(text, SEAMS, {}, takes_code=True).code == form["code"]
    for name in (*code._CALLS, *code._METHODS):
        assert re.search(rf"\b{name}\b", user), name
    assert f"{code.MAX_SOURCE:,} characters" in user


@needs_sandbox
def test_a_model_that_is_asked_for_code_may_draft_it(tmp_path: Path) -> None:
    """The whole course: what an author says reaches the gate as code."""
    draft = {"seam": "score", "code": "def score(query, item):\n    return item['recency']"}
    empty = {"expression": None, "rules": None, "fragments": None}
    said = AuthorCandidate().parse(json.dumps({**draft, **empty, "why": "w"}), ASSIGNMENT)
    right = {"base": {"optimize": "0-7", "confirm": "0-9", "test": "0-4"}}
    plan = script_plan(
        right, [said], routing={"plugin": "none"}, protocol={"code": True, "max_candidates": 1}
    )
    (candidate,) = run_script(plan, tmp_path / "run").results["candidates"]
    assert candidate["stage"] == "optimize"
    assert candidate["payload"] == {"code": draft["code"]}


def test_what_the_form_demands_and_the_seam_does_not_take_is_dropped() -> None:
    answer = {
        "seam": "assembly",
        "expression": None,
        "rules": [{"rule": "dedupe", "by": None, "order": None, "first": None, "overlap": 0.8,
                   "distance": None, "most": None}],
        "fragments": None,
        "why": "w",
    }  # fmt: skip
    text = AuthorCandidate().parse(json.dumps(answer), ASSIGNMENT)
    candidate = read_candidate(text, SEAMS, {"guidance": ""})
    assert candidate.payload == {"rules": [{"rule": "dedupe", "overlap": 0.8}]}
    assert AuthorCandidate().parse("no object", ASSIGNMENT) == "no object"


def test_the_rule_based_draft_goes_by_the_words_of_the_questions() -> None:
    texts = {"latest": "Use the most recent value.", "count": "Count how many there were in all."}
    library = tuple(
        Patch(id=id_, seam="reader_prompt", payload={"fragments": {"guidance": text}}, note="")
        for id_, text in texts.items()
    )
    asked = dataclasses.replace(ASSIGNMENT, library=library)
    assert json.loads(answer_by_rule(AuthorCandidate(), asked, Profile()))["why"] == "count"
    everything = tuple(Tried(seam=p.seam, payload=p.payload, reason="r") for p in LIBRARY)
    tried = dataclasses.replace(ASSIGNMENT, tried=everything)
    assert answer_by_rule(AuthorCandidate(), tried, Profile()) == ""
