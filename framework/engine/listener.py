"""What runs tell whoever watches them. Words for people go to the log of each module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from framework.config import Plan
from framework.records import Row


class Listener:
    """Watches runs; this one does nothing."""

    @contextmanager
    def rows_of(
        self, plan: Plan, expected: int | None, done: int
    ) -> Iterator[Callable[[Row], None]]:
        """Around a run of `expected` rows (None: unknown): a function that is given each new row.

        `done` rows are there already.
        """
        yield lambda row: None

    def run_ended(self, plan: Plan, directory: Path, sweep: Path | None) -> None:
        """A run is finished and on disk: a job of `sweep`, its gate's baseline, or one alone."""
