"""TEST: opened once, after the loop has ended, for the bare pipeline and the final stack."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from itertools import islice
from typing import Any

from framework.contracts import Domain, Outcome, RowKey, Target
from framework.improve.events import EventLog
from framework.improve.flips import Flips, flips
from framework.improve.looks import seed_of
from framework.improve.measure import Bench, Task
from framework.improve.results import Results, paired
from framework.improve.splits import Splits, clusters_of
from framework.improve.stack import Stack
from framework.pipeline.path import Record
from framework.records import Case, Row
from framework.text.canonical import digest

__all__ = ["Sealed"]


class Sealed:
    """Measures a final stack where nothing was chosen."""

    def __init__(
        self, bench: Bench, log: EventLog, target: Target[Any], results: Results, seed: int
    ) -> None:
        self._bench = bench
        self._log = log
        self._target = target
        self._results = results
        self._seed = seed

    async def open(
        self, stack: Stack, splits: Splits[Case], done: frozenset[RowKey]
    ) -> AsyncIterator[tuple[Row, Record]]:
        """Open TEST; rows of the final stack, leaving out the keys in `done`."""
        ids = digest([case.id for case in splits.test])
        self._log.emit(
            "test.opened",
            {"stack": stack.digest, "n": len(splits.test), "digest": ids, "looks": 1},
        )
        before: tuple[Outcome, ...] = ()
        if stack.entries:
            before = await self._measured(Stack(), "test", splits.test)
        after: list[Outcome] = []
        task = Task(purpose="test", stack=stack, split="test", cases=splits.test)
        async for outcome, row, record in self._bench.measured(task):
            after.append(outcome)
            if row is not None and row.key not in done:
                yield row, record
        self._tested("test", flips(before or after, after), splits.test)

    async def rest(self, stack: Stack, splits: Splits[Case]) -> None:
        """The two stacks on all of the pool but OPTIMIZE."""
        cases = (*splits.confirm, *splits.test, *splits.rest)
        await self._compare("whole_pool", stack, cases)

    async def shifted(
        self, stack: Stack, domain: Domain[Any], splits: Splits[Case], n: int
    ) -> None:
        """The two stacks on cases of another distribution, where the target has one.

        Drawn afresh where the domain generates; else those that are TEST's in other words, or of
        its clusters, since the loop has read the others.
        """
        other = self._target.shifted(domain)
        if other is None:
            return
        seed = seed_of(self._seed, "shifted")
        if self._target.generates(domain):
            cases = list(other.cases(n, seed))
        else:
            unread = {case.cluster or case.id for case in splits.test}
            found = (c for c in other.cases(None, seed) if (c.cluster or c.id) in unread)
            cases = list(islice(found, n))
        if cases:
            self._bench.on(other)
            await self._compare("test_shifted", stack, cases)

    async def _compare(self, name: str, stack: Stack, cases: Sequence[Case]) -> None:
        before = await self._measured(Stack(), name, cases)
        after = await self._measured(stack, name, cases) if stack.entries else before
        self._tested(name, flips(before, after), cases)

    async def _measured(
        self, stack: Stack, name: str, cases: Sequence[Case]
    ) -> tuple[Outcome, ...]:
        task = Task(purpose="test", stack=stack, split=name, cases=cases)
        return await self._bench.evaluate(task)

    def _tested(self, name: str, pairs: Flips, cases: Sequence[Case]) -> None:
        found = paired(pairs, clusters_of(cases), self._target.taxonomy, self._seed, name)
        said = self._log.emit("test.recorded", {"split": name, **found})
        self._results.tested(name, said)
