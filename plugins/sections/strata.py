"""Where arms differ by case: axes by stratum, and by depth where cases have one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from framework.analysis.axes import corrected, with_corrected
from framework.analysis.strata import natural
from framework.registry import register
from framework.reporting.blocks import Block, Cell, Text
from framework.reporting.cells import UNDEFINED, entry_cell
from framework.reporting.grouped import GroupedSection
from framework.reporting.tables import arms_table, each
from plugins.sections._parts import (
    depth_axis,
    depth_entry,
    depths_of_group,
    strata_of,
    stratum_axis,
    stratum_entry,
)

if TYPE_CHECKING:
    from framework.analysis.evidence import Group, Job
    from framework.reporting.figures.style import Drawing


@register("section", "strata")
class Strata(GroupedSection):
    """The domain's breakdown by stratum; the headline axis by stratum; an axis by depth."""

    place, place_at_end = 440, 100
    title, anchor = "Strata and depth", "strata"
    draws = ("strata", "depth")

    def draw(self, name: str, group: Group) -> Drawing | None:
        from plugins.sections.figures import parts

        return (parts.strata if name == "strata" else parts.depth)(group)

    def tables(self, group: Group) -> Iterator[Block]:
        names, shown = strata_of(group), stratum_axis(group)
        axes: list[str] = []
        if len(names) > 1 and shown is not None:
            named = (*with_corrected([shown]), "p_ret")
            axes = list(dict.fromkeys(a for a in named if a == shown or group.has(a)))
        levels, deepest = depths_of_group(group), depth_axis(group)
        deep = with_corrected([] if deepest is None or len(levels) < 2 else [deepest])
        declared = (axis for job in group.jobs for axis in job.summary.get("by_stratum") or ())
        shown_all = {*axes, *deep, *declared}
        if made := [a for a in corrected() if a in shown_all and group.has(a)]:
            yield Text(
                f"{', '.join(made)}: the judge is assumed to err as often in each stratum as on "
                "its whole calibration set. Every stratum is corrected by the same sample of its "
                "verdicts, so the limits of two strata are not independent."
            )
        yield from declared_strata(group, but=axes)
        for axis in axes:
            yield from arms_table(
                group,
                f"strata-table-{axis}",
                f"{axis} by stratum",
                each(names, _part),
                (
                    (
                        job,
                        {
                            name: _of_kind(job, axis, stratum_entry(job, name, axis))
                            for name in names
                        },
                    )
                    for job in group.by_budget
                ),
            )
        for axis in (a for a in deep if group.has(a)):
            yield from arms_table(
                group,
                "depth-table" if axis == deepest else f"depth-table-{axis}",
                f"{axis} by depth in hops",
                each(map(str, levels), _part),
                (
                    (
                        job,
                        {str(d): _of_kind(job, axis, depth_entry(job, d, axis)) for d in levels},
                    )
                    for job in group.by_budget
                ),
            )

    def at_end_of(self, group: Group) -> Iterator[Block]:
        yield from declared_strata(group)


def declared_strata(group: Group, but: Sequence[str] = ()) -> Iterator[Block]:
    """The axes that the domain shows by stratum, `but` some: arms in rows, strata in columns."""
    found = [(job, job.summary.get("by_stratum") or {}) for job in group.by_budget]
    axes = dict.fromkeys(axis for job in group.jobs for axis in job.summary.get("by_stratum") or ())
    for axis in (axis for axis in axes if axis not in but):
        entries = [(job, of.get(axis, {})) for job, of in found]
        names = sorted({name for _, own in entries for name in own}, key=natural)
        if len(names) > 1:
            yield from arms_table(
                group,
                f"strata-declared-{axis}",
                f"{axis} by stratum, {group.run['domain']}",
                each(names, entry_cell),
                entries,
            )


def _of_kind(job: Job, axis: str, entry: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """An axis over a part of a job's cases, of the kind that it is over them all."""
    return entry and {**entry, "kind": job.summary["axes"][axis]["kind"]}


def _part(entry: Mapping[str, Any] | None) -> Cell:
    """An axis over a part of a job's cases, with their number."""
    if entry is None:
        return UNDEFINED
    shown = entry_cell(entry)
    return Cell(text=shown.text, under=f"{shown.under} n={entry['n']}".strip(), value=shown.value)
