"""Success and failure by case, split by what the view held: what several figures are about.

Success is the domain's own. It splits into answers from a view that sufficed (P_ret kappa), from
one that did not ((1 - P_ret) leak), and right answers that were a default or a forced choice,
exactly on the rows (validity.md section 3). Cases in which abstaining is right are left out: their
retention means something else (`p_ret_abstain`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from framework.analysis.evidence import Group, Job, higher_is_better
from framework.analysis.forms import of_read_forms
from framework.records import ABSTAIN, Row
from framework.statistics.intervals import Interval, mean_intervals
from framework.statistics.omnibus import CriticalDifference, critical_difference

PARTS: Final[Mapping[str, str]] = {
    "retained_right": "view sufficient, right",
    "leaked": "not sufficient, right all the same",
    "right_undetermined": "right by a default or forced choice",
    "retained_wrong": "view sufficient, not used",
    "lost_wrong": "not sufficient, wrong",
    "failed": "failed (error)",
}
"""What can become of a case, and the words for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """Shares of cases with intervals.

    success : over the rows without an error, as every axis. parts : by `PARTS`, over all rows; they
        sum to 1.
    """

    success: Interval
    parts: Mapping[str, Interval]


def outcomes(job: Job) -> Outcomes | None:
    """Outcomes of the cases of a job; None where it has no success to split."""
    found = part_values(job)
    if found is None:
        return None
    parts, clusters = found
    succeeded = success_values(job, "success")
    columns: dict[str, list[float | None]] = {
        name: list(shares.values()) for name, shares in parts.items()
    }
    columns["success"] = [succeeded.get(case) for case in clusters]
    intervals = mean_intervals(
        columns, list(clusters.values()), seed=int(job.summary["run"]["seed"])
    )
    return Outcomes(success=intervals["success"], parts={name: intervals[name] for name in PARTS})


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


def outcome_axis(group: Group) -> str | None:
    """The axis that stands for doing well where one is needed: `success`, else a headline axis.

    The headline axis is the domain's first where more is better; None where there is none.
    """
    if any(row.success is not None for job in group.jobs for row in job.good):
        return "success"
    return next((axis for axis in group.headline if higher_is_better(axis)), None)


def success_values(job: Job, axis: str) -> dict[str, float]:
    """Case id -> mean value of an axis, or of `success`, over repeats and trials."""
    if axis != "success":
        column = job.means.column(job.budget, job.arm, axis) if job.good else {}
        return {case: value for case, value in column.items() if value is not None}
    found: dict[str, list[float]] = defaultdict(list)
    for row in job.good:
        value = row.success
        if value is not None:
            found[row.case_id].append(value)
    return {case: sum(values) / len(values) for case, values in sorted(found.items())}


def ranked(group: Group, budget: str) -> tuple[int, CriticalDifference] | None:
    """Cases that every arm defines, and Nemenyi's comparison on them.

    None for fewer than three arms, no such case, or cases that all tie.
    """
    axis = outcome_axis(group)
    columns = {
        arm: success_values(job, axis)
        for arm in group.arms
        if axis is not None and (job := group.job(arm, budget)) is not None
    }
    columns = {arm: values for arm, values in columns.items() if values}
    if len(columns) < 3:
        return None
    shared = sorted(set.intersection(*(set(values) for values in columns.values())))
    table = np.array([[values[case] for values in columns.values()] for case in shared])
    if not len(shared) or not np.any(np.ptp(table, axis=1) > 0):
        return None
    found = critical_difference(table, list(columns), seed=int(group.run["seed"]))
    return len(shared), found


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
