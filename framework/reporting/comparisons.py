"""Comparisons as tables in the terminal: paired ones, published conventions, models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from framework.analysis.summary import SETTING
from framework.reporting.format import interval, number, p_value, short, signed

if TYPE_CHECKING:
    from rich.table import Table

_MARKS: Final = {"a better": "*", "b better": "*", "cannot conclude": "!", "equivalent": "="}


def in_order(rows: Sequence[Mapping[str, Any]], arms: Mapping[str, int]) -> list[Mapping[str, Any]]:
    """Comparisons of each budget and axis in the order of their arms; `arms` has their places."""
    found: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in (*SETTING, "budget", "axis")), []).append(row)
    return [
        row
        for each in found.values()
        for row in sorted(each, key=lambda row: (arms[row["arm_a"]], arms[row["arm_b"]]))
    ]


def comparison_tables(rows: Sequence[Mapping[str, Any]]) -> list[Table]:
    """Paired comparisons: against one baseline as a table a setting and budget, else as a list."""
    baselines = {row["arm_b"] for row in rows}
    if not rows:
        return []
    if len(baselines) > 1:
        return [comparison_list(rows)]
    key = (*SETTING, "budget")
    groups = dict.fromkeys(tuple(row[k] for k in key) for row in rows)
    return [_against([r for r in rows if tuple(r[k] for k in key) == group]) for group in groups]


def _against(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Each arm minus the baseline, by axis, with its interval; a star where Holm's p < .05."""
    from rich.table import Table

    axes = list(dict.fromkeys(row["axis"] for row in rows))
    first = rows[0]
    table = Table(
        title=(
            f"{first['domain']}  budget {first['budget']}  model {first['model']}  "
            f"minus {first['arm_b']}, paired by case"
        ),
        caption=(
            "* Holm-adjusted p < .05 over all comparisons composed. ! cannot conclude: too few "
            "cases to reach .05. = within the smallest effect declared. Every figure, the smallest "
            "p within reach too, is in comparison.csv."
        ),
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("arm", no_wrap=True)
    for axis in axes:
        table.add_column(axis.replace("_", " "), justify="center")
    for arm in dict.fromkeys(row["arm_a"] for row in rows):
        by_axis = {row["axis"]: row for row in rows if row["arm_a"] == arm}
        table.add_row(arm, *(_delta(by_axis.get(axis)) for axis in axes))
    return table


def _delta(row: Mapping[str, Any] | None) -> str:
    if row is None or row["delta"] is None:
        return "-"
    mark = _MARKS.get(row["conclusion"], "")
    first = f"{row['delta']:+.2f}{mark}"
    if row["ci_low"] is None:
        return first
    return f"{first}\n{short(row['ci_low'], '+')} {short(row['ci_high'], '+')}"


def comparison_list(rows: Sequence[Mapping[str, Any]], limit: int = 40) -> Table:
    """Paired comparisons; the first `limit`, the rest is in comparison.csv.

    `least p` is the smallest Holm-adjusted p that this many cases could reach in this family.
    """
    from rich.table import Table

    more = f" (first {limit} of {len(rows)})" if len(rows) > limit else ""
    helpless = sum(row["conclusion"] == "cannot conclude" for row in rows)
    hint = (
        f"{helpless} of {len(rows)} comparisons cannot conclude: a smaller family can; declare "
        "baseline=ARM to compare with one arm"
    )
    table = Table(
        title=f"paired on the same cases{more}",
        caption=hint if helpless else None,
        title_justify="left",
        caption_justify="left",
    )
    columns = (
        "budget",
        "axis",
        "a",
        "b",
        "a - b",
        "95% interval",
        "p",
        "Holm p",
        "least p",
        "n",
        "conclusion",
    )
    for column in columns:
        table.add_column(column)
    for row in rows[:limit]:
        ci = {"ci_low": row["ci_low"], "ci_high": row["ci_high"]}
        table.add_row(
            row["budget"],
            row["axis"],
            row["arm_a"],
            row["arm_b"],
            signed(row["delta"]),
            interval(ci),
            p_value(row["permutation_p"]),
            p_value(row["holm_p"]),
            p_value(row["smallest_holm_p"]),
            str(row["n"]),
            row["conclusion"],
        )
    return table


def compat_table(compat: Mapping[str, Any], limit: int = 40) -> Table:
    """The comparisons of a published convention; the first `limit`, the rest is in sweep.json."""
    from rich.table import Table

    rows = compat["comparisons"]
    more = f" (first {limit} of {len(rows)})" if len(rows) > limit else ""
    table = Table(
        title=f"compat={compat['convention']}: the same pairs as published{more}",
        caption=(
            "To reproduce, not to conclude: a case at each budget is a unit of its own, graded "
            "values succeed from .5 up, p is count / N of one shared generator, nothing adjusted."
        ),
        title_justify="left",
        caption_justify="left",
    )
    for column in ("axis", "a", "b", "a - b", "percentile 95%", "p", "McNemar p", "h", "n"):
        table.add_column(column)
    for row in rows[:limit]:
        table.add_row(
            row["axis"],
            row["arm_a"],
            row["arm_b"],
            signed(row["delta"]),
            interval({"ci_low": row["low"], "ci_high": row["high"]}),
            p_value(row["permutation_p"]),
            p_value(row["mcnemar_p"]),
            signed(row["cohens_h"]),
            str(row["n"]),
        )
    return table


def model_table(entries: Sequence[Mapping[str, Any]]) -> Table:
    """Arm means under two models: correlations over arms, largest difference, order."""
    from rich.table import Table

    table = Table(
        title="agreement between models, over the means of the arms",
        caption=(
            "same order: pairs of arms that both models tell apart and order alike. Arms that "
            "can't but fail or succeed hold up any correlation over so few points."
        ),
        title_justify="left",
        caption_justify="left",
    )
    for column in ("budget", "axis", "models", "arms", "Pearson r", "Spearman rho", "Kendall tau",
                   "mean |a - b|", "largest |a - b|", "same order"):  # fmt: skip
        table.add_column(column)
    for entry in entries:
        table.add_row(
            entry["budget"],
            entry["axis"],
            f"{entry['model_a']}, {entry['model_b']}",
            str(entry["n"]),
            *(number(entry[key]) for key in ("pearson", "spearman", "kendall", "mean_difference")),
            f"{entry['largest_difference']:.3f} ({entry['largest_arm']})",
            f"{entry['same_order']} of {entry['pairs']}",
        )
    return table
