"""Probes: what can be checked of an arm before anything is measured with it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from framework.contracts.arch import Arch, ArchContext


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one check found, in words. passed : None where it does not apply, or only tells."""

    name: str
    passed: bool | None
    text: str


class Probe(ABC):
    """Checks arms of one kind. `probe NAME` runs each probe that fits the arm."""

    name: ClassVar[str]

    @abstractmethod
    def fits(self, arch: type[Arch[Any]]) -> bool:
        """Whether there is anything to check of such an arm."""

    @abstractmethod
    def run(
        self, arch: type[Arch[Any]], settings: Any, slow: bool, context: ArchContext | None = None
    ) -> Iterator[Finding]:
        """The findings, each as it is made; the slow checks too, if asked for.

        context : with the models that an arm is given which declares that it uses any.
        """

    def before_run(
        self, arch: type[Arch[Any]], settings: Any, context: Callable[[], ArchContext]
    ) -> Iterable[Finding]:
        """What is found before a run's first case, by default nothing.

        The run keeps it with what it was begun with, and warns of what failed. `context` makes what
        `run` takes, models that nobody has loaded yet.
        """
        return ()
