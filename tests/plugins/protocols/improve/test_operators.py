"""Operators as edits: the guard's grammar, the gates, what is installed, and a resume."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.contracts import Client, Operator, Outcome
from framework.engine.run import execute
from framework.errors import UserError
from framework.operations.answering import AnswerRequest
from framework.records import Answer, MemoryView, TaskCard
from framework.registry import NoSettings, find, identity_of, register, settings_of
from framework.rows import measured
from framework.store import JOURNAL, verify_run
from framework.store.state import load_state
from framework.testing.arch_conformance import NoClient, settle
from plugins.commands._loops import replay_events
from plugins.protocols.improve.operators import acted, holds, installed, library, reading
from plugins.protocols.improve.stack import Rejected, read_candidate
from tests.plugins.protocols.improve.scripted import (
    Finished,
    ScriptOperation,
    cut_off,
    finished,
    nobody_is_asked,
    prompt,
    run_script,
    script_plan,
    told,
)

ALWAYS = {"contains": ["case"], "lacks": []}
NEVER = {"contains": ["nothing that is asked"], "lacks": []}
RIGHT = {
    "base": {"optimize": "0-4", "confirm": "0-5", "test": "0-4"},
    "a": {"optimize": "0-5", "confirm": "0-14", "test": "0-7"},
    "op": {"optimize": "0-8", "confirm": "0-17", "test": "0-8"},
    "fitted": {"optimize": "0-8", "confirm": "0-5", "test": "0-4"},
}


class _Asks(Operator[NoSettings]):
    """Asks the model the same in another state, whatever the reader said."""

    operation: ClassVar[str] = "script"
    state: ClassVar[str]

    def detects(self, task: TaskCard, view: MemoryView, answer: Answer) -> bool:
        return True

    async def act(self, task: TaskCard, view: MemoryView, answer: Answer, client: Client) -> Answer:
        card = replace(task, instruction=self.state)
        said = await client.ask(ScriptOperation(), AnswerRequest(task=card, view=view.text))
        return replace(answer, decision=said, provisions=(f"{self.name}:asked=1",))


@register("operator", "asks_op")
class AsksOp(_Asks):
    """Right where the state `op` is."""

    state = "op"


@register("operator", "asks_fitted")
class AsksFitted(_Asks):
    """Right on OPTIMIZE alone."""

    state = "fitted"


NAMES = ("asks_op", "asks_fitted")
GATE = {"plugin": "heldout", "rule": "point", "threshold": 0.02}


def install(name: str = "asks_op", guard: Mapping[str, Any] = ALWAYS) -> dict[str, Any]:
    return {"seam": "operator", "operator": name, "guard": dict(guard)}


def looped(directory: Path, drafts: list[Any], **changed: Any) -> Finished:
    protocol = {"operators": list(NAMES), **changed.pop("protocol", {})}
    return run_script(plan_of(drafts, protocol=protocol, **changed), directory)


def plan_of(drafts: list[Any], **changed: Any):  # type: ignore[no-untyped-def]
    given = {"routing": {"plugin": "none"}, "gate": GATE, **changed}
    return script_plan(RIGHT, drafts, **given)


# ------------------------------------------------------------------------------------------- guards


@pytest.mark.parametrize(
    ("contains", "lacks", "question", "fires"),
    [
        (["how many"], [], "How  MANY bikes have I?", True),
        (["how many"], [], "How manyfold is it?", False),
        (["how many", "how often"], [], "How often do I ride?", True),
        (["how many"], ["days"], "How many days ago was it?", False),
        (["how many"], ["days"], "How many bikes have I?", True),
        ([], ["days"], "Which bike?", True),
        ([], ["days"], "Which days?", False),
        (["(how) many?"], [], "(How) many? I ask.", True),
        (["many"], [], "", False),
    ],
)
def test_when_a_guard_fires(
    contains: list[str], lacks: list[str], question: str, fires: bool
) -> None:
    assert holds({"contains": contains, "lacks": lacks}, question) is fires


_PHRASES = st.lists(st.sampled_from(["how many", "days", "bike", "ride"]), max_size=3)


@given(_PHRASES, _PHRASES, st.sampled_from(["How many days did I ride?", "A bike", "", "days"]))
def test_more_phrases_to_have_fire_no_less_and_more_to_lack_no_more(
    contains: list[str], lacks: list[str], question: str
) -> None:
    fires = holds({"contains": contains, "lacks": lacks}, question)
    if contains:
        wider = holds({"contains": [*contains, "ride"], "lacks": lacks}, question)
        assert fires <= wider
    assert holds({"contains": contains, "lacks": [*lacks, "ride"]}, question) <= fires


@pytest.mark.parametrize(
    ("draft", "why"),
    [
        (install("unknown"), "no operator 'unknown' to install: asks_op, asks_fitted"),
        (install("fallback_to_raw_span"), "no operator 'fallback_to_raw_span'"),
        (install(guard={"contains": [], "lacks": []}), "every question would pass"),
        (install(guard={"contains": ["x"]}), "contains and lacks"),
        (install(guard={"contains": ["x"], "lacks": [], "kind": ["count"]}), "contains and lacks"),
        (install(guard={"contains": "how many", "lacks": []}), "a list of at most 8"),
        (install(guard={"contains": ["x"] * 9, "lacks": []}), "a list of at most 8"),
        (install(guard={"contains": [" "], "lacks": []}), "empty or no text"),
        (install(guard={"contains": [3], "lacks": []}), "empty or no text"),
        (install(guard={"contains": ["x" * 61], "lacks": []}), "more than 60 characters"),
        ({**install(), "code": "x"}, "'operator' and 'guard' expected"),
        ({"seam": "operator", "operator": "asks_op"}, "'operator' and 'guard' expected"),
        ({**install(), "operator": ["asks_op"]}, "no operator"),
        ({**install(), "guard": "always"}, "contains and lacks"),
    ],
)
def test_what_is_no_operator_under_a_guard_is_refused(draft: dict[str, Any], why: str) -> None:
    with pytest.raises(Rejected, match=why):
        read_candidate(json.dumps(draft), ("operator",), {}, installs=NAMES)


def test_where_no_operator_may_be_installed_the_seam_is_none() -> None:
    with pytest.raises(Rejected, match="seam: one of score expected"):
        read_candidate(json.dumps(install()), ("score",), {}, installs=())


def test_the_library_is_valid_and_half_of_it_null_or_harmful() -> None:
    patches = library(NAMES)
    assert len({p.id for p in patches}) == len(patches)
    assert sum(not p.note.startswith("help") for p in patches) >= len(patches) / 2
    for patch in patches:
        draft = json.dumps({"seam": patch.seam, **patch.payload})
        assert read_candidate(draft, ("operator",), {}, installs=NAMES).payload == patch.payload


# ---------------------------------------------------------------------------------------- installed


def test_an_operator_whose_guard_does_not_fire_changes_nothing_and_asks_nothing() -> None:
    edit = installed([{"operator": "asks_op", "guard": NEVER}])
    assert edit is not None
    task = TaskCard(instruction="base", query="case 1", operation="script")
    view = MemoryView(items=(), tokens=0, budget_tokens=None)
    answer = Answer(decision="NO")
    assert settle(edit(task, view, answer, NoClient())) is answer
    other = replace(task, query="nothing that is asked", operation="decide")
    assert settle(edit(other, view, answer, NoClient())) is answer, "not of its operation"
    assert installed([]) is None


def test_what_acted_is_read_from_the_answer() -> None:
    left = ("operator:asks_op", "asks_op:asked=2", "UP-1", "other:asked=1")
    answer = Answer(provisions=left)
    assert acted(answer, NAMES) == left[:2]
    assert acted(answer, ()) == acted(None, NAMES) == ()
    before = [Outcome(case_id=str(n), kind="", correct=n < 2) for n in range(3)]
    after = [replace(before[0], correct=False, acted=left[:2]), *before[1:]]
    assert reading(before, after) == {
        "fired": 1, "wrong": 1, "broken": 1, "told": {"asks_op": {"asked": 2}},
    }  # fmt: skip
    assert reading(after, after)["fired"] == 0


# ----------------------------------------------------------------------------------------- the loop


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    drafts = [
        install(guard=NEVER),
        install("asks_fitted"),
        install("unknown"),
        prompt("a"),
        install(),
        install(),
    ]
    return looped(tmp_path_factory.mktemp("whole") / "run", drafts)


def test_it_goes_through_the_gates_that_every_edit_goes_through(whole: Finished) -> None:
    found = {c["number"]: (c["outcome"], c.get("stage")) for c in whole.results["candidates"]}
    assert found[0] == ("discarded", "optimize")
    assert found[1] == ("discarded", "confirm")
    assert found[2] == ("discarded", "static")
    assert found[3] == ("promoted", "confirm")
    assert found[4] == ("promoted", "confirm")
    assert found[5] == ("discarded", "static")
    reasons = {c["number"]: c["reason"] for c in whole.results["candidates"]}
    assert reasons[0].startswith("inert")
    assert reasons[5].startswith("duplicate")
    assert [e["seam"] for e in whole.results["stack"]] == ["reader_prompt", "operator"]
    assert whole.results["stack"][1]["payload"] == {"operator": "asks_op", "guard": ALWAYS}
    test = whole.results["test"]
    assert (test["wrong_to_right"], test["right_to_wrong"]) == (4, 0)


def test_the_report_reads_off_what_it_did(whole: Finished) -> None:
    by = {c["number"]: c for c in whole.results["candidates"]}
    assert by[0]["optimize"]["operator"] == {"fired": 0, "wrong": 0, "broken": 0, "told": {}}
    assert by[4]["confirm"]["operator"] == {
        "fired": 20, "wrong": 2, "broken": 0, "told": {"asks_op": {"asked": 20}},
    }  # fmt: skip
    assert "operator" not in by[3]["confirm"]
    assert whole.results["test"]["operator"]["fired"] == 10
    diffs = [d for d in whole.of("transform.eval_diff") if "operator" in d]
    assert {d["number"] for d in diffs} == {0, 1, 4}


def test_a_proposal_that_passes_no_gate_is_never_installed(tmp_path: Path) -> None:
    done = looped(tmp_path / "run", [install("asks_fitted"), install(guard=NEVER)])
    assert done.results["stack"] == []
    assert not done.of("transform.promoted")
    assert all("acted" not in c for c in done.of("case.evaluated") if c["evaluation"] <= 3)
    test = done.results["test"]
    assert test["before"] == test["after"]
    assert "operator" not in test


def test_the_seam_is_routed_to_beside_the_prompt(whole: Finished, tmp_path: Path) -> None:
    start = whole.of("loop.start")[0]
    assert start["operators"] == list(NAMES)
    assert start["seams"][-1] == "operator"
    assert start["routes"]["assemble-internal"] == ["reader_prompt", "operator"]
    assert "operator" not in start["routes"]["budget-truncation"]
    done = looped(tmp_path / "run", [prompt("a"), install()], routing={"plugin": "regime"})
    assert [r["seams"] for r in done.of("route.chosen")][:1] == [["reader_prompt"]]
    assert [e["seam"] for e in done.results["stack"]] == ["reader_prompt"], "a promotion: again"


def test_the_offline_author_proposes_from_the_library(tmp_path: Path) -> None:
    done = looped(tmp_path / "run", [], author={"plugin": "rules"}, protocol={"max_candidates": 4})
    drafted = [d for d in done.of("transform.drafted") if d.get("seam") == "operator"]
    assert {d["why"] for d in drafted} <= {p.id for p in library(NAMES)}
    assert drafted


def test_without_operators_a_loop_is_what_it_was(tmp_path: Path) -> None:
    plugin = find("protocol", "improve")
    assert "operators" not in identity_of(plugin, settings_of(plugin, {}))
    assert identity_of(plugin, settings_of(plugin, {"operators": ["asks_op"]}))["operators"] == (
        "asks_op",
    )
    done = run_script(plan_of([install(), prompt("a")]), tmp_path / "run")
    start = done.of("loop.start")[0]
    assert "operators" not in start
    assert "operator" not in start["seams"]
    assert done.results["candidates"][0]["reason"].startswith("seam: one of score, assembly")
    assert all("acted" not in case for case in done.of("case.evaluated"))


def test_the_prompts_of_an_operator_are_part_of_what_a_loop_is() -> None:
    plugin = find("protocol", "improve")
    found = identity_of(plugin, settings_of(plugin, {"operators": ["count_listed_events"]}))
    assert list(found["asked"]["count_listed_events"]) == ["list_events"]


def test_a_name_that_is_no_operators_ends_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="operator: no plugin 'asks_opp'"):
        looped(tmp_path / "run", [], protocol={"operators": ["asks_opp"]})


@pytest.mark.slow
def test_cut_off_anywhere_it_ends_with_the_same_events(whole: Finished, tmp_path: Path) -> None:
    lines = (whole.path / JOURNAL).read_bytes().splitlines(keepends=True)
    drafts = [install(guard=NEVER), install("asks_fitted"), install("unknown"), prompt("a"),
              install(), install()]  # fmt: skip
    rows = measured(load_state(whole.path).rows)
    for cut in range(2, len(lines), max(1, len(lines) // 12)):
        directory = cut_off(whole, tmp_path / f"cut{cut}", cut)
        execute(plan_of(drafts, protocol={"operators": list(NAMES)}), directory)
        again = finished(directory)
        assert told(again.events) == told(whole.events), f"cut after line {cut}"
        assert {**again.results, "opening": None} == {**whole.results, "opening": None}
        assert measured(load_state(directory).rows) == rows
        assert not verify_run(directory).problems


def test_a_replay_computes_it_again_and_asks_nothing(
    whole: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody_is_asked(monkeypatch)
    assert replay_events(whole.path) == len(whole.events)
