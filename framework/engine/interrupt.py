"""Ctrl-C as people expect it: the first lets what is under way end, the second stops at once."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from framework.pipeline.concurrency import CancelToken

_log = logging.getLogger(__name__)


@contextmanager
def graceful_stop(token: CancelToken) -> Iterator[Callable[[], bool]]:
    """Inside, in a running loop, the first SIGINT cancels `token` and the second the task.

    Yields whether there was one. Where signals can't be caught, as in a thread, nothing changes.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    count = 0

    def interrupt() -> None:
        nonlocal count
        count += 1
        token.cancel()
        if count == 1:
            _log.warning("interrupted: finishing what is under way; again to stop now")
        elif task is not None:
            task.cancel()

    try:
        loop.add_signal_handler(signal.SIGINT, interrupt)
    except (NotImplementedError, RuntimeError, ValueError):
        # No handler on this platform, or not in the main thread: Ctrl-C stops at once, as usual.
        yield lambda: False
        return
    try:
        yield lambda: count > 0
    except asyncio.CancelledError:
        if count < 2:
            raise
        raise KeyboardInterrupt from None
    finally:
        loop.remove_signal_handler(signal.SIGINT)
