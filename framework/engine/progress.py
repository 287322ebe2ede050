"""Progress on the terminal; nothing where there is none."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from framework.records import Row


class Progress:
    """One line a run: cases done, rate, time left. Quiet when stderr is not a terminal."""

    def __init__(self, shown: bool) -> None:
        self._shown = shown

    @classmethod
    def auto(cls) -> Progress:
        """Shown when stderr is a terminal."""
        return cls(sys.stderr.isatty())

    @classmethod
    def quiet(cls) -> Progress:
        """Never shown."""
        return cls(False)

    @contextmanager
    def run(
        self, arm: str, budget: str, total: int | None, done: int
    ) -> Iterator[Callable[[Row], None]]:
        """A function to be called with each row."""
        if not self._shown:
            yield lambda row: None
            return
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[errors]}"),
        )
        console = Console(stderr=True)
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task(f"{arm} {budget}", total=total, completed=done, errors="")
            errors = 0

            def step(row: Row) -> None:
                nonlocal errors
                errors += bool(row.error)
                bar.update(task, advance=1, errors=f"{errors} failed" if errors else "")

            yield step
