"""Two judges of the same answers: the mean each gives an arm, against the other's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from framework.reporting.figures.style import GREY, Drawing, facets, handles, legend, marks

_COLUMNS: Final = 3

Places = Mapping[tuple[str, str], Mapping[str, Any]]
"""(arm, budget) -> the entry of an axis in summary.json."""


def draw(
    names: tuple[str, str],
    by_axis: Mapping[str, Sequence[Places]],
    number: int,
    rule_based: Sequence[str],
) -> Drawing:
    """One panel an axis, one point an arm and budget, intervals both ways.

    Args:
        names: of the two judges.
        by_axis: axis -> the entries by each of the two.
        number: tells this drawing from others of the report.
        rule_based: who of the model and the judges is; what they said is rule-based.
    """
    budgets = list(dict.fromkeys(b for pair in by_axis.values() for p in pair for _, b in p))
    styles = marks(budgets)
    told = []
    with facets(len(by_axis), _COLUMNS, (0.8, 2.8), (0.4, 2.9)) as (figure, panels):
        for panel, (axis, (first, second)) in zip(panels, by_axis.items(), strict=True):
            panel.plot([0, 1], [0, 1], color=GREY, lw=0.8, ls="--")
            for place in first:
                x, y = first[place], second.get(place)
                if y is None or x["mean"] is None or y["mean"] is None:
                    continue
                mark = styles[place[1]]
                if x["ci_low"] is not None:
                    panel.plot([x["ci_low"], x["ci_high"]], [y["mean"]] * 2, color=mark.colour,
                               lw=0.8, alpha=0.6)  # fmt: skip
                if y["ci_low"] is not None:
                    panel.plot([x["mean"]] * 2, [y["ci_low"], y["ci_high"]], color=mark.colour,
                               lw=0.8, alpha=0.6)  # fmt: skip
                panel.plot(x["mean"], y["mean"], marker=mark.marker, color=mark.colour, ls="")
                told.append(f"{axis}, {place[0]} at {place[1]}: {x['mean']:.2f}, {y['mean']:.2f}")
            panel.set(title=axis, xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xlabel=names[0])
        for panel in panels[::_COLUMNS]:
            panel.set_ylabel(names[1])
        legend(figure, handles(styles.values()), [f"budget {b}" for b in budgets])
    label = "Measured with language models."
    if rule_based:
        named = ", ".join(rule_based)
        label = f"Rule-based, no evidence about language models: {named}."
    return Drawing(
        name=f"judges-{number}",
        title=f"{names[0]} and {names[1]}, the same answers",
        caption=(
            "Mean of each arm by one judge against the other's, with 95% intervals. On the dashed "
            f"line both agree on average. {label}"
        ),
        alt="Points: mean by each judge. " + "; ".join(told),
        figure=figure,
    )
