"""Numbers as cells: shown with few digits, held exactly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from framework.reporting.blocks import NOTHING, Cell
from framework.reporting.format import limits, mark_of, p_value, short_limits

if TYPE_CHECKING:
    from framework.statistics.intervals import Interval

UNDEFINED: Final = Cell(text=NOTHING, tone="quiet")


def bounded(
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    *,
    digits: int = 3,
    sign: str = "",
    mark: str = "",
) -> Cell:
    """A number over its limits, where it has them; `sign` is "+" for differences."""
    if value is None:
        return UNDEFINED
    under = ""
    if low is not None and high is not None:
        under = f"[{', '.join(limits(low, high, digits, sign))}]"
    return Cell(text=f"{value:{sign},.{digits}f}{mark}", under=under, value=float(value))


def entry_cell(entry: Mapping[str, Any] | None) -> Cell:
    """An axis of summary.json: the mean over its interval; with its marks."""
    if entry is None or entry["mean"] is None:
        return UNDEFINED
    mark = mark_of(entry)
    shown = bounded(entry["mean"], entry["ci_low"], entry["ci_high"], mark=mark)
    brief = f"{entry['mean']:.2f}{mark}"
    if shown.under:
        brief += " " + "–".join(short_limits(entry["ci_low"], entry["ci_high"]))
    return Cell(text=shown.text, under=shown.under, brief=brief, value=shown.value)


def interval_cell(found: Interval) -> Cell:
    """A mean with its interval."""
    return bounded(found.mean, found.low, found.high)


def delta(row: Mapping[str, Any]) -> Cell:
    """A paired difference over its interval."""
    return bounded(row["delta"], row["ci_low"], row["ci_high"], sign="+")


def p_cell(value: float | None) -> Cell:
    """A p-value."""
    return UNDEFINED if value is None else Cell(text=p_value(value), value=float(value))


def number_cell(value: float | None, digits: int = 3) -> Cell:
    """A number with so many decimals."""
    return bounded(value, digits=digits)


def count(value: float | None) -> Cell:
    """A whole number, or one shown as such."""
    return bounded(value, digits=0)


def yes_no(value: object) -> Cell:
    """`yes`, or a quiet `no`."""
    return Cell(text="yes") if value else Cell(text="no", tone="quiet")
