"""Outcomes of the cases as bars: retention and use, and where failures come from."""

from __future__ import annotations

from typing import Any

from framework.analysis.evidence import Group
from framework.analysis.outcomes import PARTS
from framework.reporting.figures.labels import label_of, under
from framework.reporting.figures.style import (
    BLACK,
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
from plugins.sections._outcomes import outcomes


def decomposition(group: Group) -> Drawing | None:
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
                    _success(line[0], found[job.path], at)
                    _points(line[2], group, arm, budget, at)
            titles = ("P(success)", "P_ret: the view suffices", "kappa and leak")
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
            "Left: success, split into cases right from a view that sufficed (P_ret kappa), right "
            "from one that did not ((1 − P_ret) leak), and right by a default or a forced choice. "
            "Middle: how often the view sufficed. Right: success by a determined answer if it did "
            "(kappa), and if it did not (leak). Cases in which abstaining is right are left out. "
            f"95% intervals ({where}). "
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


_SUCCESSES = (
    ("retained_right", BLUE, ""),
    ("leaked", ORANGE, "////"),
    ("right_undetermined", "white", "...."),
)


def _success(panel: Any, found: Any, at: int) -> None:
    if found is None or found.success.mean is None:
        return
    left = 0.0
    for part, colour, hatch in _SUCCESSES:
        share = found.parts[part].mean or 0.0
        panel.barh(at, share, left=left, height=0.62, color=colour, edgecolor="#222222", lw=0.5,
                   hatch=hatch)  # fmt: skip
        left += share
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
        *(Patch(facecolor=c, edgecolor="#222222", lw=0.5, hatch=h) for _, c, h in _SUCCESSES),
        Patch(facecolor=SKY, edgecolor="#222222", lw=0.5),
        Line2D([], [], color=GREEN, marker="o", ls=""),
        Line2D([], [], color=VERMILLION, marker="s", ls="", mfc="white"),
    ]
    labels = ["sufficient and used", "right without it", "right undetermined"]
    labels += ["sufficient (P_ret)", "kappa", "leak"]
    legend(figure, handles, labels)


_PARTS = (
    ("lost_wrong", VERMILLION, ""),
    ("retained_wrong", ORANGE, "////"),
    ("failed", BLACK, ""),
)


def failures(group: Group) -> Drawing | None:
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
            "Share of all cases that were wrong because something the decision needs was not in "
            "the view, and that were wrong although all of it was in the view, with 95% intervals "
            f"({under(group)}). {label_of(group, ['kappa', 'leak'])}"
        ),
        alt="Bars: share wrong with something missing, and share wrong with all of it in the view. "
        + "; ".join(told),
        figure=figure,
    )
