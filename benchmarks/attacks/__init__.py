"""Shortcuts: what can be earned without what the benchmark means to measure.

A module here is one kind of shortcut. It has `attempts(n, seed)`, which tries every shortcut of its
kind on `n` cases of each domain and yields one `Earned` for each figure. `python -m
benchmarks.attacks` finds the modules by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol, cast


@dataclass(frozen=True, slots=True, kw_only=True)
class Earned:
    """What one shortcut earned in one figure, as means over the cases that have a value.

    best : what the best honest arm gets there; None where there is none to compare with.
    allowed : the most that the shortcut may earn; None where it is only shown.
    """

    domain: str
    attack: str
    figure: str
    value: float | None
    best: float | None
    allowed: float | None
    n: int

    @property
    def holds(self) -> bool:
        """Whether the shortcut stays within what is allowed."""
        return self.value is None or self.allowed is None or self.value <= self.allowed + 1e-9


class Kind(Protocol):
    """A module of this package. Its docstring's first line says what kind of shortcut it tries."""

    __doc__: str | None

    def attempts(self, n: int, seed: int) -> Iterator[Earned]:
        """Every shortcut of the kind, on `n` cases of each domain that it concerns."""


def kinds() -> dict[str, Kind]:
    """The kinds of shortcut, by the name of their module."""
    names = [module.name for module in iter_modules(__path__) if not module.name.startswith("_")]
    return {name: cast(Kind, import_module(f"{__name__}.{name}")) for name in sorted(names)}
