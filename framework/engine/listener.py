"""What runs tell whoever watches them. Words for people go to the log of each module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from pathlib import Path
from types import TracebackType
from typing import Any

from framework.config import Plan

Step = Callable[[int, int], None]
"""Is told how many rows are new, and how many of them failed."""


class Listener:
    """Watches runs; this one does nothing."""

    @contextmanager
    def rows_of(self, plan: Plan, expected: int | None, done: int) -> Iterator[Step]:
        """Around a run of about `expected` rows (None: unknown), of which `done` are there."""
        yield lambda rows, failed: None

    def run_ended(self, plan: Plan, directory: Path, sweep: Path | None) -> None:
        """A run is finished and on disk: a job of `sweep`, its gate's baseline, or one alone."""


class Aside(Listener):
    """Tells another listener of ended runs in a thread, in order; whoever tells it never waits.

    Use it as a context: at its end all is told, and what the listener raised is raised. After
    Ctrl-C only what is under way is told.
    """

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._thread = ThreadPoolExecutor(1)
        self._told: list[Future[None]] = []

    def __enter__(self) -> Aside:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._thread.shutdown(cancel_futures=isinstance(error, KeyboardInterrupt))
        if error is None:
            for told in self._told:
                told.result()

    def rows_of(self, plan: Plan, expected: int | None, done: int) -> Any:
        return self._listener.rows_of(plan, expected, done)

    def run_ended(self, plan: Plan, directory: Path, sweep: Path | None) -> None:
        told = self._thread.submit(
            copy_context().run, self._listener.run_ended, plan, directory, sweep
        )
        self._told.append(told)
