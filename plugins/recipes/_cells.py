"""Cells of measured numbers with their intervals, alone or beside a printed one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from framework.contracts.recipe import PrintedCell, PrintedTable
from framework.reporting.blocks import NOTHING, Cell, Table
from framework.statistics.intervals import Interval
from plugins.recipes._paper_values import Printed, printed_number


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A measured number with its 95% limits, None where undefined or none are claimed."""

    value: float | None
    low: float | None = None
    high: float | None = None

    def times(self, factor: float) -> Measured:
        """In another unit; `factor` is above 0."""
        value, low, high = (None if v is None else v * factor
                            for v in (self.value, self.low, self.high))  # fmt: skip
        return Measured(value=value, low=low, high=high)


UNDEFINED: Final = Measured(value=None)


def measured(entry: Mapping[str, Any] | None) -> Measured:
    """An axis of summary.json; undefined where it is not there."""
    if entry is None:
        return UNDEFINED
    return Measured(value=entry["mean"], low=entry["ci_low"], high=entry["ci_high"])


def of_interval(found: Interval) -> Measured:
    """A mean with its limits."""
    return Measured(value=found.mean, low=found.low, high=found.high)


def stands(found: Measured, bound: float) -> str:
    """What the limits of a number say of a bound: `above`, `below`, or neither."""
    if found.low is None or found.high is None:
        return "no limits"
    if found.high < bound:
        return "below"
    return "above" if found.low > bound else "not told apart"


def shown(found: Measured, digits: int = 2, *, sign: str = "") -> Cell:
    """The number over its limits, where any are claimed. sign : `+` for a difference."""
    if found.value is None:
        return Cell(text=NOTHING)
    under = ""
    if found.low is not None and found.high is not None:
        under = f"{found.low:{sign}.{digits}f} to {found.high:{sign}.{digits}f}"
    return Cell(text=f"{found.value:{sign}.{digits}f}", under=under, value=found.value)


def number(
    value: float | None,
    printed: str = "",
    *,
    digits: int = 3,
    sign: bool = False,
    drawn: bool = False,
) -> PrintedCell:
    """A number of a paper's table; what is undefined is `-`."""
    if value is None or math.isnan(value):
        return PrintedCell(value=None, text="-", printed=printed, drawn=drawn)
    text = f"{value:{'+' if sign else ''}.{digits}f}"
    return PrintedCell(value=value, text=text, printed=printed, drawn=drawn)


def count(value: int, printed: object = "") -> PrintedCell:
    """A whole number of a paper's table."""
    return PrintedCell(value=float(value), text=str(value), printed=str(printed))


def said(text: str) -> PrintedCell:
    """Words in a paper's table."""
    return PrintedCell(value=None, text=text)


def table_block(table: PrintedTable, anchor: str, caption: str) -> Table:
    """A paper's table as a block, each number over what is printed."""
    return Table(
        anchor=anchor,
        caption=f"Table {table.number}. {table.title}{caption}",
        columns=("", *table.columns),
        rows=[[label, *map(beside, cells)] for label, cells in table.rows],
    )


def beside(cell: PrintedCell) -> Cell:
    """The number, and under it what is printed with the difference.

    `same`: it rounds to what is printed.
    """
    text = NOTHING if cell.value is None and cell.text in ("", "-") else cell.text
    number = printed_number(cell.printed)
    if number is None:
        return Cell(text=text, under=cell.printed, value=cell.value)
    under = f"printed {cell.printed}"
    if cell.reproduced:
        under += " (same)"
    elif cell.value is not None:
        digits = max(2, len(cell.printed.partition(".")[2])) if "." in cell.printed else 0
        under += f" ({cell.value - number:+.{digits}f})"
    return Cell(text=text, under=under, value=cell.value)


def as_printed(source: Printed) -> Table:
    """A paper's table as it stands there, where its rows or columns are none of ours."""
    rows = source.values.items() if isinstance(source.values, dict) else source.values
    return Table(
        anchor=f"printed-{source.name.replace('_', '-')}",
        caption=f"{source.source} as the paper prints it ({source.standing}): of another corpus, "
        "budget and model, so that agreement would prove nothing.",
        columns=("", *source.columns),
        rows=[[label, *(value or NOTHING for value in row)] for label, row in rows],
    )


def against(found: Measured, printed: str, digits: int = 3) -> Cell:
    """A measured number, and under it its limits and what is printed with the difference."""
    own = shown(found, digits)
    theirs = beside(PrintedCell(value=found.value, text=own.text, printed=printed))
    under = "; ".join(filter(None, (own.under, theirs.under)))
    return Cell(text=theirs.text, under=under, value=found.value)
