"""Guarded operators: evidence-use behaviours that fire on detected structure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, TypeVar

from framework.records import Answer, MemoryView, TaskCard
from framework.registry import NoSettings

S = TypeVar("S")


class Operator(ABC, Generic[S]):
    """A deterministic step between reader and answer, which acts where its detector fires.

    What a clause of a prompt asks for always, an operator does where the view has the structure
    that calls for it (Regimes 8.3). It sees the task card, the view and the reader's answer.

    operation : the operation whose tasks it understands; it is not asked about others.

    One that reads as a rule does stands in the package of that rule: plugin groups do not import
    each other.
    """

    name: ClassVar[str]
    operation: ClassVar[str]
    Settings: ClassVar[type[Any]] = NoSettings

    def __init__(self, settings: S) -> None:
        self.settings = settings

    @abstractmethod
    def detects(self, task: TaskCard, view: MemoryView, answer: Answer) -> bool:
        """Whether the structure is there that calls for it."""

    @abstractmethod
    def act(self, task: TaskCard, view: MemoryView, answer: Answer) -> Answer:
        """The answer in place of the reader's. Asked only where it detects."""
