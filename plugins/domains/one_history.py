"""Domains whose cases are all asked of one history that is held in memory."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Generic, TypeVar

from framework.contracts import Domain
from framework.records import Case, Event
from framework.text.tokens import count_tokens

S = TypeVar("S")
Q = TypeVar("Q")


class OneHistory(Domain[S], Generic[S, Q]):
    """One history, `history_name`, and a case for each question, in order; the seed plays no part.

    A subclass calls `hold` once when it is made.
    """

    history_name: ClassVar[str]

    def hold(self, digest: str, events: Mapping[str, Event], asked: Sequence[Q]) -> None:
        """Keep what the cases are made from.

        digest : of the files that were read. events : by id, in order of arrival.
        """
        self._digest, self._events, self._asked = digest, events, asked
        self._nominal_tokens = sum(count_tokens(event.text) for event in events.values())

    @property
    def nominal_tokens(self) -> int:
        """Tokens of the whole history."""
        return self._nominal_tokens

    def digest(self) -> str:
        return self._digest

    def history(self, history_id: str) -> Iterator[Event]:
        """The events in order. Raises KeyError for another history."""
        if history_id != self.history_name:
            raise KeyError(history_id)
        return iter(self._events.values())

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        return (self.case(one) for one in self._asked[:n])

    @abstractmethod
    def case(self, asked: Q) -> Case:
        """The case of a question."""
