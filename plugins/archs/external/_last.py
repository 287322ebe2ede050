"""The last answer of a system whose run was killed before it recorded it.

A file beside the exchanges, one for each running system: the key of what the arm asks for, which
the arm writes before it asks; and below it, once the arm is gone, the question and its answer,
which the keeper writes (_keeper.py). The keeper has the file locked until it has ended.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from framework.store.processes import is_gone, this

_SUFFIX: Final = ".last"
_POLL_S: Final = 0.05
_LINES: Final = 3


class Last:
    """Where the keeper of one running system leaves its last answer."""

    __slots__ = ("_file", "path")

    def __init__(self, exchanges: Path) -> None:
        exchanges.parent.mkdir(parents=True, exist_ok=True)
        self.path = exchanges.with_name(
            f"{exchanges.name}.{this()}.{uuid.uuid4().hex[:8]}{_SUFFIX}"
        )
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def note(self, key: str) -> None:
        """Say what is asked for next. Keys have one length, so that each takes the place of one."""
        os.pwrite(self._file, f"{key}\n".encode(), 0)

    def close(self) -> None:
        """There is nothing to leave."""
        self.path.unlink(missing_ok=True)
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


@dataclass(frozen=True, slots=True)
class Left:
    """A question and its answer, as lines, and the file that they are in until it is recorded."""

    path: Path
    question: bytes
    answer: bytes


def left(exchanges: Path, seconds: float, is_known: Callable[[str], bool]) -> dict[str, Left]:
    """What runs that are gone left, by key; files with nothing, or what is known, are removed.

    A keeper that still waits for an answer is waited for, at most so long.
    """
    found = {}
    for path in exchanges.parent.glob(f"{exchanges.name}.*{_SUFFIX}"):
        if not is_gone(path.name.removeprefix(f"{exchanges.name}.").partition(".")[0]):
            continue
        with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
            _wait(file.fileno(), seconds)
            key, *lines = file.read().split(b"\n", _LINES - 1)
            if len(lines) == _LINES - 1 and lines[-1].endswith(b"\n"):
                known = key.decode(errors="replace")
                if not is_known(known):
                    found[known] = Left(path, lines[0] + b"\n", lines[1])
                    continue
            path.unlink(missing_ok=True)
    return found


def _wait(descriptor: int, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return
        time.sleep(_POLL_S)
