"""Commands: `decisionbench NAME` beside the framework's own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from argparse import ArgumentParser, Namespace
from typing import ClassVar


class Command(ABC):
    """A command of a plugin's; the first line of its docstring is its line in `--help`."""

    name: ClassVar[str]

    @abstractmethod
    def arguments(self, parser: ArgumentParser) -> None:
        """Add what it takes. A setting `overrides` may hold `KEY=VALUE` anywhere on the line."""

    @abstractmethod
    def run(self, args: Namespace) -> int:
        """Do it: exit status 0, or 1 where a check failed. Raises UserError for a mistake."""
