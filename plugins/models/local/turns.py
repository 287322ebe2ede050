"""As many requests at a time on a machine as it has cores for, whichever run asks."""

from __future__ import annotations

import asyncio
import fcntl
import os
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from framework.engine.workers import cores
from framework.errors import UserError

_POLL_S: Final = 0.05


def at_once(threads: int) -> int:
    """Answers that this machine can compute at once, each with so many threads: 1 at least."""
    return max(1, cores() // threads)


@asynccontextmanager
async def turn(waits: Callable[[], None], threads: int) -> AsyncIterator[None]:
    """Hold as many of the machine's cores as there are threads, or all that it has.

    waits : called, once, where others have them. Who asks again does not pass who waits; a killed
    run holds none. Files of this user in the directory of temporary files are the locks: one a
    core, and one of who is next. Raises UserError where they can't be opened.
    """
    there = cores()
    needed, held, told = min(threads, there), dict[int, int](), False

    async def until(taken: Callable[[], bool]) -> None:
        nonlocal told
        while not taken():
            if not told:
                told = True
                waits()
            await asyncio.sleep(_POLL_S)

    def enough() -> bool:
        for core in range(there):
            if len(held) < needed and core not in held:
                file = _opened(f"core-{core}")
                if _locked(file):
                    held[core] = file
                else:
                    os.close(file)
        return len(held) == needed

    try:
        # Only who is next looks for cores, so whoever lets go of one and asks again comes after.
        following = _opened("next")
        try:
            await until(lambda: _locked(following))
            await until(enough)
        finally:
            _let_go(following)
        yield
    finally:
        for file in held.values():
            _let_go(file)


def _locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _let_go(file: int) -> None:
    fcntl.flock(file, fcntl.LOCK_UN)  # a process that was forked meanwhile has the file open too
    os.close(file)


def _opened(which: str) -> int:
    path = Path(tempfile.gettempdir()) / f"decisionbench-{os.getuid()}-{which}.lock"
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise UserError(f"model=local: {path}: {error.strerror}") from None
