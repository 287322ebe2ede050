"""Cut off after any event, inside any step, a loop ends with the same journal."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from framework.engine.compose import composer
from framework.engine.job import Job
from framework.engine.run import execute
from framework.errors import UserError
from framework.pipeline.path import Pipeline
from framework.records import Answer, Case
from framework.rows import measured
from framework.store import JOURNAL, Journal, read, verify_run
from framework.store.state import load_state, read_report
from plugins.commands import _loops as loops
from plugins.commands._loops import fork, replay_events
from tests.plugins.protocols.improve.scripted import (
    Finished,
    cut_off,
    finished,
    nobody_is_asked,
    prompt,
    run_script,
    script_plan,
    told,
)

RIGHT = {
    "base": {"optimize": "0-1", "confirm": "0-5", "test": "0-1"},
    "a": {"optimize": "0-2", "confirm": "0-12", "test": "0-3"},
    "b": {"optimize": "0-3", "confirm": "0-13", "test": "0-3"},
}
PLAN_SIZES = {"optimize": 4, "confirm": 14, "test": 4, "pool": 22}


def plan_of(**changed: object):  # type: ignore[no-untyped-def]
    drafts = [prompt("a"), "no draft", prompt("b"), prompt("harm"), prompt("a")]
    return script_plan(RIGHT, drafts, protocol={**PLAN_SIZES, "max_attempts": 3}, **changed)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    done = run_script(plan_of(), tmp_path_factory.mktemp("whole") / "run")
    assert [s["number"] for s in done.results["trajectory"]] == [0]
    return done


def payloads(done: Finished) -> list[tuple[str, Mapping[str, Any]]]:
    return told(done.events)


def ticking() -> Callable[[], datetime]:
    seconds = count()
    return lambda: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=next(seconds))


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    one, two = (
        run_script(plan_of(), tmp_path / name / "run", clock=ticking()) for name in ("one", "two")
    )
    mine, its = ((done.path / JOURNAL).read_bytes().splitlines() for done in (one, two))
    assert mine == its
    assert (one.path / "improve.json").read_bytes() == (two.path / "improve.json").read_bytes()


@pytest.mark.slow
def test_cut_off_after_any_event_it_ends_with_the_same_events(
    whole: Finished, tmp_path: Path
) -> None:
    lines = (whole.path / JOURNAL).read_bytes().splitlines(keepends=True)
    state = load_state(whole.path)
    step = max(1, len(lines) // 60)
    for cut in range(1, len(lines), step):
        directory = cut_off(whole, tmp_path / f"cut{cut}", cut)
        execute(plan_of(), directory)
        again = finished(directory)
        assert payloads(again) == payloads(whole), f"cut after line {cut}"
        assert {**again.results, "opening": None} == {**whole.results, "opening": None}
        assert again.results["opening"]["number"] == 1, "opened once, however often it went on"
        assert measured(load_state(directory).rows) == measured(state.rows)
        assert not verify_run(directory).problems


def test_replay_asks_and_measures_nothing(
    whole: Finished, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody_is_asked(monkeypatch)
    assert replay_events(whole.path) == len(whole.events)


def rewritten(whole: Finished, directory: Path, change: Callable[[str, dict[str, object]], None]):  # type: ignore[no-untyped-def]
    """The run with changed payloads under a consistent chain, as only a liar would write it."""
    shutil.copytree(whole.path, directory)
    (directory / JOURNAL).unlink()
    with Journal.create(directory / JOURNAL) as journal:
        for event in read(whole.path / JOURNAL):
            payload = json.loads(json.dumps(event.payload))
            change(event.type, payload)
            if event.type == "run.finished":
                payload.pop("n_events")
                journal.finish(payload)
            else:
                journal.append(event.type, payload)
    return directory


def test_replay_finds_a_decision_that_does_not_follow(whole: Finished, tmp_path: Path) -> None:
    def promote(type_: str, payload: dict[str, object]) -> None:
        if type_ == "transform.eval_diff" and payload["number"] == 3:
            payload["passed"] = True

    with pytest.raises(UserError, match="not what the loop comes to"):
        replay_events(rewritten(whole, tmp_path / "run", promote))

    def forget(type_: str, payload: dict[str, object]) -> None:
        if type_ == "case.evaluated" and payload["evaluation"] == 2 and payload["case"]:
            payload["correct"] = True

    with pytest.raises(UserError, match="not what the loop comes to"):
        replay_events(rewritten(whole, tmp_path / "other", forget))


def test_a_loop_in_former_words_is_replayed_and_resumed(whole: Finished, tmp_path: Path) -> None:
    """Interim analyses were called looks."""

    def former(text: str) -> str:
        return text.replace('"analyses"', '"looks"').replace('"analysis"', '"look"')

    def rename(type_: str, payload: dict[str, object]) -> None:
        named = json.loads(former(json.dumps(payload)))
        payload.clear()
        payload.update(named)

    directory = rewritten(whole, tmp_path / "run", rename)
    report = directory / "improve.json"
    report.write_text(former(report.read_text()))
    assert all(f'"{word}"' in report.read_text() for word in ("looks", "look"))
    assert replay_events(directory) == len(whole.events)
    assert read_report(directory, "improve") == whole.results

    lines = (directory / JOURNAL).read_bytes().splitlines(keepends=True)
    (directory / JOURNAL).write_bytes(b"".join(lines[: len(lines) // 2]))
    for name in ("improve.json", "rows.parquet", "summary.json"):
        (directory / name).unlink()
    execute(plan_of(), directory)
    assert payloads(finished(directory)) == payloads(whole)
    assert not verify_run(directory).problems


def failing_on(monkeypatch: pytest.MonkeyPatch, ids: Collection[str]) -> None:
    """Nobody answers these cases."""
    original = Pipeline._read

    async def failing(self: Pipeline, case: Case, *rest: Any) -> Answer:
        if case.id in ids:
            raise RuntimeError("the server is away")
        return await original(self, case, *rest)

    monkeypatch.setattr(Pipeline, "_read", failing)


def test_too_many_errors_before_the_end_of_test_are_told_as_such(
    whole: Finished, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = load_state(whole.path).rows[0].case_id
    failing_on(monkeypatch, [first])
    stopped = execute(plan_of(max_errors=0), tmp_path / "run").stopped
    assert stopped.startswith("1 case failed, more than max_errors=0 allows")
    *_, last = read(tmp_path / "run" / JOURNAL)
    assert (last.type, last.payload["reason"]) == ("run.stopped", stopped)
    rows = list(load_state(tmp_path / "run").rows)
    assert 0 < len(rows) < len(load_state(whole.path).rows)
    assert execute(plan_of(max_errors=0), tmp_path / "run").stopped == stopped
    assert list(load_state(tmp_path / "run").rows) == rows, "nothing more is measured in vain"


def test_failed_cases_of_test_stay_in_a_run_that_goes_on(
    whole: Finished, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their events say that they failed, so that a row that was taken back would be lost."""
    path, keys = tmp_path / "run", [row.key for row in load_state(whole.path).rows]
    with monkeypatch.context() as patch:
        failing_on(patch, [key[0] for key in keys[:2]])
        stopped = execute(plan_of(max_errors=0.3), path).stopped
    assert stopped.startswith("2 cases failed, more than max_errors=0.3 allows")
    assert stopped.endswith("give a higher max_errors")
    for _ in range(2):
        assert execute(plan_of(max_errors=0.3), path).stopped == stopped
        assert [row.key for row in load_state(path).rows] == keys
    execute(plan_of(max_errors=2), path)
    rows = load_state(path).rows
    assert [(row.key, bool(row.error)) for row in rows] == [(key, key in keys[:2]) for key in keys]
    assert finished(path).results["test"]["n"] == len(keys)
    assert replay_events(path) == len(finished(path).events)
    assert not verify_run(path).problems


def test_a_run_that_stopped_before_such_cases_were_kept_keeps_them(
    whole: Finished, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its journal says that they are run again."""
    path = tmp_path / "run"
    with monkeypatch.context() as patch:
        failing_on(patch, [load_state(whole.path).rows[-1].case_id])
        assert execute(plan_of(max_errors=0), path).stopped
    with Journal.create(tmp_path / JOURNAL) as journal:
        for event in read(path / JOURNAL):
            retry = {"retry": True} if event.type == "run.stopped" else {}
            journal.append(event.type, {**event.payload, **retry})
    (tmp_path / JOURNAL).replace(path / JOURNAL)
    assert load_state(path).retry
    assert execute(plan_of(max_errors=0), path).stopped
    assert len(load_state(path).rows) == len(load_state(whole.path).rows)


def seq_of(whole: Finished, type_: str, nth: int = 0) -> int:
    return [event.seq for event in whole.events if event.type == type_][nth]


def test_a_fork_takes_over_what_was_and_goes_on_under_its_own_rules(
    whole: Finished, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Composed plans are Hydra's; here the script's plan stands for one.
    changed = plan_of(gate={"plugin": "open"})
    monkeypatch.setattr(loops, "compose_plan", lambda overrides: changed)
    monkeypatch.setattr(loops, "check_job", lambda plan: Job(plan=plan))
    at = seq_of(whole, "transform.promoted")
    with composer():
        fork(whole.path, at, ["gate=open"], tmp_path / "fork")
    execute(changed, tmp_path / "fork")
    done = finished(tmp_path / "fork")
    taken = [(e.type, e.payload) for e in whole.events if e.seq <= at]
    assert payloads(done)[: len(taken)] == taken
    promoted = done.of("transform.promoted")
    assert len(promoted) > len(whole.of("transform.promoted"))  # the open gate lets more through
    assert replay_events(tmp_path / "fork") == len(done.events)
    assert not verify_run(tmp_path / "fork").problems


def test_no_fork_after_test_was_opened(whole: Finished, tmp_path: Path) -> None:
    with composer(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "compose_plan", lambda overrides: plan_of())
        patch.setattr(loops, "check_job", lambda plan: Job(plan=plan))
        with pytest.raises(UserError, match=r"nothing may be chosen after test\.opened"):
            fork(whole.path, seq_of(whole, "test.opened"), [], tmp_path / "fork")
        with pytest.raises(UserError, match="no such event"):
            fork(whole.path, -1, [], tmp_path / "fork")
    assert not (tmp_path / "fork").exists()
