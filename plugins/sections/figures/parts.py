"""An axis by stratum of cases, and by the depth of what a case needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from framework.analysis.evidence import Group, Job
from framework.reporting.figures.labels import label_of, under
from framework.reporting.figures.style import (
    Drawing,
    Mark,
    canvas,
    facets,
    handles,
    legend,
    legend_height,
    marks,
    rows_axis,
    whisker,
)
from plugins.sections._parts import (
    depth_axis,
    depth_entry,
    depths_of_group,
    shown_in_parts,
    strata_of,
    stratum_axis,
    stratum_entry,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_ACROSS: Final = 3


def strata(group: Group) -> Drawing | None:
    """Dots with intervals, arms in rows, budgets by marker."""
    names, axis = strata_of(group), stratum_axis(group)
    if len(names) < 2 or axis is None:
        return None
    axis = shown_in_parts(group, axis)
    styles, arms = marks(group.budgets), group.arms
    height = (0.9, 0.55 + len(arms) * (0.1 + 0.13 * len(styles)))
    shared = {"sharey": True, "sharex": True}
    with facets(len(names), _ACROSS, (1.9, 2.3), height, **shared) as (figure, panels):
        for panel, name in zip(panels, names, strict=True):
            n = 0
            for j, (budget, mark) in enumerate(styles.items()):
                for i, arm in enumerate(arms):
                    found = stratum_entry(group.job(arm, budget), name, axis)
                    if found is None:
                        continue
                    n = max(n, found["n"])
                    at = i + (j - (len(styles) - 1) / 2) * 0.62 / len(styles)
                    whisker(panel, at, found["ci_low"], found["ci_high"], mark.colour)
                    panel.plot(found["mean"], at, marker=mark.marker, ls="", color=mark.colour,
                               zorder=4)  # fmt: skip
            rows_axis(panel, arms)
            for i in range(1, len(arms)):
                panel.axhline(i - 0.5, color="#eeeeee", lw=0.6, zorder=0)
            panel.set_title(f"{name} (n = {n})")
        legend(figure, handles(styles.values()), [f"budget {b}" for b in styles])
    return Drawing(
        name=f"strata-{group.index}",
        title=f"{axis} by stratum",
        caption=(
            f"{axis} with 95% intervals in each stratum of cases ({under(group)}). "
            f"{label_of(group, [axis])}"
        ),
        alt=f"Dots of {axis} by stratum, arm and budget; every number is in the table.",
        figure=figure,
    )


_MOST_TOGETHER: Final = 7
"""Curves in a panel that can still be told apart."""
_COLUMNS: Final = 4
_WIDTH: Final = 6.4


def depth(group: Group) -> Drawing | None:
    """One panel a budget with a curve an arm; of many arms, one panel an arm, a curve a budget."""
    levels, axis = depths_of_group(group), depth_axis(group)
    if len(levels) < 2 or axis is None:
        return None
    axis = shown_in_parts(group, axis)
    one = _together if len(group.arms) <= _MOST_TOGETHER else _apart
    behind = "" if one is _together else " In grey, every other arm."
    told = [
        f"{job.arm} at {job.budget}, depth {level}: {found['mean']:.2f}"
        for job in group.jobs
        for level in levels
        if (found := depth_entry(job, level, axis)) is not None
    ]
    return Drawing(
        name=f"depth-{group.index}",
        title=f"{axis} by depth",
        caption=(
            f"{axis} against the depth of the chain that the case needs, with 95% intervals "
            f"({under(group)}).{behind} {label_of(group, [axis])}"
        ),
        alt=f"Curves of {axis} by depth. " + "; ".join(told),
        figure=one(group, levels, axis),
    )


def _together(group: Group, levels: Sequence[int], axis: str) -> Figure:
    styles, budgets = marks(group.arms), group.budgets
    width = max(_WIDTH, 1.0 + 3.1 * len(budgets))
    height = 3.3 + legend_height(width, group.arms)
    with canvas(width, height, 1, len(budgets), sharey=True) as (figure, panels):
        for panel, budget in zip(panels[0], budgets, strict=True):
            for i, arm in enumerate(group.arms):
                # A little apart, so that intervals show.
                off = (i - (len(group.arms) - 1) / 2) * 0.5 / len(group.arms)
                _curve(panel, group.job(arm, budget), levels, axis, styles[arm], off)
            panel.set(title=f"budget {budget}", xticks=levels, xlabel="depth (hops)")
        panels[0][0].set_ylabel(axis)
        legend(figure, handles(styles.values(), line=True), list(styles))
    return figure


def _apart(group: Group, levels: Sequence[int], axis: str) -> Figure:
    styles, arms = marks(group.budgets), group.arms
    shared = {"sharey": True, "sharex": True}
    with facets(len(arms), _COLUMNS, (9.4, 0), (0.7, 1.75), **shared) as (figure, panels):
        for panel, arm in zip(panels, arms, strict=True):
            for job in group.jobs:
                found = [(d, e) for d in levels if (e := depth_entry(job, d, axis))]
                panel.plot([d for d, _ in found], [e["mean"] for _, e in found], color="#dddddd",
                           lw=0.8, zorder=1)  # fmt: skip
            for i, (budget, mark) in enumerate(styles.items()):
                off = (i - (len(styles) - 1) / 2) * 0.3 / len(styles)
                _curve(panel, group.job(arm, budget), levels, axis, mark, off)
            panel.set(title=arm, xticks=levels)
        for panel in panels[::_COLUMNS]:
            panel.set_ylabel(axis)
        names = [f"budget {budget}" for budget in styles]
        legend(figure, handles(styles.values(), line=True), names)
    return figure


def _curve(
    panel: Axes, job: Job | None, levels: Sequence[int], axis: str, mark: Mark, off: float
) -> None:
    found = [(d, e) for d in levels if (e := depth_entry(job, d, axis))]
    for at, one in found:
        if one["ci_low"] is not None:
            panel.plot([at + off] * 2, [one["ci_low"], one["ci_high"]], lw=0.9, alpha=0.6,
                       color=mark.colour)  # fmt: skip
    panel.plot([d + off for d, _ in found], [e["mean"] for _, e in found], lw=1.3, zorder=3,
               color=mark.colour, ls=mark.line, marker=mark.marker, mfc=mark.face)  # fmt: skip
