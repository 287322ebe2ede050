"""Cases that follow each other: what one leaves is there for the next, if it was written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from framework.records import Case, Event


@runtime_checkable
class Linked(Protocol):
    """A domain whose cases come in series, one after the other.

    `cases` gives those of a series together and in order. In a session the history of each is that
    of before the series; what earlier cases left reaches a memory only where the session writes.
    """

    def series(self, case: Case) -> str:
        """Name of the series that a case is of, which no other series has."""
        ...

    def opened(self, case: Case) -> str:
        """Id of the history before the first case of the case's series."""
        ...

    def left_by(self, case: Case) -> Sequence[Event]:
        """What comes in once the case is over, however its session ended, oldest first."""
        ...
