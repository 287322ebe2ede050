"""Stopping processes that are paying: Ctrl-C once, twice, and SIGKILL."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from framework.engine.interrupt import GRACE_S
from framework.testing.server import KINDS, Faults, ModelServer
from tests.framework.models.serving import BASE, held, measured, of, server, spent, summaries

ROOT = Path(__file__).resolve().parents[3]
KILLS = 20


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def start(*argv: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(ROOT / "run.py"), *argv],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")},
    )


def wait_for_the_first(process: subprocess.Popen[str]) -> None:
    """Until the first Ctrl-C was taken up: two signals of a number that wait are one."""
    assert process.stderr is not None
    while "again to stop now" not in (line := process.stderr.readline()):
        assert line, "it ended"


def wait_for_calls(running: ModelServer, n: int) -> None:
    wait_until(lambda: running.counts.calls >= n)


def wait_until(true: Callable[[], bool]) -> None:
    until = time.monotonic() + 300  # a test that waits so long has ended by its own limit
    while not true():
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.slow
def test_the_first_ctrl_c_lets_what_is_under_way_end() -> None:
    given = ("arch=bm25", "n_cases=60")
    with server(*given, delay_s=0.3) as running:
        sent_to = (*of(running, "openai"), "model.concurrency=4")
        process = start(*BASE, *given, *sent_to, "hydra.run.dir=r")
        wait_for_calls(running, 4)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130, err
        assert "interrupted; resume it with resume=r" in err
        assert running.counts.calls < 40
        (account,) = spent()
        assert (account.calls, account.lost_calls, held()) == (running.counts.calls, 0, 0)
        running.delay_s = 0.0
        process = start("resume=r")
        assert process.communicate(timeout=100)
        assert process.returncode == 0
        assert max(running.counts.requests.values()) == 1


@pytest.mark.slow
def test_the_first_ctrl_c_waits_for_no_server_that_does_not_answer() -> None:
    given = ("arch=bm25", "n_cases=60")
    with server(*given) as running:
        sent_to = (*of(running, "openai"), "model.concurrency=4", "model.timeout_s=600")
        process = start(*BASE, *given, *sent_to, "hydra.run.dir=r")
        wait_for_calls(running, 4)
        running.delay_s = 600.0
        wait_until(lambda: running.counts.begun > running.counts.calls)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=GRACE_S + 60)
        assert process.returncode == 130, err
        assert "interrupted; resume it with resume=r" in err
        assert held() == 0


@pytest.mark.slow
def test_the_second_ctrl_c_stops_at_once_and_counts_what_it_lost() -> None:
    given = ("arch=bm25", "n_cases=50")
    with server(*given, delay_s=0.1) as running:
        sent_to = (*of(running, "anthropic"), "model.concurrency=4")
        process = start(*BASE, *given, *sent_to, "hydra.run.dir=r")
        wait_for_calls(running, 4)
        running.delay_s = 600.0
        # Four of them are then under way for good: those before were answered at once.
        wait_until(lambda: running.counts.begun == running.counts.calls + 4)
        time.sleep(0.2)
        wait_until(lambda: running.counts.begun == running.counts.calls + 4)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        wait_for_the_first(process)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert time.monotonic() - begun < 60
        assert process.returncode == 130, err
        assert "may have been billed" in err
        (account,) = spent()
        assert account.calls == running.counts.calls
        assert account.lost_calls == 4
        assert held() == 0


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("faulty", [False, True])
def test_kills_lose_at_most_what_was_under_way(faulty: bool) -> None:
    check_kills(faulty, KILLS, n=300)


@pytest.mark.slow
def test_a_kill_loses_at_most_what_was_under_way() -> None:
    check_kills(faulty=False, kills=1, n=60, delay_s=0.3)


def check_kills(faulty: bool, kills: int, n: int, delay_s: float = 0.02) -> None:
    """Kill a run again and again until it was killed so often, then let it end.

    Only a call that was under way at a kill may be made again; it is counted as lost. A few calls
    after the one that is waited for nothing is answered: so no run ends before it is killed.
    """
    rng = random.Random(7)
    given = ("arch=bm25", f"n_cases={n}", "reader=verified", "max_errors=1000")
    rates = {kind: 0.2 / len(KINDS) for kind in KINDS} if faulty else {}
    with server(*given, faults=Faults(rates=rates, late_s=0.1), delay_s=delay_s) as running:
        sent_to = (*of(running, "openai"), "model.concurrency=8")
        begin = (*BASE, *given, *sent_to, "hydra.run.dir=r")
        done = 0
        while done < kills:
            process = start(*(("resume=r",) if Path("r").exists() else begin))
            seen = running.counts.calls
            until = time.monotonic() + 200
            wanted = seen + rng.randint(1, max(1, n // (kills + 1)))
            running.held = lambda counts, last=wanted + 4: counts.calls >= last
            while running.counts.calls < wanted and process.poll() is None:
                assert time.monotonic() < until
                time.sleep(0.005)
            if process.poll() is not None:
                process.communicate()
                break
            time.sleep(rng.uniform(0, 0.03))
            process.send_signal(signal.SIGKILL)
            process.communicate()
            done += 1
        assert done == kills
        running.delay_s = 0.0
        running.held = lambda counts: False
        process = start("resume=r")
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        counts = running.counts
        (account,) = spent()
        (summary,) = summaries(Path("r"))
        assert summary["run"]["n_cases"] == n
        again = sum(times - 1 for times in counts.requests.values())
        assert again <= account.lost_calls - counts.lost <= 8 * kills
        assert account.calls <= counts.calls <= account.calls + account.lost_calls - counts.lost
        assert held() == 0
        if faulty:
            assert set(summary["errors"]["kinds"]) <= {"ModelError", "UnreadableError"}
            return
        process = start(*begin[:-1], "model.cache=other.sqlite", "hydra.run.dir=whole")
        assert process.communicate(timeout=300)
        assert measured(Path("r")) == measured(Path("whole"))
