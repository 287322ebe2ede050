"""What every printed column means, from the one place that says it: the docstring that fills it.

A definition is a line `name : text` or `name, name : text` at the margin of an axis's docstring, or
of `framework.analysis.cost`'s, with its continuation indented. `fired_NAME` stands for every column
that begins so.
"""

from __future__ import annotations

import inspect
import re
from functools import cache
from typing import Final

from framework.analysis import cost
from framework.contracts import axis_plugins
from framework.registry import Plugin

_ANY: Final = "NAME"
_OTHERS: Final = {
    "view tokens": "tokens of the view that an arm showed the reader, on average",
    "declared inputs": "what an arm declares that it gets beyond events and query",
}
"""Columns of the result tables that no axis fills."""
_DEFINED: Final = re.compile(r"^([a-z]\w*(?:, [a-z]\w*)*) : (.+(?:\n +.+)*)", re.MULTILINE)


def defined_in(doc: str | None) -> dict[str, str]:
    """By column, its definition in one line, in the order of the docstring."""
    return {
        name: " ".join(text.split())
        for names, text in _DEFINED.findall(inspect.cleandoc(doc or ""))
        for name in names.split(", ")
    }


def columns_of(plugin: Plugin) -> dict[str, str]:
    """By column of an axis, its definition; empty for one that has none."""
    said = defined_in(plugin.cls.__doc__)
    many = {name.removesuffix(_ANY): text for name, text in said.items() if name.endswith(_ANY)}
    names = [*plugin.cls.names, *plugin.cls.ratios, *plugin.cls.balanced, *plugin.cls.corrected]
    of_many = {
        name: text for name in names for start, text in many.items() if name.startswith(start)
    }
    return {name: said.get(name) or of_many.get(name, "") for name in names}


def of_cost() -> dict[str, str]:
    """By column of what being right costs, its definition."""
    return defined_in(cost.__doc__)


@cache
def definitions() -> dict[str, str]:
    """By column of any table of axes, its definition."""
    found = {**_OTHERS, **of_cost()}
    for plugin in axis_plugins():
        found |= columns_of(plugin)
    return found
