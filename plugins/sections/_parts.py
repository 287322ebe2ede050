"""What of a group is shown by stratum and by depth: which axes, and their entries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from framework.analysis.axes import with_corrected
from framework.analysis.evidence import Group, Job
from framework.analysis.strata import PREFIX


def strata_of(group: Group) -> list[str]:
    """Names of the primary strata, in order; depths are a curve of their own (`depth`)."""
    found = dict.fromkeys(
        name.removeprefix(PREFIX)
        for job in group.jobs
        for name in job.summary.get("strata", {})
        if name.startswith(PREFIX) and name not in job.summary.get("depths", {})
    )
    return list(found)


def stratum_axis(group: Group) -> str | None:
    """The first headline axis that is not model-free, else the first: what a reader made of it."""
    with_values = [
        a
        for a in group.headline
        if any(stratum_entry(j, s, a) for j in group.jobs for s in strata_of(group))
    ]
    answered = [
        a
        for a in with_values
        if all(j.summary["axes"].get(a, {}).get("kind") != "model-free" for j in group.jobs)
    ]
    return next(iter([*answered, *with_values]), None)


def shown_in_parts(group: Group, axis: str) -> str:
    """The axis corrected for the judge's error where every job has that; else the axis itself."""
    *_, last = with_corrected([axis])
    return last if all(last in job.summary["axes"] for job in group.jobs) else axis


def stratum_entry(job: Job | None, stratum: str, axis: str) -> Mapping[str, Any] | None:
    """The axis of a job in a stratum; None where it has no mean there."""
    return _entry(job, PREFIX + stratum, axis)


def depths_of_group(group: Group) -> list[int]:
    """The depths of the cases, ascending; fewer than two make no curve."""
    return sorted({depth for job in group.jobs for depth in job.summary.get("depths", {}).values()})


def depth_axis(group: Group) -> str | None:
    """The first headline axis that has a value at some depth."""
    levels = depths_of_group(group)
    shown = (a for a in group.headline for d in levels for j in group.jobs if depth_entry(j, d, a))
    return next(shown, None)


def depth_entry(job: Job | None, depth: int, axis: str) -> Mapping[str, Any] | None:
    """The axis of a job at a depth; None where it has no mean there."""
    names = job.summary.get("depths", {}) if job else {}
    return _entry(job, next((name for name, d in names.items() if d == depth), ""), axis)


def _entry(job: Job | None, part: str, axis: str) -> Mapping[str, Any] | None:
    strata = job.summary.get("strata", {}) if job else {}
    found: Mapping[str, Any] | None = strata.get(part, {}).get(axis)
    return None if found is None or found["mean"] is None else found
