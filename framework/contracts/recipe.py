"""Recipes: a paper's tables and figures from measured or recorded rows, beside what was printed.

A recipe makes blocks of a page from directories of runs and sweeps, or from recorded rows. What a
paper prints is never drawn as measured: it stands in tables, with the difference. A reanalysis
makes a paper's tables from the rows that its authors recorded, as published and corrected. A
convention is a paper's own way to compare arms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from framework.contracts.section import AddFigure as AddFigure


class Recipe(ABC):
    """One table or figure. The first line of the class's docstring is its title.

    name : `paper/what`. source : where in the paper. needs : what to give it, with the command that
        makes it; empty for a page that is made of nothing.
    """

    name: ClassVar[str]
    source: ClassVar[str]
    needs: ClassVar[str]

    @abstractmethod
    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Any]:
        """Blocks of a page (`framework.reporting.report.blocks`), the same for the same sources.

        Raises UserError where the sources lack what is needed.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedCell:
    """One number. `text` is how it is shown; `printed` what the paper shows, "" where it doesn't.

    `drawn` marks a number that depends on the order of random draws.
    """

    value: float | None
    text: str
    printed: str = ""
    drawn: bool = False

    @property
    def reproduced(self) -> bool | None:
        """Whether the value rounds to what is printed; ``None`` where nothing is printed."""
        if not self.printed:
            return None
        digits = len(self.printed.partition(".")[2])
        # A value that lies between two roundings may have been rounded either way.
        return (
            self.value is not None
            and abs(self.value - float(self.printed)) <= 0.5 * 10**-digits + 1e-9
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedTable:
    """A table: the paper's number, a title, and rows of a label and cells under `columns`."""

    number: int | str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[PrintedCell, ...]], ...]

    @property
    def cells(self) -> Iterable[tuple[str, str, PrintedCell]]:
        """(row label, column, cell) of every cell."""
        for label, cells in self.rows:
            for name, cell in zip(self.columns, cells, strict=True):
                yield label, name, cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Reanalyzed:
    """A paper's tables in its own conventions and corrected, and what the correction changes."""

    published: Sequence[PrintedTable]
    corrected: Sequence[PrintedTable]
    changes: Sequence[str]


class Reanalysis(ABC):
    """A paper's results recomputed from its recorded rows; named for the paper."""

    name: ClassVar[str]

    @abstractmethod
    def reanalyze(self, path: Path) -> Reanalyzed:
        """Both conventions. Raises UserError or DataError for a path that is no such record."""

    def rows(self, path: Path) -> Sequence[Mapping[str, Any]] | None:
        """The recorded rows as a pre-registration judges them; None where there are none.

        Each has `case_id`, `arm`, `budget`, `cluster` and `axes` (name -> value).
        """
        return None


class Convention(ABC):
    """A paper's own way to compare arms: to reproduce its tables, not to conclude."""

    name: ClassVar[str]

    @abstractmethod
    def compare(
        self, rows: Iterable[Mapping[str, Any]], axes: Sequence[str], baseline: str | None
    ) -> list[dict[str, Any]]:
        """Every pair of arms on each axis, or every arm against the baseline.

        rows : as `framework.statistics.comparison.case_means` takes them. An entry has `arm_a`,
        `arm_b`, `axis`, `mean_a`, `mean_b`, `delta`, `low`, `high`, `permutation_p`, `mcnemar_p`,
        `cohens_h` and `n`. Raises UserError for an unknown baseline, or arms on different cases.
        """
