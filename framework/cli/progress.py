"""Progress on the terminal; nothing where there is none."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from framework.config import Plan
from framework.engine.listener import Listener, Step
from framework.models.spending import current


class Progress(Listener):
    """One line a run: cases done, rate, spend, time left. Nothing where stderr is no terminal.

    Runs side by side share one display.
    """

    def __init__(self) -> None:
        self._bar: Any = None
        self._open = 0

    @contextmanager
    def rows_of(self, plan: Plan, expected: int | None, done: int) -> Iterator[Step]:
        if not sys.stderr.isatty():
            yield lambda rows, failed: None
            return
        words = f"{plan.label('arch')} {plan.label('budget')} {plan.top.part or ''}".rstrip()
        with self._shown() as bar:
            empty: dict[str, Any] = {"errors": "", "rate": "", "spent": ""}
            task = bar.add_task(words, total=expected, completed=done, **empty)
            errors, n, begun = 0, 0, time.monotonic()

            def step(rows: int, failed: int) -> None:
                nonlocal errors, n
                errors, n = errors + failed, n + rows
                account = current()
                spent = account.total() if account else None
                usd = spent.usd + spent.lost_usd if spent else 0.0
                bar.update(
                    task,
                    advance=rows,
                    rate=f"{n / max(1e-3, time.monotonic() - begun):.1f}/s",
                    spent=f"${usd:.4f}" if usd else "",
                    errors=f"{errors} failed" if errors else "",
                )

            try:
                yield step
            finally:
                bar.remove_task(task)

    @contextmanager
    def _shown(self) -> Iterator[Any]:
        """The one display, there while any run is under way."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        if self._bar is None:
            self._bar = Bar(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]}"),
                TimeRemainingColumn(),
                TextColumn("{task.fields[spent]}"),
                TextColumn("{task.fields[errors]}"),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
        self._open += 1
        try:
            yield self._bar
        finally:
            self._open -= 1
            if not self._open:
                self._bar.stop()
                self._bar = None
