"""Axes by stratum of cases, and by depth where strata are depths."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from framework.analysis.axes import with_corrected
from framework.records import Row

if TYPE_CHECKING:
    from framework.analysis.evidence import Group, Job


_PREFIX: Final = "stratum="
_NUMBER: Final = re.compile(r"(\d+)")


def by_stratum(
    axes: Sequence[str],
    overall: Mapping[str, Mapping[str, Any]],
    strata: Mapping[str, Mapping[str, Any]],
) -> dict[str, dict[str, Any]]:
    """By axis and stratum, the entry of a summary's `strata`, with the kind of the axis.

    Strata are ordered by the numbers in their names: d2 before d10.
    """
    names = sorted((n for n in strata if n.startswith(_PREFIX)), key=natural)
    return {
        axis: {
            name.removeprefix(_PREFIX): {**strata[name][axis], "kind": overall[axis]["kind"]}
            for name in names
            if axis in strata[name]
        }
        for axis in axes
        if axis in overall
    }


def depths_of_strata(rows: Sequence[Row]) -> dict[str, int]:
    """For every depth, the stratum or tag (`depth=3`) that holds its rows and no others.

    Of several the stratum. A depth that no one name stands for is left out.
    """
    found: dict[str, list[int | None]] = defaultdict(list)
    for row in rows:
        for name in (f"{_PREFIX}{row.stratum}", *(f"{t}={value}" for t, value in row.tags.items())):
            found[name].append(row.depth)
    sizes = Counter(row.depth for row in rows)
    names: dict[int, str] = {}
    for name in sorted(found, key=lambda name: (not name.startswith(_PREFIX), name)):
        depth = found[name][0]
        if depth is not None and found[name] == [depth] * sizes[depth]:
            names.setdefault(depth, name)
    return {name: depth for depth, name in sorted(names.items())}


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """A key that orders names by the numbers in them: d2 before d10."""
    parts = _NUMBER.split(name)
    return tuple((int(p), "") if p.isdecimal() else (0, p) for p in parts)


def strata_of(group: Group) -> list[str]:
    """Names of the primary strata, in order; depths are a curve of their own (`depth`)."""
    found = dict.fromkeys(
        name.removeprefix(_PREFIX)
        for job in group.jobs
        for name in job.summary.get("strata", {})
        if name.startswith(_PREFIX) and name not in job.summary.get("depths", {})
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
    return _entry(job, _PREFIX + stratum, axis)


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
