"""What of a run's figures may be pooled: a model's are of the forms of wording that it reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from framework.contracts import axis_plugins
from framework.records import Row
from framework.rows import PackedRows, chosen

_MEMORY: Final = ("ingest", "recall")
"""The phases in which a memory is built and asked."""


def poolable(rows: Sequence[Row]) -> Sequence[Row]:
    """The rows; of those in a form that was not read, only what needs no model (`model_free`).

    Rows that are all read, or all not, stay as they are: nothing is pooled there.
    """
    if len({row.form_read for row in rows}) < 2:
        return rows
    free = model_free(rows)
    return PackedRows(row if row.form_read else _without_model(row, free) for row in rows)


def model_free(rows: Sequence[Row]) -> set[str]:
    """The axes in which no model has a hand: none where one was asked to build or ask the memory.

    What a rule-based model wrote into a memory is as bound to the forms that it reads as what it
    answers: a memory of its notes holds the facts of the one and hardly any of the other.
    """
    return set() if any(map(asks_model, rows)) else model_free_axes()


def asks_model(row: Row) -> bool:
    """Whether a model helped to build or ask the memory of a row."""
    return any(row.usage[phase].calls for phase in _MEMORY if phase in row.usage)


def model_free_axes() -> set[str]:
    """The axes in which no model has a hand, where none built the memory."""
    return {name for plugin in axis_plugins() for name in plugin.cls.model_free}


def of_read_forms(rows: Sequence[Row]) -> Sequence[Row]:
    """The rows in forms that were read, errors among them; all where none, or each, is."""
    return chosen(rows, lambda row: row.form_read) or rows


def of_memory(rows: Sequence[Row]) -> Sequence[Row]:
    """The rows whose views may be pooled: where a model built or asked the memory, those it read.

    All where no model did.
    """
    return of_read_forms(rows) if any(map(asks_model, rows)) else rows


def _without_model(row: Row, free: set[str]) -> Row:
    axes = {name: value if name in free else None for name, value in row.axes.items()}
    return replace(row, axes=axes, success=None, sufficient=row.sufficient if free else None)
