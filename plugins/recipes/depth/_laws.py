"""What is said of each formula: where it stands, what it rests on, and how far it is settled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar

Standing = Literal["proven", "calibrated", "under-identified"]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """One formula.

    source : theorem and equation of the Depth paper.
    standing : `proven` (a theorem, given its assumptions), `calibrated` (its constants are fitted
        to the recall that it then describes) or `under-identified` (other laws fit as well at the
        depths that the paper measured).
    assumes : the assumptions, by the paper's number where they have one.
    unit : of the value.
    """

    name: str
    source: str
    standing: Standing
    assumes: tuple[str, ...]
    unit: str
    meaning: str
    module: str


_laws: Final[dict[str, Law]] = {}


def law(
    source: str, standing: Standing, *, unit: str, assumes: tuple[str, ...] = ()
) -> Callable[[F], F]:
    """Decorator: list the function as a law. Its meaning is its docstring's first line."""

    def decorate(function: F) -> F:
        _laws[function.__name__] = Law(
            name=function.__name__,
            source=source,
            standing=standing,
            assumes=assumes,
            unit=unit,
            meaning=(function.__doc__ or "").strip().splitlines()[0],
            module=function.__module__,
        )
        return function

    return decorate


def laws() -> tuple[Law, ...]:
    """Every formula, in the order of the modules `_information`, `_hops` and `_scatter`."""
    from plugins.recipes.depth import _hops, _information, _scatter

    modules = [module.__name__ for module in (_information, _hops, _scatter)]
    return tuple(sorted(_laws.values(), key=lambda found: modules.index(found.module)))
