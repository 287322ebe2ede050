"""A section of a report's page: blocks from the evidence in a run's or sweep's directory.

The page is the framework's own parts and every registered section, by `place`; what is printed at
the end of a run or sweep is the same by `place_at_end`. The modules of sections are imported when a
run is sealed, for the names of figures: what a section needs in order to draw is best imported by
its methods.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

AddFigure = Callable[[Any], Iterator[Any]]
"""Saves a drawing (`framework.reporting.figures.style.Drawing`) and gives the block that shows it;
nothing for None."""


def no_figure(drawing: Any) -> Iterator[Any]:
    """Adds no figure: for what is printed."""
    yield from ()


class Section(ABC):
    """One section of the page, or several that belong together.

    place : where it stands on the page. The framework's parts stand at 200 (results), 800 (budgets
        held equal), 820 (declared inputs), 840 (gates) and 1000 (provenance); sections of one place
        stand in the order of their names.
    place_at_end : where its `at_end` stands. The framework's parts stand at 200 (budget flags) and
        700 (gates).
    paged : whether `at_end` is printed also where a page with everything has been written.
    figures : the files, without their ending, that it may add to the directory of one run. They
        come after the run was sealed, so that its seal names each as one that may come.
    """

    name: ClassVar[str]
    place: ClassVar[int] = 900
    place_at_end: ClassVar[int] = 600
    paged: ClassVar[bool] = False
    figures: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def blocks(self, evidence: Any, add_figure: AddFigure) -> Iterator[Any]:
        """Its heading and blocks (`framework.reporting.blocks`); nothing where it has nothing.

        evidence : `framework.analysis.evidence.Evidence`. The same evidence gives the same blocks.
        """

    def at_end(self, evidence: Any) -> Iterator[Any]:
        """What is printed at the end, of evidence without rows and manifests."""
        yield from ()

    def reported(self, path: Path) -> Iterator[Any]:
        """What is printed after all of that, of what a protocol reports in a directory."""
        yield from ()

    def result_tables(self, path: Path) -> Iterator[Any]:
        """Tables of a sweep's directory that stand for its results in `table`; mostly none."""
        yield from ()

    def runs_beside(self, plan: Mapping[str, Any]) -> Collection[str]:
        """The names of runs beside a sweep's jobs that its plan tells of; mostly none."""
        return ()

    def problems(self, path: Path, plan: Mapping[str, Any]) -> Sequence[str]:
        """What `verify` finds of this in the sweep's directory that its runs do not give."""
        return ()
