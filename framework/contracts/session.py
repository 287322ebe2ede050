"""Sessions: tasks that answer back, and one turn of one as the path takes it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from framework.contracts.model import Client
from framework.records import Answer, Case, Event, Item, MemoryView, TaskCard, Usage


@runtime_checkable
class Interactive(Protocol):
    """A domain whose tasks can be worked on over several turns.

    What it says to an answer is what a check, a reviewer or a customer would say: it may tell that
    something is wrong and where it shows, and never states what governs the task.
    """

    def reply(self, case: Case, answer: Answer) -> tuple[bool, str]:
        """Whether an answer settles the task, and what whoever gave it is told."""
        ...

    def reference(self, case: Case) -> Answer | None:
        """An answer that settles the task, for a control; None where none is known."""
        ...

    def tools(self, case: Case) -> Mapping[str, str]:
        """What may be called beside memory: by name, what it does with its argument."""
        ...

    def use(self, case: Case, tool: str, argument: str, answer: Answer | None) -> str:
        """What a tool of `tools` gives back; `answer` is the last that was given, if any."""
        ...


@runtime_checkable
class Guessable(Protocol):
    """An interactive domain that says how far guessing goes: the floor of what a memory earns."""

    def guess(self, case: Case, replies: Sequence[str]) -> Answer:
        """What who sees the task alone would best answer next.

        replies : to the answers that this gave before, oldest first.
        """
        ...


class Turn(Protocol):
    """One turn: what it asks of memory, who answers, and whether the session ends with it.

    number : from 0; the row's. room : tokens that its view may hold where the budget allows more;
    None where nothing else bounds it. written : events written to memory since the history, oldest
    first. wrote : how many of them are new with this turn.
    """

    @property
    def number(self) -> int: ...
    @property
    def room(self) -> int | None: ...
    @property
    def written(self) -> tuple[Event, ...]: ...
    @property
    def wrote(self) -> int: ...
    @property
    def queries(self) -> tuple[str, ...]:
        """What memory was asked in the session so far, oldest first."""
        ...

    async def items(
        self, query: str, recall: Callable[[str], Awaitable[Sequence[Item]]]
    ) -> Sequence[Item]:
        """What is packed into the view, best first; `recall` asks memory, `query` is the task's."""
        ...

    async def answer(self, task: TaskCard, view: MemoryView, client: Client) -> Answer:
        """Act, and give the answer that stands after it, in the place of the run's reader."""
        ...

    def close(self, usage: Mapping[str, Usage]) -> Mapping[str, float | None] | None:
        """Given what the turn took: the session's figures where it ends with it, else None."""
        ...

    def record(self) -> Mapping[str, object]:
        """What was done and what came back, as plain data."""
        ...
