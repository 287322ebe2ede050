"""Jobs so many at a time, until there are none left or no more are begun."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, TypeVar

from framework.errors import StopRun

T = TypeVar("T")


class CancelToken:
    """Asks work to stop gracefully: nothing new is begun, and what is under way ends."""

    def __init__(self) -> None:
        self.cancelled = False

    def cancel(self) -> None:
        """Begin nothing new from here on."""
        self.cancelled = True


async def bounded(
    jobs: Iterator[Callable[[], Coroutine[Any, Any, T]]], places: int, token: CancelToken
) -> AsyncIterator[T]:
    """The results of jobs as they finish, `places` of them under way.

    A job is taken only as a place falls free. Once `token` is cancelled none is begun, and those
    under way end. Raises StopRun, which cancels it, when the others have ended, and at once what
    else a job raises.
    """
    pending: set[asyncio.Task[T]] = set()
    stopped: StopRun | None = None
    try:
        while True:
            while (
                not token.cancelled
                and len(pending) < places
                and (job := next(jobs, None)) is not None
            ):
                pending.add(asyncio.create_task(job()))
            if not pending:
                break
            finished, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            for task in finished:
                error = task.exception()
                if isinstance(error, StopRun):
                    stopped = stopped or error
                    token.cancel()
                else:
                    yield task.result()
        if stopped is not None:
            raise stopped
    finally:
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)  # each has closed what it opened


def is_cancelled() -> bool:
    """Whether the task that asks is being cancelled, and does not only say so."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
