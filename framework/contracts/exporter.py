"""Exporters: a run's journal in another system's format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar


class Exporter(ABC):
    """Writes a journal for another system. `export RUN --to NAME FILE` calls it.

    opens : the command that opens a file, `{}` being the file's absolute path.
    """

    name: ClassVar[str]
    opens: ClassVar[str]

    @abstractmethod
    def write(self, run: str, events: Iterator[Any], path: Path) -> int:
        """Write a run's `framework.store.JournalEvent`s into a new file; how many they are.

        Raises UserError where there is none, or what it needs is not installed.
        """
