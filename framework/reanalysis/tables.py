"""What both conventions give: tables of cells, each with what the paper prints, if it prints it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from framework.published import printed

__all__ = ["Cell", "Table", "as_text", "printed_numbers"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One figure. `text` is how it is shown; `printed` what the paper shows, "" where it doesn't.

    `drawn` marks a figure that depends on the order of random draws.
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
class Table:
    """A table: the paper's number, a title, and rows of a label and cells under `columns`."""

    number: int | str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]

    @property
    def cells(self) -> Iterable[tuple[str, str, Cell]]:
        """(row label, column, cell) of every cell."""
        for label, cells in self.rows:
            for name, cell in zip(self.columns, cells, strict=True):
                yield label, name, cell


def printed_numbers(paper: str) -> dict[str, Any]:
    """The paper's printed numbers by table, as text."""
    return {name: table.values for name, table in printed(paper).items()}


def as_text(table: Table) -> str:
    """The table in aligned plain text."""
    head = ("", *table.columns)
    lines = [head, *((label, *(cell.text for cell in cells)) for label, cells in table.rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    body = "\n".join(_line(line, widths) for line in lines)
    return f"Table {table.number}. {table.title}\n{body}"


def _line(line: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = (text.ljust(width) for text, width in zip(line, widths, strict=True))
    return "  ".join((first, *rest)).rstrip()
