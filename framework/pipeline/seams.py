"""The places where a path may be edited, and what an edit there does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from framework.contracts import Client, Query
from framework.records import EMPTY, Answer, Item, MemoryView, TaskCard

OnAnswer = Callable[[TaskCard, MemoryView, Answer, Client], Awaitable[Answer]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seams:
    """The places where a path may be edited (Regimes 3.4, 8.3); the identity by default.

    score : reorders recalled items. assembly : reorders or drops the selected ones before packing.
    reader_prompt : named fragments appended to the instruction of the task card. answer : what
    guarded operators make of the reader's answer.
    """

    score: Callable[[Query, Sequence[Item]], Sequence[Item]] | None = None
    assembly: Callable[[Query, Sequence[Item]], Sequence[Item]] | None = None
    reader_prompt: Mapping[str, str] = EMPTY
    answer: OnAnswer | None = None

    @property
    def of_items(self) -> bool:
        """Whether recalled items pass an edit."""
        return self.score is not None or self.assembly is not None

    def scored(self, query: Query, items: Sequence[Item]) -> Sequence[Item]:
        """The recalled items in the order of the score."""
        return items if self.score is None else self.score(query, items)

    def assembled(self, query: Query, items: Sequence[Item]) -> Sequence[Item]:
        """The items that are packed, in their order."""
        return items if self.assembly is None else self.assembly(query, items)

    def card(self, task: TaskCard) -> TaskCard:
        """The task card as the reader gets it."""
        if not self.reader_prompt:
            return task
        fragments = "\n".join(self.reader_prompt.values())
        return replace(task, instruction=f"{task.instruction}\n{fragments}")
