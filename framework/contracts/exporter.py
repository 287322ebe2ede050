"""Exporters: a run in another system's format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from pathlib import Path
from typing import ClassVar


class Exporter(ABC):
    """Writes a run as a file of another system. `export RUN --to NAME FILE` calls it.

    opens : the command that opens a file, `{}` being the file's absolute path. counts : what
    `write` counts, one of them. of_cases : whether chosen cases can be written, not only all.
    """

    name: ClassVar[str]
    opens: ClassVar[str]
    counts: ClassVar[str]
    of_cases: ClassVar[bool]

    @abstractmethod
    def write(self, run: Path, path: Path, cases: Collection[str]) -> int:
        """Write a run's directory into a new file, all cases or those of `cases`; return how many.

        Raises UserError where there is nothing to write, or what it needs is not installed.
        """
