"""Where failures come from: what was needed was not in the view, or was there and not used."""

from __future__ import annotations

from framework.analysis.evidence import Group
from framework.analysis.outcomes import PARTS, outcomes
from framework.reporting.figures.labels import label_of, under
from framework.reporting.figures.style import (
    BLACK,
    ORANGE,
    VERMILLION,
    Drawing,
    canvas,
    legend,
    rows_axis,
    whisker,
)

_PARTS = (
    ("lost_wrong", VERMILLION, ""),
    ("retained_wrong", ORANGE, "////"),
    ("failed", BLACK, ""),
)


def draw(group: Group) -> Drawing | None:
    """Shares of cases that failed, by what the view held; one panel a budget."""
    from matplotlib.patches import Patch

    found = {job.path: outcomes(job) for job in group.jobs}
    if all(value is None for value in found.values()):
        return None
    parts = [
        p
        for p in _PARTS
        if p[0] != "failed" or any(o and o.parts["failed"].mean for o in found.values())
    ]
    budgets, arms = group.budgets, group.arms
    told = []
    width, height = 1.9 + 2.4 * len(budgets), 1.1 + len(arms) * 0.24 * len(parts)
    with canvas(width, height, 1, len(budgets), sharey=True, sharex=True) as (figure, panels):
        for panel, budget in zip(panels[0], budgets, strict=True):
            for at, arm in enumerate(arms):
                job = group.job(arm, budget)
                split = found[job.path] if job else None
                if split is None:
                    continue
                for j, (name, colour, hatch) in enumerate(parts):
                    place = at + (j - (len(parts) - 1) / 2) * 0.8 / len(parts)
                    share = split.parts[name]
                    panel.barh(place, share.mean or 0.0, height=0.72 / len(parts), color=colour,
                               hatch=hatch, edgecolor="#222222", lw=0.5)  # fmt: skip
                    whisker(panel, place, share.low, share.high)
                lost, unused = split.parts["lost_wrong"].mean, split.parts["retained_wrong"].mean
                told.append(f"{arm} at {budget}: {lost:.2f} and {unused:.2f}")
            rows_axis(panel, arms)
            panel.set_title(f"budget {budget}")
            panel.set(xlim=(0, 1.02), xlabel="share of cases")
        handles = [Patch(facecolor=c, edgecolor="#222222", lw=0.5, hatch=h) for _, c, h in parts]
        legend(figure, handles, [PARTS[name] for name, _, _ in parts])
    return Drawing(
        name=f"failures-{group.index}",
        title="Failures by what the view held",
        caption=(
            f"Share of all cases that were wrong because something the decision needs was not in "
            f"the view, and that were wrong although all of it was, with 95% intervals "
            f"({under(group)}). {label_of(group, ['kappa', 'leak'])}"
        ),
        alt="Bars: share wrong with something missing, and share wrong with all in the view. "
        + "; ".join(told),
        figure=figure,
    )
