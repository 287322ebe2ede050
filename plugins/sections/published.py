"""The comparisons again, as a paper compares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from framework.analysis.evidence import Evidence
from framework.contracts.section import AddFigure, Section, no_figure
from framework.registry import register
from framework.reporting.blocks import Block, Details, Table
from framework.reporting.cells import bounded, count, number_cell, p_cell
from framework.reporting.tables import table

_MANY: Final = 60
"""Rows that are shown at once; more are folded."""
_FIRST: Final = 40
"""Rows that are shown where the others are folded."""


@register("section", "published")
class Published(Section):
    """The same pairs under a published convention, if requested: for reproduction only."""

    place, place_at_end = 310, 310

    def blocks(self, evidence: Evidence, add_figure: AddFigure) -> Iterator[Block]:
        found = evidence.sweep.get("published_convention")
        if not found:
            return
        pairs = table(
            "published-table",
            f"The same pairs in the convention of {found['convention']}, for reproduction only: "
            "a case counts once for each budget, graded values of .5 and more are successes, p is "
            "count / N of one shared generator, and nothing is adjusted",
            {
                "pair": lambda row: f"{row['arm_a']} − {row['arm_b']}",
                "axis": "axis",
                "mean of first": ("mean_a", number_cell),
                "of second": ("mean_b", number_cell),
                "difference": lambda row: bounded(row["delta"], row["low"], row["high"], sign="+"),
                "p": ("permutation_p", p_cell),
                "McNemar p": ("mcnemar_p", p_cell),
                "h": ("cohens_h", number_cell),
                "n": ("n", count),
            },
            found["comparisons"],
        )
        yield from _long(pairs)

    def at_end(self, evidence: Evidence) -> Iterator[Block]:
        yield from self.blocks(evidence, no_figure)


def _long(pairs: Table) -> Sequence[Block]:
    """The table, or its first rows and then all of it folded away."""
    n = len(pairs.rows)
    if n <= _MANY:
        return [pairs]
    first = Table(
        anchor=f"{pairs.anchor}-first",
        caption=f"{pairs.caption} (first {_FIRST} of {n})",
        columns=pairs.columns,
        rows=pairs.rows[:_FIRST],
    )
    return [first, Details(f"All {n} published pairs", [pairs])]
