"""Progress on the terminal; nothing where there is none."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from framework.config import Plan
from framework.engine.listener import Listener
from framework.models.spending import current
from framework.records import Row


class Progress(Listener):
    """One line a run: cases done, rate, spend, time left. Nothing where stderr is no terminal."""

    @contextmanager
    def rows_of(
        self, plan: Plan, expected: int | None, done: int
    ) -> Iterator[Callable[[Row], None]]:
        if not sys.stderr.isatty():
            yield lambda row: None
            return
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as Bar

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
        words = f"{plan.label('arch')} {plan.label('budget')}"
        with Bar(*columns, console=console, transient=True) as bar:
            empty: dict[str, Any] = {"errors": "", "rate": "", "spent": ""}
            task = bar.add_task(words, total=expected, completed=done, **empty)
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
