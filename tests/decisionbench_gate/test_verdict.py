"""The three outcomes of a gate, and the words that the command gets."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from decisionbench_gate import NoVerdict, judge, measure, verdict
from framework.store.directory import RunDirectory


def answered(
    monkeypatch: pytest.MonkeyPatch, gate: dict[str, Any], status: int = 0, stderr: str = ""
) -> list[list[str]]:
    """Let `decisionbench` end so; what it was given is returned, once it was called."""
    called: list[list[str]] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        called.append(command)
        directory = Path(command[-1].removeprefix("hydra.run.dir="))
        directory.mkdir(parents=True)
        (directory / "summary.json").write_text(json.dumps({"gate": gate}))
        return subprocess.CompletedProcess(command, status, "", stderr)

    monkeypatch.setattr(verdict.subprocess, "run", run)
    return called


@pytest.mark.parametrize(
    ("passed", "conclusions", "status"),
    [
        (True, ["passed", "passed"], "passed"),
        (False, ["passed", "failed"], "worse"),
        (False, ["undecided", "failed"], "worse"),
        (False, ["passed", "undecided"], "undecided"),
        (False, ["cannot conclude"], "undecided"),
        (False, ["passed"], "undecided"),  # of a baseline that is no better than nothing
    ],
)
def test_the_outcomes(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    passed: bool,
    conclusions: list[str],
    status: str,
) -> None:
    findings = [{"conclusion": word} for word in conclusions]
    gate = {"passed": passed, "findings": findings, "reason": "so it is"}
    answered(monkeypatch, gate, 0 if passed else 3)
    found = judge(["domain=loan"], baseline="bm25", axes=[], margin=0.05, run=tmp_path / "run")
    assert (found.status, found.reason) == (status, "so it is")


def test_a_run_that_is_the_baseline_is_no_verdict(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answered(monkeypatch, {"passed": None, "findings": [], "reason": "this run is the baseline"})
    with pytest.raises(NoVerdict, match="this run is the baseline"):
        judge([], baseline="bm25", axes=[], margin=0.05, run=tmp_path / "run")


def test_a_mistake_is_told_as_the_command_tells_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answered(monkeypatch, {"passed": True}, 2, "some log\nerror: no such arch\n")
    with pytest.raises(NoVerdict, match="error: no such arch"):
        judge([], baseline="bm25", axes=[], margin=0.05, run=tmp_path / "run")


def test_the_command_gets_the_gate_and_replaces_a_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    called = answered(monkeypatch, {"passed": True, "findings": [], "reason": ""})
    (tmp_path / "run").mkdir()
    judge(["n_cases=9"], baseline="x", axes=["frp", "rcs"], margin=0.1, run=tmp_path / "run")
    (command,) = called
    assert command[1:4] == ["-P", "-m", "framework"]
    wanted = {"n_cases=9", "gate.baseline=x", "gate.axes=[frp,rcs]", "gate.margin=0.1"}
    assert wanted <= set(command)


@pytest.mark.parametrize("name", ["notes.txt", "manifest.json", "sub/notes.txt"])
def test_a_directory_that_is_no_run_is_left_alone(tmp_path: Path, name: str) -> None:
    file = tmp_path / "run" / name
    file.parent.mkdir(parents=True)
    file.write_text("{}")
    told = f"error: {tmp_path / 'run'} exists already and holds no run; choose another directory"
    with pytest.raises(NoVerdict, match=f"^{re.escape(told)}$"):
        judge(["domain=loan"], baseline="bm25", axes=[], margin=0.05, run=tmp_path / "run")
    assert file.read_text() == "{}"
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize("link", [False, True])
def test_what_is_no_directory_is_left_alone(tmp_path: Path, link: bool) -> None:
    (tmp_path / "mine").mkdir()
    run = tmp_path / "run"
    run.symlink_to("mine") if link else run.write_text("mine")
    with pytest.raises(NoVerdict, match="exists already and is no directory; choose another one"):
        judge(["domain=loan"], baseline="bm25", axes=[], margin=0.05, run=run)
    assert (run.is_symlink() and (tmp_path / "mine").is_dir()) or run.read_text() == "mine"


def begun(path: Path) -> Path:
    """A run that was begun by us, and not finished."""
    RunDirectory.create(path, {"config": {"protocol": {"plugin": "retrieve"}}}, {}).close()
    return path


def test_a_run_is_replaced_once_the_new_one_has_begun(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old = begun(tmp_path / "run") / "journal.jsonl"
    (tmp_path / "run" / "job.log").write_text("as every run has")
    before = old.read_bytes()
    with pytest.raises(NoVerdict, match="error: arch: no option 'bm26'"):
        measure(["domain=loan", "arch=bm26"], run=tmp_path / "run")
    assert old.read_bytes() == before, "nothing is removed for words that are wrong"
    assert [path.name for path in tmp_path.iterdir()] == ["run"]

    monkeypatch.setattr(verdict, "check_replaceable", lambda run: None)
    answered(monkeypatch, {})
    measure([], run=tmp_path / "run")
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["summary.json"]
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_what_a_kill_left_aside_is_put_back(tmp_path: Path) -> None:
    begun(tmp_path / ".run.replaced")
    with pytest.raises(NoVerdict, match="no option 'bm26'"):
        measure(["domain=loan", "arch=bm26"], run=tmp_path / "run")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_run_with_a_file_of_someone_else_s_is_left_alone(tmp_path: Path) -> None:
    (begun(tmp_path / "run") / "notes.md").write_text("mine")
    with pytest.raises(NoVerdict, match=r"holds more than a run \(notes.md: extra\); choose"):
        measure(["domain=loan"], run=tmp_path / "run")
    assert (tmp_path / "run" / "notes.md").read_text() == "mine"


def test_a_summary_with_a_key_twice_is_no_verdict(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answered(monkeypatch, {"passed": True})
    twice = '{"gate": {"passed": true, "passed": false, "reason": ""}}'
    monkeypatch.setattr(json, "dumps", lambda _: twice)
    with pytest.raises(NoVerdict, match="stands twice"):
        judge(["domain=loan"], baseline="bm25", axes=[], margin=0.05, run=tmp_path / "run")
