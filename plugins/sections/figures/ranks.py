"""Critical-difference diagram: mean ranks of the arms, and which of them can't be told apart."""

from __future__ import annotations

from typing import Any

from framework.analysis.evidence import Group
from framework.reporting.figures.labels import label_of, under
from framework.reporting.figures.style import BLUE, Drawing, canvas
from framework.reporting.format import p_value
from framework.text.counting import counted
from plugins.sections._omnibus import CriticalDifference
from plugins.sections._outcomes import outcome_axis, ranked


def ranks(group: Group) -> Drawing | None:
    """One line of ranks a budget (Demsar 2006, section 3.2.2)."""
    found = [(b, r) for b in group.budgets if (r := ranked(group, b)) is not None]
    axis = outcome_axis(group)
    if not found or axis is None:
        return None
    heights = [0.9 + 0.2 * -(-len(r.arms) // 2) + 0.12 * len(r.groups) for _, (_, r) in found]
    with canvas(7.4, sum(heights) + 0.2, len(found), 1, height_ratios=heights) as (figure, panels):
        for (panel,), (budget, (n, ranks)) in zip(panels, found, strict=True):
            _diagram(panel, ranks)
            panel.set_title(
                f"budget {budget}: {counted(n, 'case')}, critical difference "
                f"{ranks.critical_difference:.2f}, Friedman p {p_value(ranks.omnibus.p)}",
                loc="left",
            )
    return Drawing(
        name=f"ranks-{group.index}",
        title="Mean ranks and critical difference",
        caption=(
            f"Mean rank over cases by {axis}, best on the left. Arms under one bar are within the "
            "critical difference: Nemenyi's test does not tell them apart at .05 "
            f"({under(group)}). Descriptive: the paired comparisons are the primary test. "
            + label_of(group, [axis])
        ),
        alt="Mean ranks: "
        + "; ".join(
            f"budget {b}: "
            + ", ".join(f"{a} {m:.2f}" for a, m in zip(r.arms, r.mean_ranks, strict=True))
            for b, (_, r) in found
        ),
        figure=figure,
    )


def _diagram(panel: Any, found: CriticalDifference) -> None:
    k = len(found.arms)
    low, high = 1.0, float(k)
    bars, half = len(found.groups), -(-k // 2)
    panel.set_xlim(low - 0.42 * (high - low), high + 0.42 * (high - low))
    panel.set_ylim(-(0.5 + 0.45 * bars + half), 1.4)
    panel.axis("off")
    panel.plot([low, high], [0, 0], color="#222222", lw=1.0)
    for rank in range(1, k + 1):
        panel.plot([rank, rank], [0, 0.18], color="#222222", lw=1.0)
    for rank in range(1, k + 1, 1 + k // 12):
        panel.text(rank, 0.3, str(rank), ha="center", va="bottom", fontsize=8)
    width = found.critical_difference
    if width < high - low:
        panel.plot([low, low + width], [1.15, 1.15], color=BLUE, lw=2.0)
        panel.text(low + width + 0.05, 1.15, "critical difference", va="center", fontsize=8)
    places = dict(zip(found.arms, found.mean_ranks, strict=True))
    for row, members in enumerate(found.groups):
        ends = places[members[0]] - 0.04, places[members[-1]] + 0.04
        panel.plot(ends, [-0.3 - 0.45 * row] * 2, color="#222222", lw=3.0, solid_capstyle="butt")
    for i, (arm, mean) in enumerate(places.items()):
        left = i < half
        level = -(0.6 + 0.45 * bars + (i if left else k - 1 - i))
        edge = low - 0.03 * (high - low) if left else high + 0.03 * (high - low)
        panel.plot([mean, mean, edge], [0, level, level], color="#555555", lw=0.7)
        text = f"{arm}  {mean:.2f}" if left else f"{mean:.2f}  {arm}"
        panel.text(edge, level, f" {text} ", ha="right" if left else "left", va="center")
