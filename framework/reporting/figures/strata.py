"""By stratum: where an arm does well and where it does not, one panel a stratum."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from framework.analysis.depths import depth_of
from framework.reporting.evidence import Group
from framework.reporting.figures.labels import label_of, under
from framework.reporting.figures.style import (
    Drawing,
    canvas,
    handles,
    legend,
    marks,
    rows_axis,
    whisker,
)

__all__ = ["axis_of", "draw", "strata"]

TAG: Final = "stratum="
_COLUMNS: Final = 3


def strata(group: Group) -> list[str]:
    """Names of the primary strata, in order; depths are a curve of their own (`depth`)."""
    found = dict.fromkeys(
        name.removeprefix(TAG)
        for job in group.jobs
        for name in job.summary["strata"]
        if name.startswith(TAG) and depth_of(name) is None
    )
    return list(found)


def axis_of(group: Group) -> str | None:
    """The first headline axis that is no finding, else the first: what a reader made of it."""
    with_values = [
        a
        for a in group.headline
        if any(entry(group, j.arm, j.budget, s, a) for j in group.jobs for s in strata(group))
    ]
    answered = [
        a
        for a in with_values
        if all(j.summary["axes"].get(a, {}).get("kind") != "finding" for j in group.jobs)
    ]
    return next(iter([*answered, *with_values]), None)


def entry(group: Group, arm: str, budget: str, stratum: str, axis: str) -> Mapping[str, Any] | None:
    """The axis of a job in a stratum; None where it has no mean there."""
    job = group.job(arm, budget)
    found: Mapping[str, Any] | None = (
        job.summary["strata"].get(TAG + stratum, {}).get(axis) if job else None
    )
    return None if found is None or found["mean"] is None else found


def draw(group: Group) -> Drawing | None:
    """Dots with intervals, arms in rows, budgets by marker."""
    names, axis = strata(group), axis_of(group)
    if len(names) < 2 or axis is None:
        return None
    look, arms = marks(group.budgets), group.arms
    across = min(_COLUMNS, len(names))
    down = math.ceil(len(names) / across)
    height = 0.9 + down * (0.55 + len(arms) * (0.1 + 0.13 * len(look)))
    with canvas(1.9 + 2.3 * across, height, down, across, sharey=True, sharex=True) as (
        figure,
        panels,
    ):
        flat = [panel for row in panels for panel in row]
        for panel, name in zip(flat, names, strict=False):
            n = 0
            for j, (budget, mark) in enumerate(look.items()):
                for i, arm in enumerate(arms):
                    found = entry(group, arm, budget, name, axis)
                    if found is None:
                        continue
                    n = max(n, found["n"])
                    at = i + (j - (len(look) - 1) / 2) * 0.62 / len(look)
                    whisker(panel, at, found["ci_low"], found["ci_high"], mark.colour)
                    panel.plot(found["mean"], at, marker=mark.marker, ls="", color=mark.colour,
                               zorder=4)  # fmt: skip
            rows_axis(panel, arms)
            for i in range(1, len(arms)):
                panel.axhline(i - 0.5, color="#eeeeee", lw=0.6, zorder=0)
            panel.set_title(f"{name} (n = {n})")
        for panel in flat[len(names) :]:
            panel.set_visible(False)
        legend(figure, handles(look.values()), [f"budget {b}" for b in look])
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
