"""Tables from a list of headings, each with what it shows of a row's item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from framework.analysis.evidence import Group, Job
from framework.reporting.blocks import Cell, Table
from framework.reporting.cells import entry_cell

Show = Callable[[Any], Cell | str]
Column = str | tuple[str, Show] | Show
"""What stands under a heading: an item's field of that name as text; what a function makes of that
field; or what a function makes of the item."""
Columns = Mapping[str, Column]


def table(anchor: str, caption: str, columns: Columns, items: Iterable[Any]) -> Table:
    """A table with a row for each item.

    An item is an object, or a mapping, of which a field that is not there is None.
    """
    rows = [[_shown(column, item) for column in columns.values()] for item in items]
    return Table(anchor=anchor, caption=caption, columns=list(columns), rows=rows)


def arms_table(
    group: Group, name: str, caption: str, columns: Columns, found: Iterable[tuple[Job, Any]]
) -> Iterator[Table]:
    """A table of a group with the arm and the budget before what was found of each job, if any."""
    pairs = list(found)
    if pairs:
        made = table("", "", {"arm": "arm", "budget": "budget"}, (job for job, _ in pairs))
        rest = table("", "", columns, (item for _, item in pairs))
        yield Table(
            anchor=f"{name}-{group.index}",
            caption=titled(caption, group),
            columns=[*made.columns, *rest.columns],
            rows=[[*a, *b] for a, b in zip(made.rows, rest.rows, strict=True)],
        )


def means_table(group: Group, name: str, caption: str, axes: Iterable[str]) -> Iterator[Table]:
    """A table of a group with the means of these axes."""
    found = ((job, job.summary["axes"]) for job in group.by_budget)
    return arms_table(
        group, name, f"{caption}: means with 95% intervals", each(axes, entry_cell), found
    )


def each(names: Iterable[str], show: Show) -> dict[str, Column]:
    """Columns of fields under their own names, shown alike."""
    return {name: (name, show) for name in names}


def titled(text: str, group: Group) -> str:
    """A heading, and what tells this group from others where there are several."""
    return f"{text} ({group.differs})" if group.differs else text


def _shown(column: Column, item: Any) -> Cell | str:
    if callable(column):
        return column(item)
    name, show = (column, str) if isinstance(column, str) else column
    return show(item.get(name) if isinstance(item, Mapping) else getattr(item, name))
