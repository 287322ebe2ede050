"""What a page is made of, before it is HTML or Markdown: both say the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

NOTHING: Final = "–"
"""What stands for an undefined value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell: what is shown, a second line under it, and the exact number that it shows.

    brief : the same in fewer characters, where there is little room.
    """

    text: str
    under: str = ""
    brief: str = ""
    value: float | None = None
    tone: Literal["", "good", "bad", "quiet"] = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """A section's heading; `anchor` is its id on the page, and what the contents link to."""

    text: str
    anchor: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """A paragraph that stands out: what must be known before a number is believed."""

    text: str


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines of a list."""

    items: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table; the first column names the row. `anchor` is its id on the page."""

    anchor: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell | str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure: its files (SVG, PNG), a title, what it shows, and what it says to who can't see it.

    width : of the drawing, in CSS pixels.
    """

    anchor: str
    title: str
    caption: str
    alt: str
    svg: Path
    png: Path
    width: int


@dataclass(frozen=True, slots=True)
class Details:
    """Blocks that are folded away until asked for."""

    summary: str
    blocks: Sequence[Block]


Block = Heading | Text | Note | Listing | Table | Figure | Details


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A whole report. `terms` : what columns and rows of these names mean, for tooltips."""

    title: str
    blocks: Sequence[Block]
    terms: Mapping[str, str] = field(default_factory=dict)


def is_numeric(cells: Sequence[Cell | str]) -> bool:
    """Whether a column holds numbers, or nothing, in most of its cells."""
    known = [c for c in cells if isinstance(c, str) or c.value is not None or c.text != NOTHING]
    numbers = sum(isinstance(cell, Cell) and cell.value is not None for cell in known)
    return numbers * 2 > len(known)
