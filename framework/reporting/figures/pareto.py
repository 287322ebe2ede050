"""Doing well against what it takes: which arms at which budgets nothing beats on both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from framework.analysis.evidence import Group
from framework.analysis.frontier import cost_unit, frontier, points
from framework.reporting.figures.labels import label_of, under
from framework.reporting.figures.style import (
    GREY,
    Drawing,
    canvas,
    handles,
    legend,
    legend_height,
    marks,
)

_WIDTH: Final = 7.4
_WIDE: Final = 20
"""Ratio of the largest to the smallest cost from which their axis is logarithmic."""
_NEAR: Final = 0.012
"""Share of the axis within which two costs are drawn side by side, and how far apart."""
_UNITS: Final = {
    "usd": "dollars an answer, list price",
    "tokens": "model tokens an answer, in and out",
    "view": "tokens of the view",
}


def apart(costs: Sequence[float], logarithmic: bool) -> list[float]:
    """Where points are drawn: those of about one cost side by side, in their order."""
    scaled = [math.log(cost) if logarithmic else cost for cost in costs]
    step = _NEAR * ((max(scaled) - min(scaled)) or abs(scaled[0]) or 1.0)
    order = sorted(range(len(costs)), key=lambda i: scaled[i])
    runs: list[list[int]] = []
    for i in order:
        if runs and scaled[i] - scaled[runs[-1][-1]] < step:
            runs[-1].append(i)
        else:
            runs.append([i])
    for run in runs:
        middle = sum(scaled[i] for i in run) / len(run)
        if len(run) > 1:
            for at, i in enumerate(sorted(run)):
                scaled[i] = middle + (at - (len(run) - 1) / 2) * step
    return [math.exp(place) if logarithmic else place for place in scaled]


def draw(group: Group) -> Drawing | None:
    """All arms and budgets in one plane, the frontier joined by a line."""
    axis, found = points(group)
    if len(found) < 2:
        return None
    unit, best = cost_unit(group), frontier(found)
    arms, budgets = marks(group.arms), group.budgets
    sizes = {b: 5.0 + 3.5 * i / max(1, len(budgets) - 1) for i, b in enumerate(budgets)}
    with canvas(_WIDTH, 4.4 + legend_height(_WIDTH, group.arms)) as (figure, panels):
        panel = panels[0][0]
        costs = [p.cost for p in found]
        logarithmic = min(costs) > 0 and max(costs) > _WIDE * min(costs)
        places = apart(costs, logarithmic)
        xs = [p.cost for p in best]
        ys = [p.value for p in best]
        panel.step(xs, ys, where="post", color=GREY, lw=1.0, ls="--", zorder=1)
        for point, place in zip(found, places, strict=True):
            mark = arms[point.arm]
            if point.low is not None and point.high is not None:
                panel.plot([place] * 2, [point.low, point.high], color=mark.colour, lw=0.8,
                           alpha=0.5, zorder=2)  # fmt: skip
            panel.plot(place, point.value, marker=mark.marker, color=mark.colour,
                       mfc="none", mew=1.5, ms=sizes[point.budget], ls="", zorder=3)  # fmt: skip
        panel.set(xlabel=_UNITS[unit], ylabel=_named(axis))
        panel.margins(x=0.06)
        if logarithmic:
            panel.set_xscale("log")
        legend(figure, handles(arms.values(), hollow=True), list(arms))
    beside = (
        "" if places == costs else "Points of about one cost are drawn side by side around it. "
    )
    size = f"The larger the marker, the larger the budget ({', '.join(budgets)}). "
    return Drawing(
        name=f"pareto-{group.index}",
        title="Accuracy and cost",
        caption=(
            f"{_named(axis).capitalize()} with 95% intervals against {_UNITS[unit]}. "
            f"{size if len(budgets) > 1 else ''}The broken line joins what nothing matches or "
            f"beats on both, by the estimates alone ({under(group)}). {beside}"
            + label_of(group, [axis])
        ),
        alt=f"Plane of cost and {_named(axis)}; on the frontier: "
        + "; ".join(f"{p.arm} at {p.budget}: {p.cost:.4g}, {p.value:.2f}" for p in best),
        figure=figure,
    )


def _named(axis: str) -> str:
    return "success" if axis == "success" else axis
