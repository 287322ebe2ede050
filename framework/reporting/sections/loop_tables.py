"""Tables of improvement loops that pages and recipes share: the paper's 1b and 1c."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from framework.analysis.loops import CASES, CAVEAT, SPLITS, loops_summary
from framework.reporting.blocks import Cell, Table
from framework.reporting.cells import UNDEFINED, bounded, count, number_cell, p_cell

Named = tuple[str, Mapping[str, Any]]
"""A loop's name and the content of its improve.json."""

_STAGES: Final = (
    *("authored", "static", "sandbox", "best_of", "optimize", "confirm", "plateau"),
    "promoted",
)


def final_states(members: Sequence[Named], anchor: str = "final-states") -> Table:
    """The final stack against the bare pipeline by loop and split (the paper's table 1b)."""
    rows: list[Sequence[Cell | str]] = []
    several = len(members) > 1
    for name, results in members:
        for split in SPLITS:
            if split not in results:
                continue
            found = results[split]
            low, high = found["interval"]
            rows.append(
                [
                    f"{name}, {CASES[split]}" if name else CASES[split],
                    _size(found),
                    number_cell(found["before"]),
                    number_cell(found["after"]),
                    bounded(found["delta"], low, high, sign="+"),
                    count(found["wrong_to_right"]),
                    count(found["right_to_wrong"]),
                    p_cell(found["mcnemar_p"]),
                    p_cell(found.get("permutation_p")),
                    *((count(results["stopped"]["promotions"]), results["stopped"]["reason"])
                      if several else ()),
                ]
            )  # fmt: skip
    return Table(
        anchor=anchor,
        caption=(
            "The final stack against the bare pipeline, on the same cases, with 95% intervals. On "
            "CONFIRM it was selected; TEST was opened once, after the end. Where cases come in "
            "clusters intervals and permutation p are over these; McNemar p is case by case."
        ),
        columns=[
            *("cases", "n", "before", "after", "change", "wrong to right", "right to wrong"),
            *("McNemar p", "permutation p"),
            *(("promoted", "stopped") if several else ()),
        ],
        rows=rows,
    )


def _size(found: Mapping[str, Any]) -> Cell:
    """Cases, and the clusters that they come in."""
    clusters = found.get("clusters")
    under = "" if clusters is None else f"{clusters} clusters"
    return Cell(text=f"{found['n']:,}", under=under, value=found["n"])


def pooled_table(members: Sequence[Named], anchor: str = "pooled") -> Table:
    """Flips pooled over loops, and the test that has seeds as its unit."""
    summary = loops_summary([{"arm": "", "directory": n, "results": r} for n, r in members])
    return pooled_of(summary["arms"][""], anchor)


def pooled_of(arm: Mapping[str, Any], anchor: str) -> Table:
    """The same of an arm in the summary of a sweep's loops."""
    pooled, units = arm["pooled"], arm["seeds_as_units"]
    rows: list[Sequence[Cell | str]] = []
    for split, found in pooled.items():
        of_seeds = units.get(split)
        rows.append(
            [
                CASES[split],
                count(found["wrong_to_right"]),
                count(found["right_to_wrong"]),
                p_cell(found["mcnemar_p"]),
                *(
                    (UNDEFINED, UNDEFINED, UNDEFINED)
                    if of_seeds is None
                    else (
                        Cell(
                            text=f"{of_seeds['mean']:+.3f}",
                            under=f"{of_seeds['positive']} up, {of_seeds['negative']} down of "
                            f"{of_seeds['n']}",
                            value=of_seeds["mean"],
                        ),
                        p_cell(of_seeds["p"]),
                        p_cell(of_seeds["smallest_p"]),
                    )
                ),
            ]
        )
    return Table(
        anchor=anchor,
        caption=f"Pooled over loops. {CAVEAT}",
        columns=[
            *("cases", "wrong to right", "right to wrong", "McNemar p", "mean change"),
            *("p, seeds as the unit", "least p"),
        ],
        rows=rows,
    )


def funnel_table(members: Sequence[Named], anchor: str = "funnel") -> Table:
    """Where each authored candidate ended (the paper's table 1c), and at which seam it was."""
    seams = sorted({key for _, r in members for key in r["funnel"] if key.startswith("seam_")})
    return Table(
        anchor=anchor,
        caption="Where each authored candidate ended; the last columns count drafts by seam.",
        columns=["", *_STAGES, *(seam.removeprefix("seam_") for seam in seams), "stopped"],
        rows=[
            [
                name or "candidates",
                *(count(results["funnel"].get(stage, 0)) for stage in (*_STAGES, *seams)),
                results["stopped"]["reason"],
            ]
            for name, results in members
        ],
    )
