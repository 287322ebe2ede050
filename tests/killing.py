"""Starting the command in a process of its own, to its end or until it is killed."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.starting import wait_until_quick

ROOT = Path(__file__).resolve().parent.parent


def command(*argv: str) -> list[str]:
    return [sys.executable, str(ROOT / "run.py"), *argv]


def finish(cwd: Path, *argv: str, statuses: tuple[int, ...] = (0,), timeout: float = 120) -> float:
    """Run to the end, undisturbed, and return the seconds it took."""
    wait_until_quick()
    start = time.monotonic()
    done = subprocess.run(
        command(*argv), cwd=cwd, capture_output=True, text=True, check=False, timeout=timeout
    )
    assert done.returncode in statuses, done.stderr
    return time.monotonic() - start


def kill_after(seconds: float, cwd: Path, *argv: str, statuses: tuple[int, ...] = (0,)) -> bool:
    """Start the command, kill it after so long, and say whether it was still running."""
    end = time.monotonic() + seconds
    return kill_when(lambda: time.monotonic() >= end, cwd, *argv, statuses=statuses)


def kill_when(
    reached: Callable[[], bool], cwd: Path, *argv: str, statuses: tuple[int, ...] = (0,)
) -> bool:
    """Start the command, kill it as soon as `reached`, and say whether it was still running."""
    process = subprocess.Popen(
        command(*argv), cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    while True:
        try:
            _, errors = process.communicate(timeout=0.005)
        except subprocess.TimeoutExpired:
            if not reached():
                continue
            process.send_signal(signal.SIGKILL)
            process.communicate()
            return True
        assert process.returncode in statuses, errors
        return False
