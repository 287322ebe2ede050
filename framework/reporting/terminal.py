"""Blocks of a page in the terminal, within its width: nothing of a number is ever cut off."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from framework.reporting.blocks import (
    Block,
    Cell,
    Details,
    Figure,
    Heading,
    Listing,
    Note,
    Table,
    Text,
    is_numeric,
)

_GAP: Final = "  "
_WIDEST_PROSE: Final = 100
_NARROWEST: Final = 12
"""Characters to which a column of words is narrowed before a table is taken apart."""
_LONGEST_WORD: Final = 40
"""Characters of a word that stays in one piece."""


def width() -> int:
    """Columns of the terminal, or COLUMNS; 80 where output goes elsewhere."""
    return max(40, shutil.get_terminal_size((80, 24)).columns)


def wrapped(text: str, first: str = "", rest: str = "") -> str:
    """A text in lines of the terminal's width, `first` before it and `rest` before later lines."""
    fill = textwrap.TextWrapper(
        min(width(), _WIDEST_PROSE),
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,  # a path or a command is copied whole
        break_on_hyphens=False,
    )
    return "\n".join(fill.fill(line) if line else first.rstrip() for line in text.split("\n"))


def print_blocks(blocks: Iterable[Block], *, folded: bool = True) -> None:
    """Print blocks in order; figures are left to the page, and if `folded`, what is folded away."""
    for block in blocks:
        match block:
            case Heading(text):
                print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n{text}")
            case Text(text) | Note(text):
                print(wrapped(text))
            case Listing(items):
                for item in items:
                    print(wrapped(item, "- ", "  "))
            case Table():
                print("\n".join(table_lines(block, width())))
            case Details(summary, inner):
                if folded:
                    print(wrapped(f"({summary}: on the page)"))
                else:
                    print_blocks(inner, folded=False)
            case Figure():
                pass


_PART: Final = re.compile(r"[^\s_]*_|[^\s_]+\s*|\s+")
"""What of a heading stays in one piece."""


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of a table: its heading and the lines of each cell.

    words : whether its cells may break between words, which numbers never do.
    """

    name: str
    cells: Sequence[Sequence[str]]
    words: bool
    width: int = 0

    @property
    def content(self) -> int:
        """The width of its widest cell."""
        return max((len(line) for cell in self.cells for line in cell), default=0)

    @property
    def natural(self) -> int:
        """Its width with nothing broken."""
        return max(len(self.name), self.content)

    @property
    def least(self) -> int:
        """The width below which it can't go."""
        heading = max(map(len, _PART.findall(self.name.strip())), default=0)
        if not self.words:
            return max(heading, self.content)
        words = (len(word) for cell in self.cells for line in cell for word in line.split())
        longest = min(max(words, default=0), _LONGEST_WORD)
        return max(heading, longest, min(self.content, _NARROWEST))


def table_lines(table: Table, room: int) -> Iterator[str]:
    """A table as lines of at most `room` characters.

    Where its columns do not fit beside each other, words break into lines, then intervals go under
    their means, then the table goes on below, with the columns that name its rows again.
    """
    yield ""
    yield from wrapped(table.caption).split("\n")
    for broken in (False, True):
        columns = [_column(table, i, broken) for i in range(len(table.columns))]
        fitted = _fitted(columns, room)
        if fitted is not None:
            yield from _lines(fitted)
            return
    keys = next((i for i, column in enumerate(columns) if not column.words), 1) or 1
    named, rest = columns[:keys], columns[keys:]
    while rest:
        n = len(rest)
        while n > 1 and _fitted([*named, *rest[:n]], room) is None:
            n -= 1
        part = [*named, *rest[:n]]
        yield from _lines(_fitted(part, room) or [replace(c, width=c.least) for c in part])
        rest = rest[n:]
        if rest:
            yield ""


def _column(table: Table, i: int, broken: bool) -> _Column:
    cells = [row[i] for row in table.rows]
    numeric = i > 0 and is_numeric(cells)
    return _Column(table.columns[i], [_cell(cell, broken) for cell in cells], words=not numeric)


def _cell(cell: Cell | str, broken: bool) -> list[str]:
    if isinstance(cell, str):
        return [cell]
    parts = cell.brief.split(" ", 1) if cell.brief else [cell.text, cell.under]
    parts = [part for part in parts if part]
    return parts if broken else [" ".join(parts)]


def _fitted(columns: Sequence[_Column], room: int) -> list[_Column] | None:
    """The columns with their widths; None where they do not fit."""
    widths = [column.natural for column in columns]
    over = sum(widths) + len(_GAP) * (len(columns) - 1) - room
    while over > 0:
        slack = [w - c.least for w, c in zip(widths, columns, strict=True)]
        i = max(range(len(columns)), key=lambda i: (slack[i] > 0, widths[i]))
        if slack[i] <= 0:
            return None
        widths[i] -= 1
        over -= 1
    return [replace(c, width=w) for c, w in zip(columns, widths, strict=True)]


def _lines(columns: Sequence[_Column]) -> Iterator[str]:
    yield from _row(columns, [_heading(column) for column in columns], bottom=True)
    yield _GAP.join("─" * column.width for column in columns)
    for cells in zip(*(column.cells for column in columns), strict=True):
        yield from _row(columns, list(map(_broken, cells, columns)))


def _row(
    columns: Sequence[_Column], cells: Sequence[Sequence[str]], bottom: bool = False
) -> Iterator[str]:
    height = max(map(len, cells), default=0)
    for n in range(height):
        line = []
        for column, cell in zip(columns, cells, strict=True):
            at = n - (height - len(cell)) if bottom else n
            text = cell[at] if 0 <= at < len(cell) else ""
            line.append(text.ljust(column.width) if column.words else text.rjust(column.width))
        yield _GAP.join(line).rstrip()


def _heading(column: _Column) -> list[str]:
    """A column's name, which may break after an underscore and between words."""
    lines = [""]
    for part in _PART.findall(column.name):
        if lines[-1] and len((lines[-1] + part).rstrip()) > column.width:
            lines.append("")
        lines[-1] += part
    return [line.rstrip() for line in lines]


def _broken(cell: Sequence[str], column: _Column) -> list[str]:
    if not column.words:
        return list(cell)
    return [part for line in cell for part in _words(line, column.width)]


def _words(line: str, room: int) -> list[str]:
    return textwrap.wrap(line, room, break_on_hyphens=False) or [""]
