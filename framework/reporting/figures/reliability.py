"""Stated confidence against accuracy in bins: on the diagonal answers are as right as they say."""

from __future__ import annotations

from framework.analysis.calibration import reliability_of
from framework.analysis.evidence import Group
from framework.reporting.figures.labels import label_of, under
from framework.reporting.figures.style import (
    GREY,
    Drawing,
    canvas,
    handles,
    legend,
    legend_height,
    marks,
)


def draw(group: Group) -> Drawing | None:
    """One panel a budget, one line an arm, Wilson's 95% limits of each bin (Depth, section 7)."""
    found = {job.path: reliability_of(job) for job in group.jobs}
    if not any(found.values()):
        return None
    look = marks(group.arms)
    told = []
    width = max(5.0, 1.0 + 2.9 * len(group.budgets))
    height = 3.2 + legend_height(width, group.arms)
    with canvas(width, height, 1, len(group.budgets), sharey=True) as (figure, panels):
        for panel, budget in zip(panels[0], group.budgets, strict=True):
            panel.plot([0, 1], [0, 1], color=GREY, lw=0.9, ls=":")
            for arm in group.arms:
                job = group.job(arm, budget)
                one = found[job.path] if job else None
                if one is None:
                    continue
                mark = look[arm]
                x = [b.confidence for b in one.bins]
                panel.plot(x, [b.accuracy for b in one.bins], color=mark.colour, ls=mark.line,
                           lw=1.2, marker=mark.marker, mfc=mark.face)  # fmt: skip
                panel.vlines(x, [b.accuracy_low for b in one.bins],
                             [b.accuracy_high for b in one.bins], color=mark.colour, lw=0.9,
                             alpha=0.6)  # fmt: skip
                told.append(f"{arm} at {budget}: ECE {one.ece:.2f}")
            panel.set(title=f"budget {budget}", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
            panel.set_xlabel("stated confidence")
        panels[0][0].set_ylabel("share right")
        legend(figure, handles(look.values(), line=True), list(look))
    return Drawing(
        name=f"reliability-{group.index}",
        title="Reliability",
        caption=(
            "Share right among the answers of each tenth of stated confidence, with 95% limits. "
            "Below the dotted line an answer is surer than it is right "
            f"({under(group)}). {label_of(group, ['kappa', 'leak'])}"
        ),
        alt="Reliability diagram; expected calibration error: " + "; ".join(told),
        figure=figure,
    )
