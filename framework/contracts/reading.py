"""Budgets and readers: from recalled items to an answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable
from typing import Any, ClassVar, Generic, Literal, TypeVar

from framework.contracts.model import Client
from framework.records import (
    Answer,
    MemoryView,
    TaskCard,
)
from framework.registry import NoSettings

S = TypeVar("S")


class Budget(ABC, Generic[S]):
    """How many tokens a view may hold, and how the last item is packed."""

    name: ClassVar[str]
    Settings: ClassVar[type[Any]] = NoSettings

    def __init__(self, settings: S) -> None:
        self.settings = settings

    @abstractmethod
    def tokens(self, domain: str, nominal_tokens: int) -> int:
        """The limit in tokens for a domain."""

    @property
    def packing(self) -> Literal["truncate", "whole"]:
        """`truncate` cuts the last item at a sentence, `whole` leaves out what does not fit."""
        return "truncate"


class Reader(ABC, Generic[S]):
    """Turns a view into an answer through a model."""

    name: ClassVar[str]
    Settings: ClassVar[type[Any]] = NoSettings

    def __init__(self, settings: S) -> None:
        self.settings = settings

    @abstractmethod
    def answer(
        self, task: TaskCard, view: MemoryView, client: Client
    ) -> Awaitable[Answer] | Answer:
        """The answer to the task from the view alone."""
