"""Figures: each a function from a group of jobs to a drawing, or None without data."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from framework.analysis.evidence import Group
    from framework.reporting.figures.style import Drawing

FIGURES: Final[Mapping[str, str]] = {
    "forest": "forest",
    "decomposition": "shares",
    "failures": "shares",
    "commitment": "planes",
    "risk_coverage": "planes",
    "reliability": "planes",
    "pareto": "planes",
    "strata": "parts",
    "depth": "parts",
    "ranks": "ranks",
}
"""Figures of a group of jobs by name: the module whose function of that name makes it."""


def figure(name: str) -> Callable[[Group], Drawing | None]:
    """The function that draws a figure. Raises KeyError for an unknown name."""
    module = importlib.import_module(f"{__name__}.{FIGURES[name]}")
    draw: Callable[[Group], Drawing | None] = getattr(module, name)
    return draw
