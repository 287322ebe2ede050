"""Forest of paired differences: every comparison with its interval, one panel an axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from framework.analysis.evidence import Group, higher_is_better
from framework.reporting.figures.labels import label_of, under
from framework.reporting.figures.style import (
    GREY,
    Drawing,
    facets,
    handles,
    legend,
    marks,
    rows_axis,
    whisker,
)

_COLUMNS: Final = 3
_MOST_PAIRS: Final = 12
"""Rows of a panel: where all pairs would be more, those with one arm are drawn."""


def forest(group: Group) -> Drawing | None:
    """Differences a - b by axis; axes without a better direction are left to the table."""
    rows, reference = shown(group)
    axes = [a for a in group.headline if higher_is_better(a) is not None and any(_of(rows, axis=a))]
    if not axes:
        return None
    pairs = sorted(
        {(row["arm_a"], row["arm_b"]) for row in rows},
        key=lambda pair: [group.arms.index(arm) for arm in pair],
    )
    names = [a if reference else f"{a} − {b}" for a, b in pairs]
    budgets = [b for b in group.budgets if any(_of(rows, budget=b))]
    styles = marks(budgets)
    height = (0.9, 0.55 + len(pairs) * (0.12 + 0.13 * len(budgets)))
    with facets(len(axes), _COLUMNS, (2.1, 2.4), height, sharey=True) as (figure, panels):
        for panel, axis in zip(panels, axes, strict=True):
            _panel(panel, axis, [_of(rows, axis=axis, budget=b) for b in budgets], pairs, styles,
                   higher_is_better(axis), group.smallest_effect)  # fmt: skip
            rows_axis(panel, names)
        legend(figure, handles(styles.values()), [f"budget {b}" for b in budgets])
    against = f"Each arm minus {reference}" if reference else "First arm minus second"
    effect = group.smallest_effect
    band = f" The grey band is the declared smallest effect, ±{effect:g}." if effect else ""
    declared = "" if group.baseline or not reference else (
        f" No baseline was declared: only pairs with {reference}, the first arm, are drawn; the "
        "table has all pairs."
    )  # fmt: skip
    return Drawing(
        name=f"forest-{group.index}",
        title="Paired differences on the same cases",
        caption=(
            f"{against}, with 95% intervals, one panel per axis ({under(group)}). Filled markers: "
            "the two arms are told apart, as in the verdict (Holm-adjusted p < .05 over all "
            "comparisons of the sweep, and the bounds within the family exclude 0). Right of 0 is "
            f"more; axes where less is better are marked.{band}{declared} {label_of(group, axes)}"
        ),
        alt=f"Forest plot of {len(pairs)} paired differences on {', '.join(axes)}: "
        + _told(rows, axes),
        figure=figure,
    )


def shown(group: Group) -> tuple[list[Mapping[str, Any]], str | None]:
    """The comparisons that are drawn, and the arm that all are against; None for all pairs."""
    rows = list(group.comparisons)
    against = {row["arm_b"] for row in rows}
    if len(against) == 1 and group.baseline in against:
        return rows, group.baseline
    if len({(row["arm_a"], row["arm_b"]) for row in rows}) <= _MOST_PAIRS:
        return rows, None
    first = group.arms[0]
    own = [row for row in rows if first in (row["arm_a"], row["arm_b"])]
    return [row if row["arm_b"] == first else _turned(row) for row in own], first


def _turned(row: Mapping[str, Any]) -> dict[str, Any]:
    """The comparison b - a."""

    def minus(value: float | None) -> float | None:
        return None if value is None else -value

    return {
        **row,
        "arm_a": row["arm_b"],
        "arm_b": row["arm_a"],
        "delta": minus(row["delta"]),
        "ci_low": minus(row["ci_high"]),
        "ci_high": minus(row["ci_low"]),
    }


def _of(rows: Sequence[Mapping[str, Any]], **where: str) -> list[Mapping[str, Any]]:
    return [
        row
        for row in rows
        if row["delta"] is not None and all(row[key] == value for key, value in where.items())
    ]


def _panel(
    panel: Any,
    axis: str,
    by_budget: Sequence[Sequence[Mapping[str, Any]]],
    pairs: Sequence[tuple[str, str]],
    styles: Mapping[str, Any],
    higher: bool | None,
    effect: float | None,
) -> None:
    panel.axvline(0, color="#222222", lw=0.9)
    if effect:
        panel.axvspan(-effect, effect, color="#e8e8e8", zorder=0)
    for j, (rows, mark) in enumerate(zip(by_budget, styles.values(), strict=True)):
        step = 0.62 / len(by_budget)
        for row in rows:
            at = pairs.index((row["arm_a"], row["arm_b"])) + (j - (len(by_budget) - 1) / 2) * step
            whisker(panel, at, row["ci_low"], row["ci_high"], mark.colour)
            panel.plot(row["delta"], at, marker=mark.marker, ls="", color=mark.colour, zorder=4,
                       mfc=mark.colour if _sure(row) else "white")  # fmt: skip
    for i in range(1, len(pairs)):
        panel.axhline(i - 0.5, color="#eeeeee", lw=0.6, zorder=0)
    panel.set_title(axis if higher else f"{axis} (less is better)")
    panel.margins(x=0.06)
    panel.locator_params(axis="x", nbins=5)
    panel.tick_params(axis="x", colors=GREY)


def _sure(row: Mapping[str, Any]) -> bool:
    """Whether one of the two is called better: p alone does not say so of skewed differences."""
    return row["conclusion"] in ("a better", "b better")


def _told(rows: Sequence[Mapping[str, Any]], axes: Sequence[str]) -> str:
    drawn = [row for row in rows if row["axis"] in axes]
    sure = sum(map(_sure, drawn))
    return f"{sure} of {len(drawn)} are told apart; every number is in the table."
