"""What became of an arm's cases, and how arms rank by it: shown by several sections and figures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from framework.analysis.evidence import Group, Job, higher_is_better
from framework.analysis.outcomes import PARTS, part_values
from framework.statistics.intervals import Interval, mean_intervals
from plugins.sections._omnibus import CriticalDifference, critical_difference


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
