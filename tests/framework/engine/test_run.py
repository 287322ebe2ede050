"""Run directories: whole or not at all, resumable at any point, sealed."""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from framework.config import load_plan
from framework.engine.job import timed
from framework.engine.prepare import check
from framework.engine.protocols.evaluate import Evaluate
from framework.engine.run import execute
from framework.errors import UserError
from framework.records import AxisScore, Case, Row
from framework.rows import is_measured
from framework.store import JOURNAL, MANIFEST, verify_run
from framework.store.directory import ANSWERS, CONFIG, ROWS, RunDirectory, drafted
from framework.store.state import SUMMARY, load_state, read_summary
from tests.launching import LOAN
from tests.measuring import measured_digest
from tests.trivial import TrivialAxis, TrivialDomain, trivial_plan, with_top

ROOT = Path(__file__).resolve().parents[3]


def test_a_run_directory_is_complete(tmp_path: Path) -> None:
    plan = trivial_plan(n_cases=5)
    outcome = execute(plan, tmp_path / "run")
    names = {path.name for path in outcome.directory.iterdir()}
    assert names == {ANSWERS, CONFIG, ROWS, SUMMARY, JOURNAL, MANIFEST}
    assert verify_run(outcome.directory).ok
    assert load_plan(outcome.directory).digest == plan.digest
    summary = read_summary(outcome.directory)
    assert summary["run"]["n_cases"] == 5
    assert summary["axes"]["right"]["mean"] == 1.0
    assert summary["axes"]["right"]["kind"] == "rule-based"
    answers = (outcome.directory / ANSWERS).read_text(encoding="utf-8")
    records = [json.loads(line) for line in answers.splitlines()]
    assert [record["key"][0] for record in records] == [f"t{i:06d}" for i in range(5)]


def renamed(monkeypatch: pytest.MonkeyPatch, *ids: str) -> list[int]:
    """The cases of the trivial domain under these ids, however many are asked for.

    Returns a list that grows by a 1 whenever cases are drawn.
    """
    whole, asked = TrivialDomain.cases, list[int]()

    def cases(self: TrivialDomain, n: int | None, seed: int) -> Iterator[Case]:
        asked.append(1)
        for id_, case in zip(ids, whole(self, len(ids), seed), strict=True):
            yield replace(case, id=id_)

    monkeypatch.setattr(TrivialDomain, "cases", cases)
    return asked


@pytest.mark.parametrize("ids", ["aa", "aba", "abca", "bab", "abdcd"])
def test_two_cases_of_one_id_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ids: str
) -> None:
    renamed(monkeypatch, *ids)
    with pytest.raises(UserError, match=f"^domain=trivial: two cases have the id '{ids[-1]}'$"):
        execute(trivial_plan(n_cases=len(ids)), tmp_path / "run")
    assert load_state(tmp_path / "run").finished is None


@pytest.mark.parametrize(("ids", "times"), [("abcd", 1), ("abdc", 2), ("dcba", 2)])
def test_ids_in_any_order_are_fine_and_those_in_order_are_drawn_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ids: str, times: int
) -> None:
    asked = renamed(monkeypatch, *ids)
    outcome = execute(trivial_plan(n_cases=4), tmp_path / "run")
    assert sorted(row.case_id for row in load_state(outcome.directory).rows) == sorted(ids)
    assert len(asked) == times


def test_of_a_domain_that_gives_more_cases_those_asked_for_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    renamed(monkeypatch, *"abcdef")
    outcome = execute(trivial_plan(n_cases=4), tmp_path / "run")
    assert {row.case_id for row in load_state(outcome.directory).rows} == set("abcd")


def test_a_protocol_that_gives_no_row_ends_in_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(*_: Any) -> AsyncIterator[Any]:
        for each in ():
            yield each

    monkeypatch.setattr(Evaluate, "drive", nothing)
    with pytest.raises(UserError, match=r"^protocol=evaluate gave no row of any case$"):
        execute(trivial_plan(n_cases=4), tmp_path / "run")
    assert load_state(tmp_path / "run").finished is None


def test_a_column_that_an_axis_does_not_declare_is_an_error_of_the_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = AxisScore(values={"right": 1.0, "a_more": 1.0})
    monkeypatch.setattr(TrivialAxis, "score", lambda *_: more)
    outcome = execute(trivial_plan(n_cases=2, max_errors=2), tmp_path / "run")
    rows = load_state(outcome.directory).rows
    said = "ValueError: axis trivial: columns filled and declared differ: a_more"
    assert [row.error for row in rows] == [said, said]
    assert [dict(row.axes) for row in rows] == [{}, {}]


def test_gold_that_is_no_decision_is_an_error_and_no_wrong_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def odd(case: Case) -> Case:
        return replace(case, gold=replace(case.gold, decision="MAYBE"))

    whole = TrivialDomain.cases
    monkeypatch.setattr(TrivialDomain, "cases", lambda *a: map(odd, whole(*a)))
    outcome = execute(trivial_plan(n_cases=2, max_errors=2), tmp_path / "run")
    said = "gold decision 'MAYBE' is not a decision of the task card"
    assert outcome.summary is not None
    assert outcome.summary["errors"]["n"] == 2
    assert said in outcome.summary["errors"]["commonest"]


def test_an_id_that_is_a_number_is_refused_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = TrivialDomain.cases
    monkeypatch.setattr(
        TrivialDomain,
        "cases",
        lambda *a: (replace(c, id=7) for c in whole(*a)),  # type: ignore[arg-type]
    )
    with pytest.raises(UserError, match=r"case 7 of history '.*': ids must be text"):
        execute(trivial_plan(n_cases=2), tmp_path / "run")


def test_rows_are_stored_with_timing_apart(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    outcome = execute(trivial_plan(n_cases=3), tmp_path / "run")
    table = pq.read_table(outcome.directory / ROWS)
    assert table.num_rows == 3
    assert table.column("right").to_pylist() == [1.0, 1.0, 1.0]
    timing = [name for name in table.column_names if not is_measured(name)]
    assert set(table.column_names[-len(timing) :]) == set(timing)
    described = table.schema.metadata[b"decisionbench.measured"].decode().split(",")
    assert described == [name for name in table.column_names if is_measured(name)]


class Killed(BaseException):
    """Stands for a process that is gone: nothing catches it."""


def _kill_at(monkeypatch: pytest.MonkeyPatch, n: int, where: str) -> None:
    """Make the n-th row's writing die before, between or after its two writes."""
    written = {"rows": 0}
    add, append = RunDirectory.add, RunDirectory.write_event

    def dying_add(self: RunDirectory, row: Row, record: Any) -> None:
        written["rows"] += 1
        if written["rows"] == n and where == "before":
            raise Killed
        if written["rows"] == n and where == "between":
            self._answers.write(b'{"key":["t0')  # a torn line of answers, no event
            self._answers.flush()
            raise Killed
        add(self, row, record)
        if written["rows"] == n:
            raise Killed

    monkeypatch.setattr(RunDirectory, "add", dying_add)
    assert append is RunDirectory.write_event


@pytest.mark.parametrize("where", ["before", "between", "after"])
@pytest.mark.parametrize("n", [1, 3, 6])
def test_a_run_cut_off_anywhere_ends_as_an_undisturbed_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, n: int
) -> None:
    plan = trivial_plan(n_cases=6)
    undisturbed = execute(plan, tmp_path / "whole")
    with monkeypatch.context() as patch:
        _kill_at(patch, n, where)
        with pytest.raises(Killed):
            execute(plan, tmp_path / "cut")
    assert load_state(tmp_path / "cut").finished is None
    assert "unfinished" in " ".join(verify_run(tmp_path / "cut").problems)
    execute(plan, tmp_path / "cut")
    assert verify_run(tmp_path / "cut").ok
    whole, cut = (load_state(tmp_path / name).rows for name in ("whole", "cut"))
    assert measured_digest(whole) == measured_digest(cut)
    answers = [(tmp_path / name / ANSWERS).read_bytes() for name in ("whole", "cut")]
    assert answers[0] == answers[1]
    assert read_summary(tmp_path / "cut")["axes"] == undisturbed.summary["axes"]  # type: ignore[index]


def test_a_run_killed_before_the_stamp_is_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = trivial_plan(n_cases=2)
    execute(plan, tmp_path / "run")
    manifest = json.loads((tmp_path / "run" / MANIFEST).read_text())
    del manifest["head_hash"]
    (tmp_path / "run" / MANIFEST).write_text(json.dumps(manifest))
    assert not verify_run(tmp_path / "run").ok
    execute(plan, tmp_path / "run")
    assert verify_run(tmp_path / "run").ok


def test_another_configuration_is_refused(tmp_path: Path) -> None:
    execute(trivial_plan(n_cases=2), tmp_path / "run")
    with pytest.raises(UserError, match="another configuration"):
        execute(trivial_plan(n_cases=3), tmp_path / "run")


def test_other_data_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = trivial_plan(n_cases=2)
    execute(plan, tmp_path / "run")
    monkeypatch.setattr(plan.parts["domain"].plugin.cls, "digest", lambda self: "changed")
    with pytest.raises(UserError, match="other data"):
        execute(plan, tmp_path / "run")


def test_operational_values_may_change(tmp_path: Path) -> None:
    plan = trivial_plan(n_cases=2)
    execute(plan, tmp_path / "run")
    outcome = execute(with_top(plan, max_errors=0.5, run_name="x"), tmp_path / "run")
    assert outcome.summary is not None


def test_too_many_errors_stop_the_run_and_it_can_be_resumed(tmp_path: Path) -> None:
    plan = trivial_plan(n_cases=20, reader={"plugin": "trivial", "fail_on": "The number"})
    outcome = execute(plan, tmp_path / "run")
    assert outcome.summary is None
    assert outcome.stopped.startswith(
        "3 cases failed, more than max_errors=0.1 allows; the last: RuntimeError"
    )
    outcome = execute(with_top(plan, max_errors=1000), tmp_path / "run")
    assert outcome.summary is not None
    assert outcome.summary["errors"]["n"] == 20
    assert outcome.summary["errors"]["kinds"] == {"RuntimeError": 20}
    assert outcome.summary["axes"] == {}


def test_an_unwritable_place_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"cannot write .*is not a directory"):
        execute(trivial_plan(n_cases=1), tmp_path / "file" / "run")


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not a run directory"):
        load_state(tmp_path)
    with pytest.raises(UserError, match="not a finished run"):
        read_summary(tmp_path)


def test_a_budget_too_small_for_any_event_is_found_before_the_run() -> None:
    with pytest.raises(UserError, match="less than the smallest event"):
        check(trivial_plan(budget={"plugin": "trivial", "limit": 2}))


def test_an_empty_domain_is_found_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = trivial_plan()
    cls = plan.parts["domain"].plugin.cls
    monkeypatch.setattr(cls, "cases", lambda self, n, seed: iter(()))
    with pytest.raises(UserError, match="has no cases"):
        check(plan)


def test_a_protocol_that_the_domain_does_not_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = trivial_plan()
    monkeypatch.setattr(plan.parts["domain"].plugin.cls, "protocols", ("retrieve",))
    with pytest.raises(UserError, match="protocol=evaluate: domain trivial allows retrieve"):
        check(plan)


def test_of_two_processes_that_make_one_directory_the_first_has_it(tmp_path: Path) -> None:
    path = tmp_path / "r"
    with (  # noqa: PT012
        pytest.raises(UserError, match=r"exists already; resume it with resume="),
        drafted(path) as late,
    ):
        (late / JOURNAL).write_text("late")
        with drafted(path) as early:
            (early / JOURNAL).write_text("early")
    assert (path / JOURNAL).read_text() == "early"
    assert [found.name for found in tmp_path.iterdir()] == ["r"]


@pytest.mark.parametrize("when", ["opened", "locked"])
def test_a_draft_that_another_process_takes_for_one_that_was_left_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    path, taken = tmp_path / "r", list[str]()

    def take() -> None:  # as a process does that looked just before the draft was locked
        (draft,) = tmp_path.glob(".r.*.draft")
        if not taken:
            taken.append(draft.name)
            draft.rmdir()

    def opened(given: Path, flags: int) -> int:
        take()
        return os_open(given, flags)

    def locked(held: int, how: int) -> None:
        take()
        flock(held, how)

    os_open, flock = os.open, fcntl.flock
    if when == "opened":
        monkeypatch.setattr("framework.store.directory.os.open", opened)
    else:
        monkeypatch.setattr("framework.store.directory.fcntl.flock", locked)
    with drafted(path) as draft:
        assert draft.name not in taken
        (draft / JOURNAL).write_text("made")
    assert len(taken) == 1
    assert (path / JOURNAL).read_text() == "made"


def test_a_draft_that_is_held_is_not_removed_and_one_that_was_left_is(tmp_path: Path) -> None:
    left = tmp_path / ".r.0.draft"
    left.mkdir()
    with pytest.raises(UserError), drafted(tmp_path / "r") as late:  # noqa: PT012
        assert not left.exists()
        (late / JOURNAL).write_text("late")
        with drafted(tmp_path / "r") as early:
            assert late.exists()
            (early / JOURNAL).write_text("early")
    assert [found.name for found in tmp_path.iterdir()] == ["r"]


def test_runs_that_begin_in_one_second_have_a_directory_each(tmp_path: Path) -> None:
    for _ in range(5):
        (tmp_path / timed("r", tmp_path)).mkdir()  # raises where it is there already


@pytest.mark.slow
def test_two_runs_of_one_name_at_once_end_in_one_run_and_one_line(tmp_path: Path) -> None:
    words = (sys.executable, "-m", "framework", *LOAN, "arch=none", "n_cases=60", "run_name=r")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ["PYTHONPATH"]])}
    both = [
        subprocess.Popen(
            words, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    told = [process.communicate(timeout=100) for process in both]
    statuses = [process.returncode for process in both]
    assert sorted(statuses) == [0, 2], told
    out, err = told[statuses.index(2)]
    assert out == ""
    assert re.fullmatch(
        r"error: (runs/r exists already; resume it with resume=runs/r"
        r"|another process is writing the journal runs/r/journal.jsonl)\n",
        err,
    ), err
