"""The Depth paper's formulas: where each stands, what it rests on, how far it is settled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from framework.contracts.recipe import AddFigure, Recipe
from framework.registry import register
from framework.reporting.blocks import Block, Table

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
        )
        return function

    return decorate


def laws() -> tuple[Law, ...]:
    """Every formula, in the order of the modules `_information`, `_hops` and `_scatter`."""
    from plugins.recipes.depth import _hops, _information, _scatter

    modules = (_information, _hops, _scatter)
    return tuple(_laws[name] for module in modules for name in vars(module) if name in _laws)


@register("recipe", "depth/laws")
class Laws(Recipe):
    """The theory's formulas, and where each stands.

    None of them measures anything.
    """

    source = "Depth, sections 3, 8 and 9"
    needs = ""

    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        yield Table(
            anchor="laws",
            caption="Proven: a theorem, given its assumptions. Calibrated: its constants are "
            "fitted to the recall that it then describes. Under-identified: other laws fit as well "
            "at the depths that the paper measured.",
            columns=("function", "source", "standing", "unit", "meaning", "assumes"),
            rows=[
                [law.name, law.source, law.standing, law.unit, law.meaning, "; ".join(law.assumes)]
                for law in laws()
            ],
        )
