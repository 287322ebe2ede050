"""Curves as a figure: one panel an axis, one curve an arm."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from framework.reporting.figures.style import (
    Drawing,
    Mark,
    canvas,
    handles,
    legend,
    legend_height,
    marks,
)
from plugins.recipes.depth._knobs import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_MOST: Final = 7
"""Curves that can still be told apart; of more, some are chosen and the rest are grey."""
_CHOSEN: Final = (
    "typed_graph_pruned",
    "typed_graph",
    "graph_ppr",
    "bm25",
    "dense",
    "paged",
    "rolling_summary",
)
"""One of each family of arms, whatever came out: a graph with and without what prunes it, one
without types, words, embeddings, a memory that pages, a summary."""
_SMALL: Final = 0.4
"""Shares that all stay below have a scale of their own; others one from 0 to 1."""
_GREY: Final = "#cfcfcf"


def draw(
    name: str,
    title: str,
    panels: Mapping[str, Mapping[str, Curve]],
    xlabel: str,
    caption: str,
    *,
    logarithmic: bool = False,
    line: tuple[Sequence[float], Sequence[float]] | None = None,
) -> Drawing:
    """One panel an axis, one curve an arm, with intervals; `line`, in grey, is no measured one.

    Values that are no numbers stand side by side in the order in which they are given, and no line
    joins them where all are such. Curves are set a little apart, so that their intervals show.
    """
    arms = list(dict.fromkeys(arm for curves in panels.values() for arm in curves))
    chosen = _chosen(arms)
    styles = marks(chosen)
    joined = any(not isinstance(p.x, str) for c in panels.values() for f in c.values() for p in f)
    width = 1.0 + 3.7 * len(panels)
    with canvas(width, 3.2 + legend_height(width, chosen), 1, len(panels), sharey=False) as (
        figure,
        drawn,
    ):
        for panel, (axis, curves) in zip(drawn[0], panels.items(), strict=True):
            found = list(dict.fromkeys(p.x for c in curves.values() for p in c))
            # One value that is no number, as null, makes names of them all.
            named = any(isinstance(x, str) for x in found)
            places = {x: float(i if named else x) for i, x in enumerate(found)}
            gap = _gap(list(places.values()), logarithmic)
            for arm, curve in curves.items():
                if arm not in styles:
                    at = [places[p.x] for p in curve]
                    panel.plot(at, [p.mean for p in curve], color=_GREY, lw=0.9, zorder=1)
            here = [arm for arm in chosen if arm in curves]
            for i, arm in enumerate(here):
                off = (i - (len(here) - 1) / 2) * 0.4 * gap / max(len(here), 3)
                at = [_moved(places[p.x], off, logarithmic) for p in curves[arm]]
                _curve(panel, at, curves[arm], styles[arm], joined)
            if line is not None:
                panel.plot(*line, color="#777777", lw=2.5, alpha=0.5, zorder=1)
            if logarithmic:
                panel.set_xscale("log")
            if named:
                panel.set_xticks(
                    range(len(found)), [x if isinstance(x, str) else f"{x:g}" for x in found]
                )
            elif logarithmic or all(at == round(at) for at in places.values()):
                panel.set_xticks(list(places.values()), [f"{at:g}" for at in places.values()])
                panel.minorticks_off()
            means = [p.mean for curve in curves.values() for p in curve]
            if min(means) >= 0 and _SMALL < max(means) <= 1:
                panel.set_ylim(-0.03, 1.03)
            panel.set(xlabel=xlabel, ylabel=axis)
        legend(figure, handles(styles.values(), line=joined), chosen)
    if len(chosen) < len(arms):
        caption += f" In grey, {len(arms) - len(chosen)} other arms: the tables have them all."
    told = [
        f"{axis} of {arm}: " + ", ".join(f"{p.mean:.2f}" for p in curves[arm])
        for axis, curves in panels.items()
        for arm in chosen
        if arm in curves
    ]
    return Drawing(name=name, title=title, caption=caption, alt="; ".join(told), figure=figure)


def _chosen(arms: Sequence[str]) -> list[str]:
    if len(arms) <= _MOST:
        return list(arms)
    found = [arm for arm in _CHOSEN if arm in arms]
    found += [arm for arm in arms if arm not in found][: _MOST - len(found)]
    return found


def _gap(places: Sequence[float], logarithmic: bool) -> float:
    """The least distance between two values, on the scale that is drawn."""
    at = sorted(math.log(x) if logarithmic else x for x in places)
    return min((b - a for a, b in pairwise(at)), default=0.0)


def _moved(x: float, off: float, logarithmic: bool) -> float:
    return x * math.exp(off) if logarithmic else x + off


def _curve(panel: Axes, at: Sequence[float], curve: Curve, mark: Mark, joined: bool) -> None:
    for x, point in zip(at, curve, strict=True):
        if point.low is not None and point.high is not None:
            panel.plot([x, x], [point.low, point.high], color=mark.colour, lw=0.9, alpha=0.6)
    panel.plot(at, [p.mean for p in curve], ls=mark.line if joined else "", marker=mark.marker,
               color=mark.colour, mfc=mark.face, lw=1.2, zorder=3)  # fmt: skip
