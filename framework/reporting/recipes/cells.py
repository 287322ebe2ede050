"""Cells that set a measured number beside a printed one."""

from __future__ import annotations

from framework.published import printed_number
from framework.reanalysis.tables import Cell as Published
from framework.reporting.report.blocks import NOTHING, Cell

__all__ = ["against", "beside"]


def beside(cell: Published) -> Cell:
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


def against(value: float | None, printed: str, digits: int = 3) -> Cell:
    """A measured number, and under it what is printed with the difference."""
    text = "" if value is None else f"{value:.{digits}f}"
    return beside(Published(value=value, text=text, printed=printed))
