"""Importers: published corpora of documents, written in the form that a domain reads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar


class Importer(ABC):
    """Converts a corpus as it is published. `import NAME PATH --to FILE` calls it."""

    name: ClassVar[str]

    @abstractmethod
    def write(self, path: Path, target: Path, revision: str) -> str:
        """Write the file and return what it holds, in words.

        revision : of the corpus, for the record; may be empty. Raises DataError where the corpus is
        not what it should be, OSError where the file can't be written.
        """
