"""What results withstand: other models, a published convention, protected attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from framework.analysis.evidence import Evidence, Group
from framework.reporting.blocks import Block, Cell, Heading, Table, Text
from framework.reporting.cells import bounded, count, long_table, number_cell, p_cell
from framework.reporting.sections.overview import titled


def agreement(evidence: Evidence) -> Iterator[Block]:
    """Which orders of arms survive every model of the sweep."""
    found = evidence.sweep.get("reader_agreement") or []
    if not found:
        return
    yield Heading("Orders that survive all models", "models")
    yield Text(
        "An order of arms is worth stating only if its order survives every reader. Ordered: "
        "pairs of arms to which every model gives different means; surviving: those that all of "
        "them order alike, the higher first."
    )
    yield Table(
        anchor="models-table",
        caption=f"Models: {', '.join(found[0]['models'])}.",
        columns=["axis", "budget", "ordered", "surviving", "which"],
        rows=[
            [
                entry["axis"],
                entry["budget"],
                count(entry["ordered_pairs"]),
                count(len(entry["surviving"])),
                ", ".join(f"{a} > {b}" for a, b in entry["surviving"]),
            ]
            for entry in found
        ],
    )
    pairs = evidence.sweep.get("model_agreement") or []
    if pairs:
        yield Table(
            anchor="models-pairs",
            caption="Means of the arms under one model beside those under another.",
            columns=[
                *("axis", "budget", "models", "arms", "Pearson", "Spearman", "Kendall tau"),
                "mean |difference|",
                *("largest", "of arm", "same order", "pairs told apart"),
            ],
            rows=[
                [
                    entry["axis"],
                    entry["budget"],
                    f"{entry['model_a']}, {entry['model_b']}",
                    count(entry["n"]),
                    *(number_cell(entry[k], 3) for k in ("pearson", "spearman", "kendall")),
                    number_cell(entry["mean_difference"]),
                    number_cell(entry["largest_difference"]),
                    entry["largest_arm"],
                    count(entry["same_order"]),
                    count(entry["pairs"]),
                ]
                for entry in pairs
            ],
        )


def published(evidence: Evidence) -> Iterator[Block]:
    """The same pairs in a published convention, where one was asked for: to reproduce only."""
    found = evidence.sweep.get("compat")
    if not found:
        return
    rows: list[Sequence[Cell | str]] = [
        [
            f"{row['arm_a']} − {row['arm_b']}",
            row["axis"],
            number_cell(row["mean_a"]),
            number_cell(row["mean_b"]),
            bounded(row["delta"], row["low"], row["high"], sign="+"),
            p_cell(row["permutation_p"]),
            p_cell(row["mcnemar_p"]),
            number_cell(row["cohens_h"]),
            count(row["n"]),
        ]
        for row in found["comparisons"]
    ]
    yield from long_table(
        Table(
            anchor="published-table",
            caption=(
                f"The same pairs in the convention of {found['convention']}, to reproduce, not to "
                "conclude: a case at each budget is a unit of its own, graded values succeed from "
                ".5 up, p is count / N of one shared generator, nothing adjusted"
            ),
            columns=[
                *("pair", "axis", "mean of first", "of second", "difference", "p"),
                *("McNemar p", "h", "n"),
            ],
            rows=rows,
        ),
        name="published pairs",
    )


def treatment(evidence: Evidence) -> Iterator[Block]:
    """How twins that differ in a protected attribute alone were treated."""
    tables = [table for group in evidence.groups if (table := _treated(group)).rows]
    if tables:
        yield Heading("Protected attributes", "treatment")
        yield Text(
            "Twins are cases that differ in the attribute alone: protected minus reference group, "
            "with 95% limits, unadjusted. A difference is the arm's or chance; none found is not "
            "fairness."
        )
        yield from tables


def _treated(group: Group) -> Table:
    rows: list[Sequence[Cell | str]] = []
    for job in group.jobs:
        for name, entry in (job.summary.get("treatment") or {}).get("attributes", {}).items():
            rows.append(
                [
                    job.arm,
                    job.budget,
                    name.replace("_", " "),
                    count(entry["n"]),
                    _of(entry["decisions"], "delta"),
                    _of(entry["decisions_changed"], "mean"),
                    _of(entry["reasons_changed"], "mean"),
                    _of(entry["retention"], "delta"),
                    _of(entry["impact_ratio"], "value"),
                    entry["adverse_impact"],
                ]
            )
    return Table(
        anchor=f"treatment-table-{group.index}",
        caption=titled("Treatment of twins by arm and attribute", group),
        columns=[
            *("arm", "budget", "attribute", "pairs", "favourable", "decided differently"),
            *("other reasons", "retained", "impact ratio", "adverse impact"),
        ],
        rows=rows,
    )


def _of(entry: Mapping[str, Any], key: str) -> Cell:
    sign = "+" if key == "delta" else ""
    return bounded(entry[key], entry["ci_low"], entry["ci_high"], sign=sign)
