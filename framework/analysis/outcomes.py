"""Success and failure by case, split by what the view held: what became of each.

Success is the domain's own. It splits into answers from a view that sufficed (P_ret kappa), from
one that did not ((1 - P_ret) leak), and right answers that were a default or a forced choice,
exactly on the rows (validity.md section 3). Cases in which abstaining is right are left out: their
retention means something else (`p_ret_abstain`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Final

from framework.analysis.evidence import Job
from framework.analysis.forms import of_read_forms
from framework.records import ABSTAIN, Row

PARTS: Final[Mapping[str, str]] = {
    "retained_right": "view sufficient, right",
    "leaked": "not sufficient, right all the same",
    "right_undetermined": "right by a default or forced choice",
    "retained_wrong": "view sufficient, not used",
    "lost_wrong": "not sufficient, wrong",
    "failed": "failed (error)",
}
"""What can become of a case, and the words for it."""


def part_values(job: Job) -> tuple[dict[str, dict[str, float]], dict[str, str]] | None:
    """By part and case, the share of its rows that ended so; and the cluster of each case.

    None where the job has no success to split.
    """
    if not any(map(_splits, job.good)):
        return None
    by_case: dict[str, list[Row]] = defaultdict(list)
    for row in sorted(of_read_forms(job.rows), key=lambda row: row.key):
        if row.expected != ABSTAIN and (row.error or _splits(row)):
            by_case[row.case_id].append(row)
    parts = {
        name: {case: sum(map(test, rows)) / len(rows) for case, rows in by_case.items()}
        for name, test in _TESTS.items()
    }
    return parts, {case: rows[0].cluster or case for case, rows in by_case.items()}


def _splits(row: Row) -> bool:
    """Whether there was a decision to make, and the row says if it was right and if it could be."""
    return row.expected != ABSTAIN and row.success is not None and row.sufficient is not None


def _is(kept: bool, right: bool) -> Callable[[Row], float]:
    def test(row: Row) -> float:
        if row.error:
            return 0.0
        used = row.success == 1.0 and not _lucky(row)
        return float(row.sufficient is kept and used is right and not _lucky(row))

    return test


def _lucky(row: Row) -> bool:
    """Whether it was right undetermined; rows of before that was told apart say no."""
    return row.axes.get("right_undetermined") == 1.0


_TESTS: Final[Mapping[str, Callable[[Row], float]]] = {
    "retained_right": _is(kept=True, right=True),
    "leaked": _is(kept=False, right=True),
    "right_undetermined": lambda row: float(not row.error and _lucky(row)),
    "retained_wrong": _is(kept=True, right=False),
    "lost_wrong": _is(kept=False, right=False),
    "failed": lambda row: float(bool(row.error)),
}
