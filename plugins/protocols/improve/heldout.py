"""TEST: opened once, after the loop has ended, for the bare pipeline and the final stack."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from framework.contracts import Domain, Outcome, RowKey, Target
from framework.pipeline.path import Record
from framework.records import Case, Row
from framework.text.canonical import digest
from plugins.protocols.improve.evaluator import TEST, Evaluator, Task
from plugins.protocols.improve.events import EventLog
from plugins.protocols.improve.gates import seed_of
from plugins.protocols.improve.results import PairedOutcomes, paired
from plugins.protocols.improve.splits import Splits, clusters_of
from plugins.protocols.improve.stack import Stack

OPENED: Final = "test.opened"
"""The type of the event from which on nothing may be chosen."""


@dataclass(slots=True)
class HeldOutTest:
    """Measures a final stack where nothing was chosen.

    found : by split, the paired outcomes as `improve.json` holds them; and as `opening` what the
    register of openings said. data : digest of what the domain's cases are made from.
    """

    evaluator: Evaluator
    log: EventLog
    target: Target[Any]
    stack: Stack
    splits: Splits[Case]
    seed: int
    data: str
    found: dict[str, dict[str, Any]] = field(default_factory=dict)

    async def open(self, done: frozenset[RowKey]) -> AsyncIterator[tuple[Row, Record]]:
        """Open TEST; rows of the final stack, leaving out the keys in `done`."""
        cases = self.splits.test
        ids = digest([case.id for case in cases])
        said = self.log.open(
            OPENED,
            {"stack": self.stack.digest, "n": len(cases), "digest": ids, "analyses": 1},
            self._content(cases),
        )
        if said.get("register"):  # neither in a dry run nor in one of before there was a register
            self.found["opening"] = dict(said["register"])
        before: tuple[Outcome, ...] = ()
        if self.stack.entries:
            before = await self.evaluator.evaluate(self._task(Stack(), TEST, cases))
        after: list[Outcome] = []
        task = self._task(self.stack, TEST, cases)
        async for outcome, row, record in self.evaluator.measured(task):
            after.append(outcome)
            if row is not None and row.key not in done:
                yield row, record
        self._record(TEST, PairedOutcomes(before or after, after), cases)

    def _content(self, cases: Sequence[Case]) -> str:
        """Digest of what is opened: the domain's data and what is asked of it, in any order."""
        asked = sorted((case.id, case.history_id, case.task.query) for case in cases)
        return digest({"data": self.data, "cases": asked})

    async def whole_pool(self) -> None:
        """The two stacks on all of the pool but OPTIMIZE."""
        splits = self.splits
        await self._compare("whole_pool", (*splits.confirm, *splits.test, *splits.rest))

    async def shifted(self, domain: Domain[Any], n: int) -> None:
        """The two stacks on cases of another distribution, where the target has one.

        Drawn afresh where the domain generates; else those that are TEST's in other words, or of
        its clusters, since the loop has read the others.
        """
        other = self.target.shifted(domain)
        if other is None:
            return
        seed = seed_of(self.seed, "shifted")
        if self.target.generates(domain):
            cases = list(other.cases(n, seed))
        else:
            unread = {case.cluster or case.id for case in self.splits.test}
            found = (c for c in other.cases(None, seed) if (c.cluster or c.id) in unread)
            cases = list(islice(found, n))
        if cases:
            self.evaluator.on(other)
            await self._compare("test_shifted", cases)

    async def _compare(self, name: str, cases: Sequence[Case]) -> None:
        before = after = await self.evaluator.evaluate(self._task(Stack(), name, cases))
        if self.stack.entries:
            after = await self.evaluator.evaluate(self._task(self.stack, name, cases))
        self._record(name, PairedOutcomes(before, after), cases)

    def _task(self, stack: Stack, name: str, cases: Sequence[Case]) -> Task:
        return Task(purpose=TEST, stack=stack, split=name, cases=cases)

    def _record(self, name: str, pairs: PairedOutcomes, cases: Sequence[Case]) -> None:
        found = paired(pairs, clusters_of(cases), self.target.taxonomy, self.seed, name)
        said = self.log.emit("test.recorded", {"split": name, **found})
        self.found[name] = {key: value for key, value in said.items() if key != "split"}
