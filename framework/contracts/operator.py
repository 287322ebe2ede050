"""Guarded operators: evidence-use behaviours that fire on detected structure."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable
from dataclasses import replace
from typing import ClassVar, Final

from framework.contracts.awaiting import maybe_await
from framework.contracts.configured import Configured, S
from framework.contracts.model import Client
from framework.records import Answer, MemoryView, TaskCard

ACTED: Final = "operator:"
"""Before the name of an operator that acted, among the answer's provisions."""


class Operator(Configured[S], group="operator"):
    """A step between reader and answer, which acts where its detector fires.

    What a clause of a prompt asks for always, an operator does where the view has the structure
    that calls for it (Regimes 8.3). It sees the task card, the view and the reader's answer, and
    may ask the model; its detector asks none.

    operation : the operation whose tasks it understands; it is not asked about others.
    """

    operation: ClassVar[str]

    @abstractmethod
    def detects(self, task: TaskCard, view: MemoryView, answer: Answer) -> bool:
        """Whether the structure is there that calls for it."""

    @abstractmethod
    def act(
        self, task: TaskCard, view: MemoryView, answer: Answer, client: Client
    ) -> Awaitable[Answer] | Answer:
        """The answer in place of the reader's. Asked only where it detects."""

    async def apply(
        self, task: TaskCard, view: MemoryView, answer: Answer, client: Client
    ) -> Answer | None:
        """What it makes of the answer, marked with `ACTED`; None where it leaves it alone."""
        if self.operation != task.operation or not self.detects(task, view, answer):
            return None
        made = await maybe_await(self.act(task, view, answer, client))
        return replace(made, provisions=(*made.provisions, f"{ACTED}{self.name}"))
