"""Bounds of settings, said where the setting stands: `top_k: Annotated[int, at_least(1)] = 8`.

Settings that inherit from `Bounded` are checked when they are made. Null is within every bound; of
a list or a mapping every value must be. What no bound can say stays in a `__post_init__` of the
class, which calls `Bounded.__post_init__(self)` first.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """Numbers from `low` to `high`; the ends belong to it unless they are open."""

    low: float
    high: float
    open_low: bool
    open_high: bool

    def __contains__(self, value: float) -> bool:  # NaN is in none
        above = self.low < value if self.open_low else self.low <= value
        return above and (value < self.high if self.open_high else value <= self.high)

    def __str__(self) -> str:
        if math.isinf(self.high):
            if self.open_low:
                return f"above {self.low:g}"
            return f"at least {self.low:g}" if self.low else "0 or more"
        if not self.open_low and not self.open_high:
            return f"{self.low:g} to {self.high:g}"
        low = f"above {self.low:g}" if self.open_low else f"at least {self.low:g}"
        return f"{low} and {'below' if self.open_high else 'at most'} {self.high:g}"


def at_least(low: float, *, most: float = math.inf, below: float = math.inf) -> Bound:
    """From `low`, up to `most` (included) or `below` it."""
    return Bound(low=low, high=min(most, below), open_low=False, open_high=below < math.inf)


def above(low: float, *, most: float = math.inf, below: float = math.inf) -> Bound:
    """More than `low`, up to `most` (included) or `below` it."""
    return Bound(low=low, high=min(most, below), open_low=True, open_high=below < math.inf)


class Bounded:
    """Base of dataclasses whose fields say their bounds; raises ValueError when made outside."""

    __slots__ = ()

    def __post_init__(self) -> None:
        cls: Any = type(self)
        for name, bound, null in _bounds(cls):
            for where, value in _values(name, getattr(self, name)):
                if value not in bound:
                    raise ValueError(f"{where}: {value} given, {bound} expected{null}")


@cache
def _bounds(cls: Any) -> tuple[tuple[str, Bound, str], ...]:
    """By setting: its bound, and `, or null` where it may be None."""
    found = []
    for name, hint in typing.get_type_hints(cls, include_extras=True).items():
        for bound in getattr(hint, "__metadata__", ()):
            if isinstance(bound, Bound):
                null = type(None) in typing.get_args(hint.__origin__)
                found.append((name, bound, ", or null" if null else ""))
    return tuple(found)


def _values(name: str, value: Any) -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        yield from ((f"{name}.{key}", each) for key, each in value.items())
    elif isinstance(value, tuple):
        yield from ((name, each) for each in value)
    elif value is not None:
        yield name, value
