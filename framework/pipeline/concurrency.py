"""Jobs so many at a time, until there are none left or no more are begun."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Protocol, TypeVar

from framework.errors import StopRun

__all__ = ["Drainable", "bounded"]

T = TypeVar("T")


class Drainable(Protocol):
    """What begins nothing new once `draining` is set."""

    draining: bool


async def bounded(
    jobs: Iterator[Callable[[], Coroutine[Any, Any, T]]], places: int, work: Drainable
) -> AsyncIterator[T]:
    """The results of jobs as they finish, `places` of them under way.

    A job is drawn only as a place falls free. Once `work` is draining none is begun, and those
    under way end. Raises StopRun, which drains `work`, when the others have ended, and at once what
    else a job raises.
    """
    pending: set[asyncio.Task[T]] = set()
    stopped: StopRun | None = None
    try:
        while True:
            while (
                not work.draining
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
                    work.draining = True
                else:
                    yield task.result()
        if stopped is not None:
            raise stopped
    finally:
        for task in pending:
            task.cancel()
