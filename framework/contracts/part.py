"""Parts of a domain's cases: what a run with `part=NAME` measures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from framework.records import Case


class Part(ABC):
    """Chooses some of the cases that a run would have without it, in their order."""

    name: ClassVar[str]

    @abstractmethod
    def of(self, cases: Sequence[Case], seed: int) -> Sequence[Case]:
        """The part's cases, by the run's seed alone. Raises UserError where there are too few."""
