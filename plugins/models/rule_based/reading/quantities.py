"""Values as numbers and dates to compare and compute with, and back as text."""

from __future__ import annotations

from datetime import date
from typing import Final

from framework.text.values import Value, parse_value

Quantity = float | date | str
"""What a value is compared as: numbers and dates in order, everything else as text."""

_NUMERIC: Final = frozenset({"money", "percent", "score", "count"})


def quantity_of(value: Value) -> Quantity:
    """A value as a number, a date or its canonical text."""
    if value.type in _NUMERIC:
        return float(value.canonical)
    if value.type == "date":
        return date.fromisoformat(value.canonical)
    return value.canonical


def value_from(number: float, type_: str, unit: str = "") -> Value | None:
    """A computed number as a value of `type_`, to two decimals, percentages in percent points.

    None for a type that has no numbers.
    """
    if type_ not in _NUMERIC:
        return None
    return parse_value(as_text(number, type_, unit), type_)


def as_text(number: float, type_: str, unit: str = "") -> str:
    """A number as a document writes it: `$1,234.50`, `33.4%`, `14 days`, `779`."""
    rounded = round(number, 2)
    if type_ == "money":
        sign, amount = ("-" if rounded < 0 else ""), abs(rounded)
        return f"{sign}${amount:,.0f}" if amount == int(amount) else f"{sign}${amount:,.2f}"
    plain = f"{rounded:.2f}".rstrip("0").rstrip(".")
    plain = "0" if plain == "-0" else plain
    if type_ == "percent":
        return f"{plain}%"
    if unit:
        return f"{plain} {unit}" if rounded == 1 else f"{plain} {unit}s"
    return plain
