from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from framework.store import Clock, Journal


@pytest.fixture(scope="session")
def ticking() -> Callable[[int], Clock]:
    """Make a clock of which tick n, from the given one on, is n seconds after the epoch of 2026."""

    def make(first: int = 0) -> Clock:
        ticks = count(first)
        return lambda: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=next(ticks))

    return make


@pytest.fixture
def finished(tmp_path: Path, ticking: Callable[[int], Clock]) -> Path:
    """The journal of a small finished run: six events."""
    path = tmp_path / "journal.jsonl"
    with Journal.create(path, clock=ticking(0)) as journal:
        journal.append("run.started", {"seed": 7, "name": "é\u2028\n"})
        for number in range(4):
            journal.append("case.done", {"case": number, "score": number / 3}, actor="worker")
        journal.finish({"status": "done"})
    return path
