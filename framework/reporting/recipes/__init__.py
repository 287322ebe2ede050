"""Recipes: the papers' tables and figures from measured or recorded rows, beside what was printed.

A recipe is a function from sources (directories of runs and sweeps, or recorded rows) to blocks
of a page. What a paper prints is never drawn as measured: it stands in tables, with the difference.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from framework.errors import UserError
from framework.registry import nearest

if TYPE_CHECKING:
    from framework.reporting.blocks import Block
    from framework.reporting.figures.style import Drawing

__all__ = ["AddFigure", "Recipe", "find", "needs", "recipe", "recipes"]

_MODULES: Final = (
    "longhorizon",
    "depth",
    "depth_crossover",
    "depth_phase",
    "depth_curves",
    "depth_costs",
    "regimes",
    "operators",
)


class AddFigure(Protocol):
    """Saves a drawing and gives the block that shows it."""

    def __call__(self, drawing: Drawing | None) -> Iterator[Block]:
        """Nothing for no drawing."""
        ...


Make = Callable[[Sequence[Path], AddFigure], Iterator["Block"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One table or figure.

    name : `paper/what`. source : where in the paper. needs : what to give it, with the command that
        makes it. title : what it shows.
    """

    name: str
    source: str
    title: str
    needs: str
    make: Make


_known: Final[dict[str, Recipe]] = {}


def needs(experiment: str) -> str:
    """What a recipe of the Depth paper needs, with the command that makes it."""
    return f"its sweep: python run.py +experiment=depth/{experiment}"


def recipe(name: str, source: str, title: str, needs: str) -> Callable[[Make], Make]:
    """Decorator: make the function known as a recipe."""

    def decorate(make: Make) -> Make:
        assert name not in _known, name
        _known[name] = Recipe(name=name, source=source, title=title, needs=needs, make=make)
        return make

    return decorate


def recipes() -> tuple[Recipe, ...]:
    """Every recipe, by paper in the order of its tables and figures."""
    for module in _MODULES:
        importlib.import_module(f"{__name__}.{module}")
    return tuple(_known.values())


def find(name: str) -> Recipe:
    """The recipe of that name. Raises UserError naming the nearest."""
    known = {found.name: found for found in recipes()}
    if name not in known:
        raise UserError(f"--recipe: no recipe {name!r}{nearest(name, known)}")
    return known[name]
