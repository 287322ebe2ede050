"""Parts of a domain's cases: what a run with `part=NAME` measures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

from framework.errors import UserError
from framework.records import Case


class Part(ABC):
    """Chooses some of the cases that a run would have without it, in their order.

    given : what `part=NAME:GIVEN` says behind the colon. Raises UserError where it fits no part.
    """

    name: ClassVar[str]

    def __init__(self, given: str = "") -> None:
        if given:
            raise UserError(f"part={self.name}:{given}: {self.name} takes no value after a colon")

    @abstractmethod
    def of(self, cases: Iterable[Case], seed: int) -> Iterable[Case]:
        """The part's cases, by the run's seed alone. Raises UserError where there are too few."""

    def about(self, n_cases: int) -> int | None:
        """About how many of so many cases are of the part, for progress; None where unknown."""
        del n_cases
        return None
