"""Planes with a mark for each arm: commitment, reliability, risk over coverage, cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from framework.analysis.evidence import Group, Job
from framework.reporting.figures.labels import label_of, under
from framework.reporting.figures.style import (
    GREY,
    Drawing,
    Mark,
    canvas,
    handles,
    legend,
    legend_height,
    marks,
)
from framework.statistics.clusters import FloatArray
from plugins.sections.confidence import curve_of, reliability_of
from plugins.sections.frontier import cost_unit, frontier, points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FEWEST: Final = 0.05
"""Coverage from which the curve is drawn: before it, risk is that of a handful of answers."""
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


def by_budget(
    group: Group,
    each: Callable[[Axes, Job, Mark], str],
    labels: tuple[str, str],
    *,
    height: float = 3.2,
    hollow: bool = False,
    sharex: bool = False,
) -> tuple[Figure, str]:
    """A panel for each budget with every arm in it; the figure, and what it says in words.

    each : draws a job with the mark of its arm, and says it. labels : of the two axes.
    """
    styles, budgets = marks(group.arms), group.budgets
    inches = max(5.0, 1.0 + 2.9 * len(budgets))
    size = (inches, height + legend_height(inches, group.arms))
    said = []
    with canvas(*size, 1, len(budgets), sharey=True, sharex=sharex) as (figure, panels):
        for panel, budget in zip(panels[0], budgets, strict=True):
            for arm in group.arms:
                job = group.job(arm, budget)
                words = "" if job is None else each(panel, job, styles[arm])
                if words:
                    said.append(f"{arm} at {budget}: {words}")
            panel.set(title=f"budget {budget}", xlabel=labels[0])
        panels[0][0].set_ylabel(labels[1])
        legend(figure, handles(styles.values(), hollow=hollow, line=not hollow), list(styles))
    return figure, "; ".join(said)


def commitment(group: Group) -> Drawing | None:
    """The CAR plane: points with intervals both ways (LongHorizon section 3.5)."""
    axes = ("commit_rate", "conditional_accuracy")
    if not group.has(*axes):
        return None

    def each(panel: Axes, job: Job, mark: Mark) -> str:
        x, y = (group.entry(job.arm, job.budget, axis) for axis in axes)
        if x is None or y is None:
            return ""
        if x["ci_low"] is not None:
            ends = [x["ci_low"], x["ci_high"]]
            panel.plot(ends, [y["mean"]] * 2, color=mark.colour, lw=0.9, alpha=0.55, zorder=2)
        if y["ci_low"] is not None:
            ends = [y["ci_low"], y["ci_high"]]
            panel.plot([x["mean"]] * 2, ends, color=mark.colour, lw=0.9, alpha=0.55, zorder=2)
        panel.plot(x["mean"], y["mean"], marker=mark.marker, color=mark.colour,
                   mfc="none", mew=1.5, ls="", ms=7, zorder=3)  # fmt: skip
        if (found := curve_of(job)) is not None:
            kept = (found.curve.coverage >= _FEWEST) & np.isfinite(found.curve.threshold)
            panel.plot(found.curve.coverage[kept], 1 - found.curve.risk[kept], color=mark.colour,
                       ls=mark.line, lw=1.1, zorder=1)  # fmt: skip
        panel.margins(0.08)
        return f"{x['mean']:.2f}, {y['mean']:.2f}"

    labels = ("commit rate", "right, when committed")
    figure, said = by_budget(group, each, labels, height=3.4, hollow=True, sharex=True)
    return Drawing(
        name=f"commitment-{group.index}",
        title="CAR plane",
        caption=(
            "Commit rate (further right: decides more often) against accuracy among the decisions "
            "made, with 95% intervals of both. An arm at commit rate 1 never abstains. Where "
            "answers state a confidence, the line shows the effect of withdrawing the least sure "
            "ones. The scales "
            f"need not begin at 0 ({under(group)}). {label_of(group, axes)}"
        ),
        alt=f"Points: commit rate, then accuracy when committed. {said}",
        figure=figure,
    )


def reliability(group: Group) -> Drawing | None:
    """Stated confidence against accuracy in bins, with Wilson's limits (Depth, section 7)."""
    found = {job.path: reliability_of(job) for job in group.jobs}
    if not any(found.values()):
        return None

    def each(panel: Axes, job: Job, mark: Mark) -> str:
        panel.plot([0, 1], [0, 1], color=GREY, lw=0.9, ls=":")
        panel.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        one = found[job.path]
        if one is None:
            return ""
        x = [b.confidence for b in one.bins]
        panel.plot(x, [b.accuracy for b in one.bins], color=mark.colour, ls=mark.line,
                   lw=1.2, marker=mark.marker, mfc=mark.face)  # fmt: skip
        lows, highs = [b.accuracy_low for b in one.bins], [b.accuracy_high for b in one.bins]
        panel.vlines(x, lows, highs, color=mark.colour, lw=0.9, alpha=0.6)
        return f"ECE {one.ece:.2f}"

    figure, said = by_budget(group, each, ("stated confidence", "share right"))
    return Drawing(
        name=f"reliability-{group.index}",
        title="Reliability",
        caption=(
            "Share right among the answers of each tenth of stated confidence, with 95% limits. "
            "Below the dotted line answers are overconfident "
            f"({under(group)}). {label_of(group, ['kappa', 'leak'])}"
        ),
        alt=f"Reliability diagram; expected calibration error: {said}",
        figure=figure,
    )


def risk_coverage(group: Group) -> Drawing | None:
    """How wrong the answers committed to are, as the confidence asked for falls.

    Source: El-Yaniv and Wiener (2010).
    """
    found = {job.path: curve_of(job) for job in group.jobs}
    if not any(found.values()):
        return None

    def each(panel: Axes, job: Job, mark: Mark) -> str:
        panel.set(xlim=(0, 1.02), ylim=(-0.02, 1.02))
        one = found[job.path]
        if one is None:
            return ""
        kept = one.curve.coverage >= _FEWEST
        x = one.curve.coverage[kept]
        panel.plot(x, one.curve.risk[kept], color=mark.colour, ls=mark.line, lw=1.4,
                   marker=mark.marker, mfc=mark.face, markevery=_every(x))  # fmt: skip
        if one.limits is not None:
            low, high = (limit[kept] for limit in one.limits)
            panel.fill_between(x, low, high, color=mark.colour, alpha=0.13, lw=0)
        return f"area {one.curve.aurc:.2f}"

    figure, said = by_budget(group, each, ("coverage", "risk among them"))
    return Drawing(
        name=f"risk-coverage-{group.index}",
        title="Risk and coverage",
        caption=(
            "Share wrong among the answers with the highest stated confidence, as more of them are "
            "accepted, with pointwise 95% bands. Lower is better; a flat line means that "
            f"confidence is uninformative ({under(group)}). {label_of(group, ['kappa', 'leak'])}"
        ),
        alt=f"Risk-coverage curves; area under the curve: {said}",
        figure=figure,
    )


def _every(x: FloatArray) -> list[int]:
    """A marker at about every tenth of the coverage."""
    return sorted({int(np.argmin(np.abs(x - at))) for at in np.linspace(0.1, 1.0, 10)})


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


def pareto(group: Group) -> Drawing | None:
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
    beside = "" if places == costs else "Points of about the same cost are drawn side by side. "
    size = f"The larger the marker, the larger the budget ({', '.join(budgets)}). "
    return Drawing(
        name=f"pareto-{group.index}",
        title="Accuracy and cost",
        caption=(
            f"{_named(axis).capitalize()} with 95% intervals against {_UNITS[unit]}. "
            f"{size if len(budgets) > 1 else ''}The dashed line joins the arms that no other "
            f"arm matches or beats on both, by the estimates alone ({under(group)}). {beside}"
            + label_of(group, [axis])
        ),
        alt=f"Plane of cost and {_named(axis)}; on the frontier: "
        + "; ".join(f"{p.arm} at {p.budget}: {p.cost:.4g}, {p.value:.2f}" for p in best),
        figure=figure,
    )


def _named(axis: str) -> str:
    return "success" if axis == "success" else axis
