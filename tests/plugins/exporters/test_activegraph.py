"""`export --to activegraph`: opened and inspected by activegraph's own command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import run as command
from framework.store import JOURNAL, read
from tests.launching import HOTPOT, framework


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("exported") / "mine"
    assert command.main([*HOTPOT, "arch=bm25", f"hydra.run.dir={place}"]) == 0
    return place


@pytest.fixture
def exported(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = tmp_path / "run.sqlite"
    done = framework(capsys, "export", str(run), "--to", "activegraph", str(path))
    assert (done.status, done.err) == (0, "")
    assert f"activegraph inspect sqlite:///{path}" in done.out
    return path


def activegraph(*argv: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "activegraph", *argv],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return json.loads(done.stdout)


@pytest.mark.slow
def test_its_own_command_line_opens_it(run: Path, exported: Path) -> None:
    events = list(read(run / JOURNAL))
    seen = activegraph("inspect", f"sqlite:///{exported}", "--json")
    assert seen["run_id"] == "mine"
    assert seen["events_processed"] == len(events)
    last = activegraph(
        "inspect", f"sqlite:///{exported}", "--event", f"evt_{events[-1].seq:06d}", "--json"
    )
    assert last["type"] == "run.finished"
    assert last["payload"]["journal"]["hash"] == events[-1].hash
    rebuilt = activegraph("replay", f"sqlite:///{exported}", "--run-id", "mine", "--json")
    assert rebuilt


def test_nothing_half_written_is_left(exported: Path) -> None:
    assert [path.name for path in exported.parent.iterdir()] == ["run.sqlite"]


def test_mistakes(run: Path, exported: Path, capsys: pytest.CaptureFixture[str]) -> None:
    again = framework(capsys, "export", str(run), "--to", "activegraph", str(exported))
    assert "exists already" in again.mistake
    nowhere = exported.parent / "no" / "file"
    done = framework(capsys, "export", str(run), "--to", "activegraph", str(nowhere))
    assert "no such directory" in done.mistake
    empty = exported.parent
    other = str(empty / "other.sqlite")
    assert (
        "journal" in framework(capsys, "export", str(empty), "--to", "activegraph", other).mistake
    )
