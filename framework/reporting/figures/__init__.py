"""Figures, one module each: a function from a group of jobs to a drawing, or None without data."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from framework.analysis.evidence import Group
    from framework.reporting.figures.style import Drawing

FIGURES: Final[Mapping[str, str]] = {
    "forest": "framework.reporting.figures.forest",
    "decomposition": "framework.reporting.figures.decomposition",
    "failures": "framework.reporting.figures.failures",
    "commitment": "framework.reporting.figures.commitment",
    "risk_coverage": "framework.reporting.figures.risk_coverage",
    "reliability": "framework.reporting.figures.reliability",
    "pareto": "framework.reporting.figures.pareto",
    "strata": "framework.reporting.figures.strata",
    "depth": "framework.reporting.figures.depth",
    "ranks": "framework.reporting.figures.ranks",
}
"""Figures of a group of jobs by name: the module whose `draw` makes it."""


def figure(name: str) -> Callable[[Group], Drawing | None]:
    """The function that draws a figure. Raises KeyError for an unknown name."""
    draw: Callable[[Group], Drawing | None] = importlib.import_module(FIGURES[name]).draw
    return draw
