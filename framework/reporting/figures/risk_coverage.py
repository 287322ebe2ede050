"""Risk over coverage: how wrong the answers committed to are, as the confidence asked for falls."""

from __future__ import annotations

from typing import Final

import numpy as np

from framework.analysis.calibration import curve_of
from framework.analysis.evidence import Group
from framework.reporting.figures.labels import label_of, under
from framework.reporting.figures.style import Drawing, canvas, handles, legend, legend_height, marks
from framework.statistics.bootstrap import FloatArray

_FEWEST: Final = 0.05
"""Coverage from which the curve is drawn: before it, risk is that of a handful of answers."""


def draw(group: Group) -> Drawing | None:
    """One panel a budget, one curve an arm (El-Yaniv and Wiener 2010)."""
    found = {job.path: curve_of(job) for job in group.jobs}
    if not any(found.values()):
        return None
    look = marks(group.arms)
    budgets = group.budgets
    told = []
    width = max(5.0, 1.0 + 2.9 * len(budgets))
    height = 3.2 + legend_height(width, group.arms)
    with canvas(width, height, 1, len(budgets), sharey=True) as (figure, panels):
        for panel, budget in zip(panels[0], budgets, strict=True):
            for arm in group.arms:
                job = group.job(arm, budget)
                one = found[job.path] if job else None
                if one is None:
                    continue
                mark, kept = look[arm], one.curve.coverage >= _FEWEST
                x = one.curve.coverage[kept]
                panel.plot(x, one.curve.risk[kept], color=mark.colour, ls=mark.line, lw=1.4,
                           marker=mark.marker, mfc=mark.face, markevery=_every(x))  # fmt: skip
                if one.limits is not None:
                    low, high = (limit[kept] for limit in one.limits)
                    panel.fill_between(x, low, high, color=mark.colour, alpha=0.13, lw=0)
                told.append(f"{arm} at {budget}: area {one.curve.aurc:.2f}")
            panel.set(title=f"budget {budget}", xlim=(0, 1.02), ylim=(-0.02, 1.02))
            panel.set_xlabel("coverage")
        panels[0][0].set_ylabel("risk among them")
        legend(figure, handles(look.values(), line=True), list(look))
    return Drawing(
        name=f"risk-coverage-{group.index}",
        title="Risk and coverage",
        caption=(
            "Share wrong among the answers with the highest stated confidence, as more of them are "
            "committed to, with pointwise 95% bands. Lower is better; a flat line is a confidence "
            f"that says nothing ({under(group)}). {label_of(group, ['kappa', 'leak'])}"
        ),
        alt="Risk-coverage curves; area under the curve: " + "; ".join(told),
        figure=figure,
    )


def _every(x: FloatArray) -> list[int]:
    """A marker at about every tenth of the coverage."""
    return sorted({int(np.argmin(np.abs(x - at))) for at in np.linspace(0.1, 1.0, 10)})
