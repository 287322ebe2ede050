"""The axes of rows that stand alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from framework.analysis.axes import RowColumns, axes_of_part
from framework.analysis.cost import Sharing
from framework.records import Row


def axes_of_rows(
    rows: Sequence[Row], seed: int, shared: Sharing | None = None
) -> dict[str, dict[str, Any]]:
    """As `axes_of_part` gives them."""
    return axes_of_part(RowColumns.of(rows), None, seed, shared)
