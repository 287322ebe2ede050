"""What runs tell whoever watches them. Words for people go to the log of each module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from framework.config import Plan

Step = Callable[[int, int], None]
"""Is told how many rows are new, and how many of them failed."""


class Listener:
    """Watches runs; this one does nothing."""

    @contextmanager
    def rows_of(self, plan: Plan, expected: int | None, done: int) -> Iterator[Step]:
        """Around a run of `expected` rows (None: unknown), of which `done` are there already."""
        yield lambda rows, failed: None

    def run_ended(self, plan: Plan, directory: Path, sweep: Path | None) -> None:
        """A run is finished and on disk: a job of `sweep`, its gate's baseline, or one alone."""
