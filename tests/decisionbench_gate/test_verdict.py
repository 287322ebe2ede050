"""The three outcomes of a gate, and the words that the command gets."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from decisionbench_gate import NoVerdict, judge, verdict


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


def test_a_summary_with_a_key_twice_is_no_verdict(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answered(monkeypatch, {"passed": True})
    twice = '{"gate": {"passed": true, "passed": false, "reason": ""}}'
    monkeypatch.setattr(json, "dumps", lambda _: twice)
    with pytest.raises(NoVerdict, match="stands twice"):
        judge(["domain=loan"], baseline="bm25", axes=[], margin=0.05, run=tmp_path / "run")
