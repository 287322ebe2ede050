"""Progress on the terminal; nothing where there is none."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from framework.models.spending import current
from framework.records import Row


class Progress:
    """One line a run: cases done, rate, spend, time left. Quiet where stderr is no terminal."""

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
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[spent]}"),
            TextColumn("{task.fields[errors]}"),
        )
        console = Console(stderr=True)
        with Progress(*columns, console=console, transient=True) as bar:
            empty: dict[str, Any] = {"errors": "", "rate": "", "spent": ""}
            task = bar.add_task(f"{arm} {budget}", total=total, completed=done, **empty)
            errors, n, begun = 0, 0, time.monotonic()

            def step(row: Row) -> None:
                nonlocal errors, n
                errors, n = errors + bool(row.error), n + 1
                account = current()
                spent = account.total() if account else None
                bar.update(
                    task,
                    advance=1,
                    rate=f"{n / max(1e-3, time.monotonic() - begun):.1f}/s",
                    spent=f"${spent.usd + spent.lost_usd:.4f}" if spent and spent.calls else "",
                    errors=f"{errors} failed" if errors else "",
                )

            yield step
