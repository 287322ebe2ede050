"""Labels by people: a sheet to fill in, and how far the labels agree with those of the machine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar


class Labelling(ABC):
    """What of runs people may label; `label RUN --of NAME` writes its sheet and reads it back.

    It is made of the runs' directories, and raises UserError where they hold nothing to label.

    file : how a sheet's name ends that is not told. title, limits : what stands over the table of
        `compare`: what is beside the labels, and which limits the table gives.
    """

    name: ClassVar[str]
    file: ClassVar[str]
    title: ClassVar[str]
    limits: ClassVar[str]

    @abstractmethod
    def __init__(self, runs: Sequence[Path]) -> None: ...

    @abstractmethod
    def write(self, n: int, seed: int, path: Path) -> Sequence[str]:
        """Write at most `n`, drawn by `seed`, into a new file; lines for whoever labels them.

        The sheet shows nothing of the machine's own labels. Raises UserError for a file that
        exists: it may hold labels.
        """

    @abstractmethod
    def compare(self, path: Path) -> list[dict[str, Any]]:
        """What the labels of a sheet agree in, a row a group.

        `limits` of a row holds, by name, the 95% limits of its figures, or None. Raises UserError
        for labels of other runs, DataError for a label that means nothing.
        """
