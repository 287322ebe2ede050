"""Sums in whole cents."""

from __future__ import annotations

from collections.abc import Iterable


def format_sum(value: int) -> str:
    """A sum for people: 1234 is 12.34."""
    sign = "-" if value < 0 else ""
    whole, rest = divmod(abs(value), 100)
    return f"{sign}{whole}.{rest:02d}"


def parse_sum(value: str) -> int:
    """A sum that a person typed. Raises ValueError for what is none."""
    whole, _, rest = value.strip().replace(",", ".").partition(".")
    if len(rest) > 2:
        raise ValueError(f"{value!r} has a fraction of a cent")
    return int(whole) * 100 + int((rest or "0").ljust(2, "0"))


def total(values: Iterable[int]) -> int:
    """The sum of sums."""
    return sum(values)


def split(value: int, parts: int) -> list[int]:
    """A sum in equal parts, the first ones a cent larger where it does not come out even."""
    share, rest = divmod(value, parts)
    return [share + (1 if index < rest else 0) for index in range(parts)]


def percent(value: int, rate: int) -> int:
    """A whole percentage of a sum, rounded down."""
    return value * rate // 100
