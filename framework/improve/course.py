"""Where a loop stands, and what it measures with: shared by its course and its attempts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from framework.contracts import Outcome, Target
from framework.improve.events import EventLog
from framework.improve.measure import Bench, Task
from framework.improve.plateau import Plateau
from framework.improve.results import Results
from framework.improve.settings import ImproveSettings
from framework.improve.splits import Splits
from framework.improve.stack import Stack
from framework.records import Case

__all__ = ["Course"]


@dataclass(slots=True, kw_only=True)
class Course:
    """The installed stack, what it came to on OPTIMIZE and CONFIRM, and what was tried on it."""

    settings: ImproveSettings
    target: Target[Any]
    bench: Bench
    log: EventLog
    results: Results
    splits: Splits[Case]
    plateau: Plateau
    stack: Stack = field(default_factory=Stack)
    optimize: tuple[Outcome, ...] = ()
    confirm: tuple[Outcome, ...] = ()
    """Of the bare pipeline."""
    attempts: dict[str, int] = field(default_factory=dict)
    promotions: int = 0
    silent: int = 0
    """Times in a row that the author had nothing to propose."""

    async def evaluate(
        self, purpose: str, stack: Stack, name: str, cases: Sequence[Case]
    ) -> tuple[Outcome, ...]:
        """A stack on cases."""
        task = Task(purpose=purpose, stack=stack, split=name, cases=cases)
        return await self.bench.evaluate(task)

    async def diagnose(self) -> tuple[Outcome, ...]:
        """The installed stack on OPTIMIZE, with what an author may be shown of its failures."""
        return await self.bench.evaluate(
            Task(
                purpose="diagnose",
                stack=self.stack,
                split="optimize",
                cases=self.splits.optimize,
                shown=self.settings.shown_chars,
            )
        )
