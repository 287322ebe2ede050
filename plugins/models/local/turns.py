"""One request at a time on a machine, whichever run asks."""

from __future__ import annotations

import asyncio
import fcntl
import os
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from framework.errors import UserError

_POLL_S: Final = 0.05


@asynccontextmanager
async def turn(waits: Callable[[], None]) -> AsyncIterator[None]:
    """Hold the machine's one turn. Who asks again does not pass who waits; a killed run holds none.

    waits : called, once, where another has the turn. Two files of this user in the directory of
    temporary files are the locks. Raises UserError where they can't be opened.
    """
    told = False

    async def taken(file: int) -> None:
        nonlocal told
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if not told:
                    told = True
                    waits()
                await asyncio.sleep(_POLL_S)

    now = _opened("now")
    try:
        # Only who is next looks for the turn, so whoever lets go of it and asks again comes after.
        following = _opened("next")
        try:
            await taken(following)
            await taken(now)
        finally:
            _let_go(following)
        yield
    finally:
        _let_go(now)


def _let_go(file: int) -> None:
    fcntl.flock(file, fcntl.LOCK_UN)  # a process that was forked meanwhile has the file open too
    os.close(file)


def _opened(which: str) -> int:
    path = Path(tempfile.gettempdir()) / f"decisionbench-{os.getuid()}-{which}.lock"
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise UserError(f"model=local: {path}: {error.strerror}") from None
