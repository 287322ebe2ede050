"""Files that are there whole or not at all."""

from __future__ import annotations

import fcntl
import glob
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from framework.errors import UserError
from framework.store.processes import HOST, is_alive


def lock(descriptor: int, seconds: float, what: str) -> None:
    """Hold an open file or directory against other processes until it is closed.

    Raises UserError where another has it for that long.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > end:
                raise UserError(f"{what} has been held for {seconds:g} s by a process") from None
            time.sleep(0.02)


@contextmanager
def held(place: Path, seconds: float, what: str) -> Iterator[None]:
    """Hold a file or directory inside, against other processes. Raises as `lock`, and OSError."""
    descriptor = os.open(place, os.O_RDONLY)
    try:
        lock(descriptor, seconds, what)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def one_at_a_time(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Inside, no other process is inside a block of this path: it waits, however long that takes.

    A file is there meanwhile, which who has it holds and removes; one that a killed process left
    holds nobody. `waiting` is called where another is inside. Raises OSError where no file can be
    made.
    """
    with named(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = _held_at(path, waiting)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        fcntl.flock(descriptor, fcntl.LOCK_UN)  # a process that was forked inside has it open too
        os.close(descriptor)


def _held_at(path: Path, waiting: Callable[[], None]) -> int:
    """The file at `path`, open and held; made where it is not there."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting()
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), path.stat()):
                    return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # who had it has removed it: the one that is there now counts


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Inside, an OSError that names no file, as that of a full disk, names this one."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to, which becomes `path` in one step when the block ends.

    Each block has a draft of its own; what a process of this machine that was killed left is
    removed.
    """
    draft = path.with_name(f".{path.name}.{HOST}-{os.getpid()}-{uuid4().hex[:8]}.draft")
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.draft"):
        whose = left.name.split(".")[-2].split("-")  # of before a draft named its machine: the pid
        if (len(whose) < 3 or whose[0] == HOST) and not _is_there(whose[-2:][0]):
            left.unlink(missing_ok=True)
    try:
        with named(path):
            yield draft
            draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _is_there(pid: str) -> bool:
    return pid.isdecimal() and is_alive(int(pid))


def sync_directory(path: Path) -> None:
    """Have the names in a directory on the disk when this returns. Raises OSError."""
    directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def write_text(path: Path, text: str) -> None:
    """Write a text file in one step."""
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file in one step. Raises ValueError for a number that JSON has not."""
    write_text(path, as_json(content))


def as_json(content: Mapping[str, Any]) -> str:
    """JSON as it stands in files: indented, not escaped, with a line feed at the end."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
