"""Budgets and readers: from recalled items to an answer."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Sequence
from typing import Any, ClassVar, Literal

from framework.contracts.configured import Configured, S
from framework.contracts.model import Client
from framework.records import Answer, MemoryView, TaskCard


class Budget(Configured[S], group="budget"):
    """How many tokens a view may hold, and how the last item is packed."""

    @abstractmethod
    def tokens(self, domain: str, nominal_tokens: int) -> int:
        """The limit in tokens for a domain."""

    @property
    def packing(self) -> Literal["truncate", "whole"]:
        """`truncate` cuts the last item at a sentence, `whole` leaves out what does not fit."""
        return "truncate"


class Reader(Configured[S], group="reader"):
    """Turns a view into an answer through a model.

    searches : it says what to ask its memory next, at most `rounds` recalls in all. The pipeline
    recalls for it, through the same seams, and packs all that it is shown in any round under the
    one budget (`framework.pipeline.recall`): it never touches the memory itself. A class that
    searches and has no `next_query` can't be defined: ValueError.
    """

    searches: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.searches and cls.next_query is Reader.next_query:
            raise ValueError(f"reader {cls.__name__} searches and has no next_query")

    @abstractmethod
    def answer(
        self, task: TaskCard, view: MemoryView, client: Client
    ) -> Awaitable[Answer] | Answer:
        """The answer to the task from the view alone: of all rounds, where it searches."""

    @property
    def rounds(self) -> int:
        """Recalls at most, the task's own query included."""
        return 1

    def next_query(
        self, task: TaskCard, view: MemoryView, asked: Sequence[str], client: Client
    ) -> Awaitable[str | None] | str | None:
        """What to ask next, having read `view` on the queries `asked`; None to ask no more.

        Only asked of a reader that searches, after every round but the last.
        """
        return None
