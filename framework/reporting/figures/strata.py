"""By stratum: where an arm does well and where it does not, one panel a stratum."""

from __future__ import annotations

import math
from typing import Final

from framework.analysis.evidence import Group
from framework.analysis.strata import strata_of, stratum_axis, stratum_entry
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

_COLUMNS: Final = 3


def draw(group: Group) -> Drawing | None:
    """Dots with intervals, arms in rows, budgets by marker."""
    names, axis = strata_of(group), stratum_axis(group)
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
                    found = stratum_entry(group, arm, budget, name, axis)
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
