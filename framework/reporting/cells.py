"""Numbers as cells: shown with three digits, held exactly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from framework.reporting.blocks import NOTHING, Cell
from framework.reporting.format import DAGGER, interval, number, p_value, signed
from framework.statistics.intervals import Interval

UNDEFINED: Final = Cell(text=NOTHING, tone="quiet")


def entry_cell(entry: Mapping[str, Any] | None) -> Cell:
    """An axis of summary.json: the mean over its interval; a dagger where it is no finding."""
    if entry is None or entry["mean"] is None:
        return UNDEFINED
    mark = DAGGER if entry.get("kind") == "instrument check" else ""
    under = "" if entry["ci_low"] is None else interval(entry)
    return Cell(text=f"{number(entry['mean'])}{mark}", under=under, value=float(entry["mean"]))


def interval_cell(found: Interval) -> Cell:
    """A mean with its interval."""
    if found.mean is None:
        return UNDEFINED
    under = "" if found.low is None else f"[{found.low:.3f}, {found.high:.3f}]"
    return Cell(text=number(found.mean), under=under, value=found.mean)


def delta(row: Mapping[str, Any]) -> Cell:
    """A paired difference over its interval."""
    if row["delta"] is None:
        return UNDEFINED
    under = "" if row["ci_low"] is None else interval(row)
    return Cell(text=signed(row["delta"]), under=under, value=float(row["delta"]))


def p_cell(value: float | None) -> Cell:
    """A p-value."""
    return UNDEFINED if value is None else Cell(text=p_value(value), value=float(value))


def number_cell(value: float | None, digits: int = 3) -> Cell:
    """A number with so many decimals."""
    if value is None:
        return UNDEFINED
    return Cell(text=f"{value:,.{digits}f}", value=float(value))


def count(value: float | None) -> Cell:
    """A whole number, or one shown as such."""
    return number_cell(value, 0)


def yes_no(value: object) -> Cell:
    """`yes`, or a quiet `no`."""
    return Cell(text="yes") if value else Cell(text="no", tone="quiet")
