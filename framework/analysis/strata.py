"""A few axes by stratum, as a figure over depth would show them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["by_stratum", "stratum_tables"]

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
    names = sorted((n for n in strata if n.startswith(_PREFIX)), key=_natural)
    return {
        axis: {
            name.removeprefix(_PREFIX): {**strata[name][axis], "kind": overall[axis]["kind"]}
            for name in names
            if axis in strata[name]
        }
        for axis in axes
        if axis in overall
    }


def stratum_tables(jobs: Sequence[Mapping[str, Any]], also: str = "") -> list[Table]:
    """For every axis that the domain shows by stratum, a table: arms in rows, strata in columns.

    also : what else the titles say, beginning with a space.
    """
    from rich.table import Table

    from framework.reporting.format import entry_cell

    axes = dict.fromkeys(axis for job in jobs for axis in job.get("by_stratum") or ())
    tables = []
    for axis in axes:
        found = [(job["run"]["arch"], (job.get("by_stratum") or {}).get(axis, {})) for job in jobs]
        strata = sorted({name for _, entries in found for name in entries}, key=_natural)
        if len(strata) < 2:
            continue
        run = jobs[0]["run"]
        title = (
            f"{axis.replace('_', ' ')} by stratum  {run['domain']}  budget {run['budget']}{also}"
        )
        table = Table(title=title, title_justify="left")
        table.add_column("arm", no_wrap=True)
        for name in strata:
            table.add_column(name, justify="center")
        for arm, entries in found:
            table.add_row(arm, *(entry_cell(entries.get(name)) for name in strata))
        tables.append(table)
    return tables


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    parts = _NUMBER.split(name)
    return tuple((int(p), "") if p.isdigit() else (0, p) for p in parts)
