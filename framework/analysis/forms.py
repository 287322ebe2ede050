"""What of a run's figures may be pooled: a reader's are of the forms of wording that it reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from framework.records import Row
from framework.registry import plugins


def poolable(rows: Sequence[Row]) -> list[Row]:
    """The rows; of those in a form that was not read, only what needs no model.

    Rows that are all read, or all not, stay as they are: nothing is pooled there.
    """
    if len({row.form_read for row in rows}) < 2:
        return list(rows)
    free = {name for plugin in plugins("axis") for name in plugin.cls.model_free}
    return [row if row.form_read else _without_reader(row, free) for row in rows]


def of_read_forms(rows: Sequence[Row]) -> list[Row]:
    """The rows in forms that were read, errors among them; all where none, or each, is."""
    return [row for row in rows if row.form_read] or list(rows)


def _without_reader(row: Row, free: set[str]) -> Row:
    axes = {name: value if name in free else None for name, value in row.axes.items()}
    return replace(row, axes=axes, success=None)
