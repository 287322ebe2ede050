"""By depth: an axis over the causal depth of the case, from the strata of summary.json."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

from framework.reporting.evidence import Group, Job
from framework.reporting.figures.labels import label_of, under
from framework.reporting.figures.style import Drawing, canvas, handles, legend, marks

__all__ = ["axis_of", "depths", "draw"]

TAG: Final = "depth="


def depths(group: Group) -> list[float]:
    """The depths that cases are tagged with, ascending; fewer than two make no curve."""
    found = {
        float(name.removeprefix(TAG))
        for job in group.jobs
        for name in job.summary["strata"]
        if name.startswith(TAG) and _is_number(name.removeprefix(TAG))
    }
    return sorted(found)


def axis_of(group: Group) -> str | None:
    """The first headline axis that has a value at some depth."""
    return next(
        (a for a in group.headline for d in depths(group) for j in group.jobs if entry(j, d, a)),
        None,
    )


def draw(group: Group) -> Drawing | None:
    """One panel a budget, one curve an arm; arms stand a little apart so that intervals show."""
    levels, axis = depths(group), axis_of(group)
    if len(levels) < 2 or axis is None:
        return None
    look = marks(group.arms)
    gap = min(b - a for a, b in pairwise(levels))
    told = []
    budgets = group.budgets
    with canvas(1.0 + 3.1 * len(budgets), 3.9, 1, len(budgets), sharey=True) as (figure, panels):
        for panel, budget in zip(panels[0], budgets, strict=True):
            for i, arm in enumerate(group.arms):
                job, mark = group.job(arm, budget), look[arm]
                off = (i - (len(group.arms) - 1) / 2) * 0.5 * gap / max(1, len(group.arms))
                found = [(d, e) for d in levels if job is not None and (e := entry(job, d, axis))]
                for depth, one in found:
                    if one["ci_low"] is not None:
                        panel.plot([depth + off] * 2, [one["ci_low"], one["ci_high"]], lw=0.9,
                                   color=mark.colour, alpha=0.6)  # fmt: skip
                panel.plot([d + off for d, _ in found], [e["mean"] for _, e in found], lw=1.3,
                           color=mark.colour, ls=mark.line, marker=mark.marker,
                           mfc=mark.face)  # fmt: skip
                told += [f"{arm} at {budget}, depth {d:g}: {e['mean']:.2f}" for d, e in found]
            panel.set(title=f"budget {budget}", xticks=levels, xlabel="depth (hops)")
        panels[0][0].set_ylabel(axis)
        legend(figure, handles(look.values(), line=True), list(look))
    return Drawing(
        name=f"depth-{group.index}",
        title=f"{axis} by depth",
        caption=(
            f"{axis} against the depth of the chain that the case needs, with 95% intervals "
            f"({under(group)}). {label_of(group, [axis])}"
        ),
        alt=f"Curves of {axis} by depth. " + "; ".join(told),
        figure=figure,
    )


def entry(job: Job, depth: float, axis: str) -> Mapping[str, Any] | None:
    """The axis of a job at a depth; None where it has no mean there."""
    for name, axes in job.summary["strata"].items():
        value = name.removeprefix(TAG)
        if name.startswith(TAG) and _is_number(value) and float(value) == depth:
            found: Mapping[str, Any] | None = axes.get(axis)
            return None if found is None or found["mean"] is None else found
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
