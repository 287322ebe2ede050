"""`replay` judges a gate again, with what the run was compared with; of rows see `test_runs`."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import pytest

from framework.config import stored_plan
from framework.engine.prepare import prepare
from framework.store import Journal, read, seal
from framework.store.atomic import write_json
from framework.store.state import load_state
from tests.launching import HOTPOT, LOAN, QUESTIONS, framework, read_json, run

GATE = ("gate=noninferiority", "gate.axes=[eda]", "gate.margin=0.9")
SAME = "same: 6 rows, every measured column equal\n"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def gated(capsys: pytest.CaptureFixture[str], arm: str, baseline: str) -> Path:
    """A run whose gate compares it with an arm or a run."""
    given = (*LOAN, "n_cases=6", f"arch={arm}", *GATE, f"gate.baseline={baseline}")
    assert run(capsys, *given, "run_name=gated").status in (0, 3)
    return Path("runs/gated")


def sealed_anew(path: Path) -> None:
    """Put the seal over what a run's directory holds now."""
    events = list(read(path / "journal.jsonl"))[:-1]
    (path / "journal.jsonl").unlink()
    with Journal.create(path / "journal.jsonl") as journal:
        for event in events:
            journal.append(event.type, dict(event.payload), actor=event.actor)
        seal(journal, {"rows": 6}, exclude=["job.log", "report.*", "figures/*", "tracking.json"])


def check_found(capsys: pytest.CaptureFixture[str], path: Path, summary: dict[str, Any]) -> None:
    """A gate of this summary, with a seal over it, is sound to `verify` and told by `replay`."""
    write_json(path / "summary.json", summary)
    sealed_anew(path)
    assert framework(capsys, "verify", str(path)).status == 0
    done = framework(capsys, "replay", str(path))
    told = "summary.json, gate: not what the rows give, which are the same\n"
    assert (done.status, done.out) == (1, told)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arm", "baseline"), [("bm25", "oracle"), ("bm25", "none"), ("none", "bm25")]
)
def test_a_gate_is_judged_again(
    capsys: pytest.CaptureFixture[str], arm: str, baseline: str
) -> None:
    path = gated(capsys, arm, baseline)
    done = framework(capsys, "replay", str(path))
    assert (done.status, done.out, done.err) == (0, SAME, "")
    summary = read_json(path / "summary.json")
    assert summary["gate"]["passed"] is not None
    summary["gate"]["passed"] = not summary["gate"]["passed"]
    check_found(capsys, path, summary)


@pytest.mark.slow
def test_a_gate_against_a_directory_is_judged_again_while_it_is_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(capsys, *LOAN, "n_cases=6", "arch=oracle", "hydra.run.dir=kept/base").status == 0
    path = gated(capsys, "bm25", "kept/base")
    assert framework(capsys, "replay", str(path)).err == ""
    shutil.move("kept/base", "runs/base")  # beside the run it is found too
    assert framework(capsys, "replay", str(path)).err == ""
    journal = Path("runs/base/journal.jsonl")
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    done = framework(capsys, "replay", str(path))
    told = "the gate is not judged again: runs/base is not as it was when the run was compared"
    assert (done.status, done.out, done.err) == (0, SAME, f"{told} with it\n")
    shutil.rmtree("runs/base")
    done = framework(capsys, "replay", str(path))
    told = "the gate is not judged again: base, which it was compared with, is not beside the run\n"
    assert (done.status, done.out, done.err) == (0, SAME, told)


@pytest.mark.slow
def test_a_gate_that_was_judged_against_another_arm_is_found(
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = gated(capsys, "bm25", "oracle")
    (other,) = (place for place in Path("runs").iterdir() if "-none-" in place.name)
    plan = stored_plan(load_state(path))
    gate = prepare(plan).gate
    easier = gate.decide(load_state(path).rows, load_state(other).rows, plan.top.seed)
    summary = read_json(path / "summary.json")
    against = {other.name: load_state(other).head}
    summary["gate"] = {**dataclasses.asdict(easier), "against": against}
    check_found(capsys, path, summary)


@pytest.mark.slow
def test_a_run_that_does_not_name_what_it_was_compared_with_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = gated(capsys, "bm25", "oracle")
    summary = read_json(path / "summary.json")
    summary["gate"]["against"] = {}
    write_json(path / "summary.json", summary)
    done = framework(capsys, "replay", str(path))
    told = "the gate is not judged again: it does not say which run it was compared with\n"
    assert (done.status, done.err) == (0, told)


def test_elsewhere_a_file_that_the_run_names_from_where_it_was_begun_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shutil.copy(QUESTIONS, "own.json")
    given = [w for w in HOTPOT if not w.startswith("domain.path=")]
    made = run(capsys, *given, "domain.path=own.json", "arch=bm25", "run_name=r")
    assert made.status == 0, made.err
    assert framework(capsys, "replay", "runs/r").status == 0
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    told = "../runs/r names it from where the run was begun; replay it there"
    assert (
        framework(capsys, "replay", "../runs/r").mistake == f"own.json: no such file here: {told}"
    )
    shutil.copy(QUESTIONS, "own.json")
    assert framework(capsys, "replay", "../runs/r").status == 0
