"""The axes that there are. Rows and tables know columns by name alone, so no two may share one."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from framework.errors import UserError
from framework.registry import Plugin, plugins


def axis_plugins() -> list[Plugin]:
    """The plugins of the group `axis`, by name.

    Raises UserError where two of them declare one column, whether or not they are measured.
    """
    known = plugins("axis")
    _check(tuple(plugin.cls for plugin in known))
    return known


@lru_cache(maxsize=1)
def _check(classes: tuple[type[Any], ...]) -> None:
    check_distinct(classes)


def check_distinct(axes: Iterable[type[Any]]) -> None:
    """Raise UserError naming the first column that two of these classes of axes declare."""
    owner: dict[str, type[Any]] = {}
    for axis in axes:
        for column in (*axis.names, *axis.ratios, *axis.balanced, *axis.corrected):
            if (other := owner.setdefault(column, axis)) is not axis:
                own, its = (getattr(each, "name", each.__qualname__) for each in (axis, other))
                raise UserError(
                    f"axis {own} ({axis.__module__}): column {column} belongs to axis {its} "
                    f"({other.__module__})"
                )
