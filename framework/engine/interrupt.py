"""Ctrl-C as people expect it: the first lets what is under way end, the second stops at once.

What is under way has a few seconds: a server that does not answer keeps nobody waiting.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from framework.pipeline.concurrency import CancelToken

GRACE_S: Final = 10.0
"""How long what is under way may go on after the first Ctrl-C."""

_log = logging.getLogger(__name__)


@contextmanager
def graceful_stop(token: CancelToken) -> Iterator[Callable[[], bool]]:
    """Inside, in a running loop, the first SIGINT cancels `token`.

    The second cancels the task, or the first where the task goes on for `GRACE_S` after it.

    Yields whether there was one. Where signals can't be caught, as in a thread, nothing changes.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    count = 0
    late: asyncio.TimerHandle | None = None

    def interrupt() -> None:
        nonlocal count, late
        count += 1
        token.cancel()
        if count == 1:
            _log.warning("interrupted: finishing what is under way; again to stop now")
            late = loop.call_later(GRACE_S, interrupt)
        elif task is not None:
            task.cancel()

    try:
        loop.add_signal_handler(signal.SIGINT, interrupt)
    except (NotImplementedError, RuntimeError, ValueError):
        # No handler on this platform, or not in the main thread, as in a notebook or a test of
        # several runs: nothing is to be told, as Ctrl-C then does what it does in any program, it
        # stops at once, and the journal is what a kill leaves, which a resume takes up.
        yield lambda: False
        return
    try:
        yield lambda: count > 0
    except asyncio.CancelledError:
        if count < 2:
            raise
        raise KeyboardInterrupt from None
    finally:
        if late is not None:
            late.cancel()
        loop.remove_signal_handler(signal.SIGINT)
