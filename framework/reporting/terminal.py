"""Blocks of a page in the terminal: figures and what is folded away are left to the page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable


def terminal() -> Console:
    """Where tables go; a reader that left raises BrokenPipeError."""
    from rich.console import Console

    class Piped(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would end the process here, with a status of its own

    console = Piped(markup=False, highlight=False)
    # Piped output has no width of its own: wide enough that a table's rows stay one line each.
    return console if console.is_terminal else Piped(width=200, markup=False, highlight=False)


def print_blocks(blocks: Iterable[Block]) -> None:
    """Print blocks in order."""
    console = terminal()
    for block in blocks:
        match block:
            case Heading(text):
                console.print(f"\n{text}", style="bold")
            case Text(text) | Note(text):
                console.print(text, soft_wrap=True)
            case Listing(items):
                for item in items:
                    console.print(f"- {item}", soft_wrap=True)
            case Table():
                console.print(_table(block))
            case Details(summary):
                console.print(f"({summary}: in the report)", soft_wrap=True)
            case Figure():
                pass


def _table(table: Table) -> RichTable:
    from rich.table import Table as RichTable
    from rich.text import Text as Plain

    shown = RichTable(title=Plain(table.caption), title_justify="left")
    for i, column in enumerate(table.columns):
        numeric = i > 0 and is_numeric([row[i] for row in table.rows])
        # Names of columns are long where their numbers are short: they may break.
        shown.add_column(
            Plain(column.replace("_", " ")),
            justify="right" if numeric else "left",
            no_wrap=i == 0,
        )
    for row in table.rows:
        shown.add_row(*(Plain(_lines(cell)) for cell in row))
    return shown


def _lines(cell: Cell | str) -> str:
    if isinstance(cell, str):
        return cell
    if cell.brief:
        return cell.brief.replace(" ", "\n", 1)
    return f"{cell.text}\n{cell.under}" if cell.under else cell.text
