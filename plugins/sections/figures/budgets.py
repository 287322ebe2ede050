"""Retention and success against the budget, a line for each arm."""

from __future__ import annotations

from typing import Final

from framework.analysis.evidence import Group
from framework.analysis.verdict import is_reference
from framework.reporting.figures.labels import label_of, under
from framework.reporting.figures.style import (
    Drawing,
    canvas,
    handles,
    legend,
    legend_height,
    marks,
)

_FEWEST: Final = 3
"""Budgets from which a line says more than the table does."""


def budget_curve(group: Group) -> Drawing | None:
    """P_ret and the axis of success by tokens of budget, with intervals; None below three."""
    named = ("p_ret", group.jobs[0].summary.get("success_axis"))
    axes = [axis for axis in named if axis and group.has(axis)]
    jobs = [job for job in group.by_budget if not is_reference(job)]
    sizes = {job.budget: job.summary["budget_use"].get("budget_tokens") for job in jobs}
    tokens = {budget: float(size) for budget, size in sizes.items() if size}
    if len(tokens) < _FEWEST or not axes:
        return None
    styles, width = marks(group.arms), 2.2 + 2.8 * len(axes)
    arms = [arm for arm in group.arms if any(job.arm == arm for job in jobs)]
    with canvas(width, 3.2 + legend_height(width, arms), 1, len(axes)) as (figure, panels):
        for panel, axis in zip(panels[0], axes, strict=True):
            for arm in arms:
                found = [(tokens[b], e) for b in tokens if (e := group.entry(arm, b, axis))]
                style = styles[arm]
                panel.plot([x for x, _ in found], [e["mean"] for _, e in found],
                           marker=style.marker, color=style.colour, mfc="none", lw=1.1)  # fmt: skip
                for x, entry in found:
                    if entry.get("ci_low") is not None:
                        panel.plot([x, x], [entry["ci_low"], entry["ci_high"]], color=style.colour,
                                   lw=0.8, alpha=0.5)  # fmt: skip
            panel.set(xlabel="tokens of budget", ylabel=axis, xscale="log")
            panel.set_xticks(list(tokens.values()), [f"{size:,.0f}" for size in tokens.values()])
            panel.minorticks_off()
        legend(figure, handles([styles[arm] for arm in arms], hollow=True, line=True), arms)
    return Drawing(
        name=f"budgets-{group.index}",
        title="Budget curve",
        caption=(
            f"{' and '.join(axes)} against the budget, with 95% intervals ({under(group)}). A "
            "budget at which all lines meet can't tell the arms apart. " + label_of(group, axes)
        ),
        alt=f"Lines of {axes[0]} by budget: "
        + "; ".join(
            f"{arm} "
            + ", ".join(f"{e['mean']:.2f}" for b in tokens if (e := group.entry(arm, b, axes[0])))
            for arm in arms
        ),
        figure=figure,
    )
