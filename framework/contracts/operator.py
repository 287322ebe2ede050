"""Guarded operators: evidence-use behaviours that fire on detected structure."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from framework.contracts.configured import Configured, S
from framework.records import Answer, MemoryView, TaskCard


class Operator(Configured[S]):
    """A deterministic step between reader and answer, which acts where its detector fires.

    What a clause of a prompt asks for always, an operator does where the view has the structure
    that calls for it (Regimes 8.3). It sees the task card, the view and the reader's answer.

    operation : the operation whose tasks it understands; it is not asked about others.

    One that reads as a rule does stands in the package of that rule: plugin groups do not import
    each other.
    """

    operation: ClassVar[str]

    @abstractmethod
    def detects(self, task: TaskCard, view: MemoryView, answer: Answer) -> bool:
        """Whether the structure is there that calls for it."""

    @abstractmethod
    def act(self, task: TaskCard, view: MemoryView, answer: Answer) -> Answer:
        """The answer in place of the reader's. Asked only where it detects."""
