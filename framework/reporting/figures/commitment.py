"""The CAR plane: how often an arm commits, and how often it is right when it does."""

from __future__ import annotations

from framework.analysis.evidence import Group
from framework.reporting.figures.labels import label_of, under
from framework.reporting.figures.style import Drawing, canvas, handles, legend, legend_height, marks

X, Y = "commit_rate", "conditional_accuracy"


def draw(group: Group) -> Drawing | None:
    """One panel a budget, one point an arm, intervals both ways (LongHorizon section 3.5)."""
    if not group.has(X, Y):
        return None
    look = marks(group.arms)
    told = []
    budgets = group.budgets
    width = max(5.0, 1.0 + 2.9 * len(budgets))
    height = 3.4 + legend_height(width, group.arms)
    with canvas(width, height, 1, len(budgets), sharey=True, sharex=True) as (figure, panels):
        for panel, budget in zip(panels[0], budgets, strict=True):
            for arm in group.arms:
                x, y = group.entry(arm, budget, X), group.entry(arm, budget, Y)
                if x is None or y is None:
                    continue
                mark = look[arm]
                for low, high, other, along in (
                    (x["ci_low"], x["ci_high"], y["mean"], True),
                    (y["ci_low"], y["ci_high"], x["mean"], False),
                ):
                    if low is not None:
                        ends, at = [low, high], [other, other]
                        panel.plot(*((ends, at) if along else (at, ends)), color=mark.colour,
                                   lw=0.9, alpha=0.55, zorder=2)  # fmt: skip
                panel.plot(x["mean"], y["mean"], marker=mark.marker, color=mark.colour,
                           mfc="none", mew=1.5, ls="", ms=7, zorder=3)  # fmt: skip
                told.append(f"{arm} at {budget}: {x['mean']:.2f}, {y['mean']:.2f}")
            panel.set(title=f"budget {budget}", xlabel="commit rate")
            panel.margins(0.08)
        panels[0][0].set_ylabel("right, when committed")
        legend(figure, handles(look.values(), hollow=True), list(look))
    return Drawing(
        name=f"commitment-{group.index}",
        title="CAR plane",
        caption=(
            "Commit rate (further right: decides more often) against accuracy among the decisions "
            "made, with 95% intervals of both. An arm at commit rate 1 never abstains. The scales "
            f"need not begin at 0 ({under(group)}). {label_of(group, [X, Y])}"
        ),
        alt="Points: commit rate, then accuracy when committed. " + "; ".join(told),
        figure=figure,
    )
