"""Retention and use: P(success) = P_ret kappa + (1 - P_ret) leak, as bars with intervals."""

from __future__ import annotations

from typing import Any

from framework.analysis.evidence import Group
from framework.analysis.outcomes import outcomes
from framework.reporting.figures.labels import label_of, under
from framework.reporting.figures.style import (
    BLUE,
    GREEN,
    ORANGE,
    SKY,
    VERMILLION,
    Drawing,
    canvas,
    legend,
    rows_axis,
    whisker,
)


def draw(group: Group) -> Drawing | None:
    """Success as retained-and-used plus leaked, then its factors; one row of panels a budget."""
    if not group.has("p_ret"):
        return None
    found = {job.path: outcomes(job) for job in group.jobs}
    factors = group.has("kappa") or group.has("leak")
    columns = 3 if factors else 1
    budgets, arms = group.budgets, group.arms
    height = 0.8 + len(budgets) * (0.55 + 0.26 * len(arms))
    with canvas(2.3 + 2.3 * columns, height, len(budgets), columns, sharey=True, sharex=True) as (
        figure,
        panels,
    ):
        for line, budget in zip(panels, budgets, strict=True):
            for at, arm in enumerate(arms):
                job = group.job(arm, budget)
                if job is None:
                    continue
                _bar(line[0 if not factors else 1], group, arm, budget, at)
                if factors:
                    _success(line[0], group, found[job.path], arm, budget, at)
                    _points(line[2], group, arm, budget, at)
            titles = ("P(success)", "P_ret: all needed in the view", "kappa and leak")
            for panel, title in zip(line, titles if factors else titles[1:2], strict=True):
                panel.set_title(f"{title}\nbudget {budget}" if panel is line[0] else title)
                rows_axis(panel, arms)
                panel.set_xlim(-0.02, 1.02)
        if factors:
            _legend(figure)
    where = under(group)
    return Drawing(
        name=f"decomposition-{group.index}",
        title="Retention and use",
        caption=(
            f"Left: success, split into cases whose view held all that the decision needs (P_ret "
            f"kappa) and cases right all the same ((1 − P_ret) leak). Middle: how often the view "
            f"held all of it. Right: success given that it did (kappa), and given that it did not "
            f"(leak). 95% intervals ({where}). "
            + label_of(group, [a for a in ("p_ret", "kappa", "leak") if group.has(a)])
        ),
        alt="Bars of success, retention and use by arm and budget: "
        + "; ".join(
            f"{arm} at {budget}: P_ret {entry['mean']:.2f}"
            for budget in budgets
            for arm in arms
            if (entry := group.entry(arm, budget, "p_ret")) is not None
        ),
        figure=figure,
    )


def _bar(panel: Any, group: Group, arm: str, budget: str, at: int) -> None:
    entry = group.entry(arm, budget, "p_ret")
    if entry is not None:
        panel.barh(at, entry["mean"], height=0.62, color=SKY, edgecolor="#222222", lw=0.5)
        whisker(panel, at, entry["ci_low"], entry["ci_high"])


def _success(panel: Any, group: Group, found: Any, arm: str, budget: str, at: int) -> None:
    if found is None or found.success.mean is None:
        return
    p_ret, kappa = (group.entry(arm, budget, axis) for axis in ("p_ret", "kappa"))
    used = (p_ret["mean"] if p_ret else 0.0) * (kappa["mean"] if kappa else 0.0)
    total = found.success.mean
    panel.barh(at, used, height=0.62, color=BLUE, edgecolor="#222222", lw=0.5)
    panel.barh(at, total - used, left=used, height=0.62, color=ORANGE, edgecolor="#222222",
               lw=0.5, hatch="////")  # fmt: skip
    whisker(panel, at, found.success.low, found.success.high)


def _points(panel: Any, group: Group, arm: str, budget: str, at: int) -> None:
    for axis, colour, marker, off in (
        ("kappa", GREEN, "o", -0.16),
        ("leak", VERMILLION, "s", 0.16),
    ):
        entry = group.entry(arm, budget, axis)
        if entry is not None:
            whisker(panel, at + off, entry["ci_low"], entry["ci_high"], colour)
            face = colour if axis == "kappa" else "white"
            panel.plot(entry["mean"], at + off, marker=marker, ls="", color=colour, mfc=face,
                       zorder=4)  # fmt: skip


def _legend(figure: Any) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles = [
        Patch(facecolor=BLUE, edgecolor="#222222", lw=0.5),
        Patch(facecolor=ORANGE, edgecolor="#222222", lw=0.5, hatch="////"),
        Patch(facecolor=SKY, edgecolor="#222222", lw=0.5),
        Line2D([], [], color=GREEN, marker="o", ls=""),
        Line2D([], [], color=VERMILLION, marker="s", ls="", mfc="white"),
    ]
    labels = ["retained and used", "right without it", "retained (P_ret)", "kappa", "leak"]
    legend(figure, handles, labels)
