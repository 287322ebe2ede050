"""Progress: quiet in a pipe, one line on a terminal with rate, time left, spend and failures."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from framework.testing.server import Faults
from tests.framework.models.serving import BASE, of, server

ROOT = Path(__file__).resolve().parents[3]
GIVEN = (*BASE, "arch=bm25", "n_cases=40", "max_errors=40", "hydra.run.dir=r")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def on_a_terminal(*argv: str) -> str:
    """What a command shows on stderr where that is a terminal; its exit status must be 0."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "run.py"), *argv],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "140"},
    )
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:  # how Linux says that the other end was closed
        pass
    os.close(ours)
    assert process.wait(60) == 0, shown
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())


@pytest.mark.slow
def test_a_terminal_is_shown_rate_time_left_spend_and_failures() -> None:
    faults = Faults(rates={"refuse": 0.2}, seed=3)
    with server("arch=bm25", "n_cases=40", faults=faults, delay_s=0.15) as running:
        shown = on_a_terminal(*GIVEN, *of(running, "openai"), "model.concurrency=2")
    lines = [line for line in re.split(r"[\r\n]+", shown) if "bm25 tight" in line]
    counts = [int(n) for line in lines for n in re.findall(r"(\d+)/40", line)]
    assert counts[0] < counts[-1] <= 40
    assert counts == sorted(counts)
    (last,) = lines[-1:]
    assert re.search(r"\d+\.\d/s", last), last
    assert re.search(r"\d:\d\d:\d\d", last), last
    spends = [float(n) for line in lines for n in re.findall(r"\$(\d+\.\d+)", line)]
    assert spends == sorted(spends)
    assert 0 < spends[-1] < 1
    assert re.search(r"\d+ failed", last), last


@pytest.mark.slow
def test_a_pipe_is_shown_nothing() -> None:
    with server("arch=bm25", "n_cases=40") as running:
        done = subprocess.run(
            [sys.executable, str(ROOT / "run.py"), *GIVEN, *of(running, "openai")],
            capture_output=True,
            text=True,
            check=True,
        )
    assert "/40" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, "what was spent"
