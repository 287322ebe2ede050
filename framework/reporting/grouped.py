"""Sections that say the same of each setting of a sweep: figures, then tables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from framework.contracts.section import AddFigure, Section
from framework.reporting.blocks import Block, Heading

if TYPE_CHECKING:
    from framework.analysis.evidence import Evidence, Group
    from framework.reporting.figures.style import Drawing


class GroupedSection(Section):
    """Figures and tables of each group of the evidence.

    title, anchor : of the heading. draws : names of its figures; that of group 0 is drawn into
        NAME-0.svg and NAME-0.png.
    """

    title: ClassVar[str]
    anchor: ClassVar[str]
    draws: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls.figures = tuple(f"{name}-0" for name in cls.draws)

    def blocks(self, evidence: Evidence, add_figure: AddFigure) -> Iterator[Block]:
        found: list[Block] = []
        for group in evidence.groups:
            if group in evidence.drawn:
                for name in self.draws:
                    found += add_figure(self.draw(name, group))
            found += self.tables(group)
        if found:
            yield Heading(self.title, self.anchor)
            yield from found
        else:
            yield from self.instead(evidence)

    def draw(self, name: str, group: Group) -> Drawing | None:
        """The figure of one of the names in `draws`; None where the group has not what it needs."""
        # Not abstract: a section whose `draws` is empty is never asked, and has tables alone.
        raise NotImplementedError(f"{self.name} draws no {name}")

    @abstractmethod
    def tables(self, group: Group) -> Iterator[Block]:
        """The tables of a group."""

    def instead(self, evidence: Evidence) -> Iterator[Block]:
        """What stands for the section where no group has a figure or a table."""
        yield from ()

    def at_end_of(self, group: Group) -> Iterator[Block]:
        """What of a group is printed at the end, before all that is of the whole sweep."""
        yield from ()
