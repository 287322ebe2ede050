"""Environments: what an arm needs beside this package, made by a command or a plugin."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar


class Environments(ABC):
    """The environments of one kind. `env create NAME` asks each kind that fits the arm's settings.

    Each method raises UserError for what can't be done.
    """

    name: ClassVar[str]

    @abstractmethod
    def fits(self, settings: Any) -> bool:
        """Whether an arm with these settings needs one."""

    @abstractmethod
    def create(self, settings: Any) -> Iterator[str]:
        """Make it, where it is not there; a line for each step."""

    @abstractmethod
    def made(self) -> Iterator[str]:
        """A line for each that is there."""

    @abstractmethod
    def remove(self, name: str) -> Iterator[str]:
        """Remove those of a name; a line for each."""
