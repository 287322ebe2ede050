"""Sweeps on several cores: the same rows, every job once, and no process left behind."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from framework.engine import work as work_module
from framework.engine import workers
from framework.engine.listener import Aside, Listener
from framework.engine.workers import JobFailed, Pool
from framework.errors import UserError
from framework.registry import find
from framework.store import verify_run
from tests.launching import HOTPOT, LOAN, run

ROOT = Path(__file__).resolve().parents[3]
GRID = ("-m", *HOTPOT, "arch=bm25,none,sam,tfidf", "gate.baseline=bm25", "gate.axes=[mrr]")


def command(place: Path, *argv: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(ROOT / "run.py"), *argv],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def measured(sweep: Path) -> dict[str, list[str]]:
    """By job, its rows as text without what is not measured."""
    found = {}
    for path in sorted(sweep.glob("*/journal.jsonl")):
        rows = []
        for line in path.read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            if event["type"] == "case.finished":
                row = event["payload"]["row"]
                rows.append(json.dumps(_without_times(row), sort_keys=True))
        found[path.parent.name] = sorted(rows)
    return found


def _without_times(value: object) -> object:
    if not isinstance(value, dict):
        return value
    kept = {k: v for k, v in value.items() if "timing" not in k and "seconds" not in k}
    return {key: _without_times(inner) for key, inner in kept.items()}


@pytest.mark.slow
def test_rows_are_the_same_for_any_number_of_workers(tmp_path: Path) -> None:
    found = []
    launchers = [f"hydra.launcher.workers={n}" for n in (1, 2, 8)]
    for number, launcher in enumerate(
        [*launchers, *(f"hydra/launcher={n}" for n in ("basic", "joblib", "submitit_local"))]
    ):
        process = command(tmp_path, *GRID, launcher, f"hydra.sweep.dir=s{number}")
        out, err = process.communicate(timeout=100)
        assert process.returncode == 3, err
        assert out.splitlines()[-1] == f"sweep: s{number}"
        found.append(measured(tmp_path / f"s{number}"))
        assert len(found[-1]) == 4, "each arm once, the baseline too"
    assert all(one == found[0] for one in found)
    assert all(len(rows) == 6 for rows in found[0].values())


def alive_in(place: Path) -> list[int]:
    """Processes whose current directory is a place."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "cwd").readlink() == place:
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


class _Stopped:
    """A stream that is told to stop while it is flushed."""

    def flush(self) -> None:
        raise KeyboardInterrupt


def _flushing_is_stopped(*args: Any) -> None:
    sys.stdout = _Stopped()  # type: ignore[assignment]  # of the worker's own process alone
    workers._work(*args)


def test_a_worker_that_is_told_to_stop_while_it_ends_leaves_no_trace() -> None:
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe()
    alive, here = os.pipe()
    args = (theirs, (ours,), alive, here, None)
    process = fork.Process(target=_flushing_is_stopped, args=args)
    process.start()
    theirs.close()
    ours.close()  # there is nobody to ask any more
    process.join(60)
    os.close(alive)
    os.close(here)
    assert process.exitcode == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_no_process_is_left_behind(tmp_path: Path, number: signal.Signals, status: int) -> None:
    arms = ("arch=bm25,none,last_mention", "n_cases=100000", "hydra.launcher.workers=3")
    process = command(tmp_path, "-m", *LOAN, *arms, "hydra.sweep.dir=s")
    until = time.monotonic() + 90
    while len(list(tmp_path.glob("s/*/journal.jsonl"))) < 3 and time.monotonic() < until:
        time.sleep(0.1)
    assert len(alive_in(tmp_path)) == 4
    time.sleep(1)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (status, ""), err
    assert "Traceback" not in err
    while alive_in(tmp_path) and time.monotonic() < until + 30:
        time.sleep(0.1)
    assert alive_in(tmp_path) == []
    if number != signal.SIGKILL:
        assert err.splitlines()[-1] == "interrupted; resume it with resume=s"
        for path in tmp_path.glob("s/*/journal.jsonl"):
            assert verify_run(path.parent).journal.intact


def of_its_own(script: str) -> subprocess.CompletedProcess[str]:
    """The end of a script in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


_STOPPED_AT_ITS_START = """
import os, signal, threading, time
from framework.engine.workers import Pool
threading.Thread.start = lambda thread: os.kill(os.getpid(), signal.SIGTERM)
with Pool(2, lambda number, tell: None, lambda number, told: None):
    time.sleep(0.5)
"""


def test_a_worker_that_is_stopped_at_its_start_leaves_no_traceback() -> None:
    done = of_its_own(_STOPPED_AT_ITS_START)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_error_in_a_worker_is_raised_when_the_others_have_ended() -> None:
    ended: list[int] = []

    def run(number: int, tell: object) -> int:
        if number == 0:
            raise KeyError("ours")
        time.sleep(0.2)
        return number

    jobs = iter([0, 1, 2, 3])
    with Pool(2, run, lambda job, told: None) as pool, pytest.raises(JobFailed, match="KeyError"):
        pool.run(lambda: next(jobs, None), lambda job, result: ended.append(result))
    assert ended == [1]


def test_a_mistake_and_a_death_in_a_worker_are_told() -> None:
    def mistaken(number: int, tell: object) -> None:
        raise UserError("no such thing")

    def dying(number: int, tell: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    for work, error, said in ((mistaken, UserError, "no such"), (dying, JobFailed, "signal 9")):
        jobs = iter([0])
        with Pool(2, work, lambda job, told: None) as pool, pytest.raises(error, match=said):
            pool.run(lambda jobs=jobs: next(jobs, None), lambda job, result: None)


def test_a_result_that_cannot_be_sent_is_told_and_its_worker_goes_on() -> None:
    ended: list[int] = []

    def run(number: int, tell: object) -> object:
        return (lambda: number) if number == 0 else number

    jobs, told = iter([0]), iter([1])
    with Pool(1, run, lambda job, told: None) as pool:
        with pytest.raises(JobFailed, match="pickle"):
            pool.run(lambda: next(jobs, None), lambda job, result: ended.append(result))
        pool.run(lambda: next(told, None), lambda job, result: ended.append(result))
    assert ended == [1]


_PRINTS = """
from framework.engine.workers import Pool
jobs = iter([0])
with Pool(1, lambda number, tell: print("of a plugin"), lambda number, told: None) as pool:
    pool.run(lambda: next(jobs, None), lambda number, result: print("here"))
"""


def test_what_a_plugin_prints_in_a_worker_arrives_in_a_pipe() -> None:
    done = of_its_own(_PRINTS)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.splitlines()) == ["here", "of a plugin"]


class _Unheard:
    """A connection that nothing can be sent through, of which nobody has an account."""

    def recv(self) -> int:
        return 0

    def send(self, told: object) -> None:
        raise ValueError("unheard of")


def test_a_worker_that_ends_by_an_error_of_ours_says_so_in_its_status(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert _life_of(_Unheard()) == 1
    assert "ValueError: unheard of" in capfd.readouterr().err


@pytest.mark.slow
def test_an_error_of_ours_in_a_worker_is_told_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def failing(*args: object) -> None:
        raise KeyError("ours")

    monkeypatch.setattr(work_module, "run_job", failing)
    done = run(capsys, "-m", *HOTPOT, "arch=bm25,none", "hydra.launcher.workers=2")
    assert done.status == 1
    assert done.err.count("Traceback") == done.err.count("KeyError: 'ours'") == 1


def test_no_job_waits_for_an_upload() -> None:
    told: list[str] = []
    free = threading.Event()

    class Uploading(Listener):
        def run_ended(self, plan: Any, directory: Path, sweep: Path | None) -> None:
            assert free.wait(10)
            told.append(directory.name)
            if directory.name == "b":
                raise KeyError("ours")

    def upload(names: str, error: BaseException | None = None) -> None:
        plan: Any = None
        with Aside(Uploading()) as aside:
            for name in names:
                aside.run_ended(plan, Path(name), None)
            threading.Timer(0.2, free.set).start()
            if error:
                raise error

    with pytest.raises(KeyError):
        upload("abc")
    assert told == ["a", "b", "c"]
    free.clear()
    with pytest.raises(KeyboardInterrupt):
        upload("def", KeyboardInterrupt())
    assert told[3:] in ([], ["d"])


@pytest.mark.slow
def test_a_model_in_the_process_has_one_worker_and_the_reason_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(find("budget", "ratio").cls, "in_process", True, raising=False)
    given = ("-m", *HOTPOT, "arch=bm25,none", "hydra.launcher.workers=2", "hydra.sweep.dir=s")
    done = run(capsys, *given)
    assert done.status == 0
    assert done.err == "one job after the other: budget=tight is loaded in the process\n"
    log = (next(tmp_path.glob("s/*/job.log"))).read_text(encoding="utf-8")
    assert "ended: finished" in log


class _Heard:
    """A connection whose last message was heard, and who heard it ends this process meanwhile."""

    def recv(self) -> int:
        return 0

    def send(self, told: object) -> None:
        raise KeyboardInterrupt


def test_a_worker_that_is_ended_while_it_says_its_last_word_leaves_no_traceback(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert _life_of(_Heard()) == 0
    assert capfd.readouterr().err == ""


def _life_of(boss: object) -> int | None:
    """Exit status of a worker of this process."""
    alive, held = os.pipe()
    here = os.dup(held)
    given = (boss, (), alive, here, lambda job, tell: None)
    process = multiprocessing.get_context("fork").Process(target=workers._work, args=given)
    process.start()
    process.join(30)
    for end in (alive, held, here):
        os.close(end)
    return process.exitcode
