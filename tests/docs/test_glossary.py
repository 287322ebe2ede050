"""Every column that an axis fills is explained to a reader of tables."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest

from framework.analysis.cost import MEASURES
from framework.contracts import Axis
from framework.registry import Plugin, plugins

ROOT: Final = Path(__file__).resolve().parents[2]
GLOSSARY: Final = ROOT / "docs" / "reference" / "glossary.md"
PAGE: Final = re.compile(r"docs/[\w/-]+\.md")
"""A page that an axis names in its docstring."""


def explained(path: Path) -> re.Pattern[str]:
    """The names that a page has in backticks, and the terms of its tables; NAME and k are any."""
    text = path.read_text(encoding="utf-8")
    terms = {cell for line in text.splitlines() if line.startswith("| ")
             for cell in re.split(r", ", line[2:].split(" | ")[0])}  # fmt: skip
    names = {*re.findall(r"`(\w+)`", text), *terms}
    patterns = (
        re.sub(r"NAME$", r"\\w+", re.sub(r"_at_k$", r"_at_\\d+", re.escape(name))) for name in names
    )
    return re.compile("|".join(patterns))


def columns(axis: type[Axis[Any]]) -> list[str]:
    return [*axis.names, *axis.ratios, *axis.balanced, *axis.corrected]


AXES: Final = [p for p in plugins("axis") if p.cls.__module__.startswith("plugins.")]
"""Those that ship: a test's own has no entry."""


@pytest.mark.parametrize("plugin", AXES, ids=lambda plugin: plugin.name)
def test_every_column_has_an_entry_or_a_page(plugin: Plugin) -> None:
    pages = [ROOT / name for name in PAGE.findall(plugin.cls.__doc__ or "")]
    known = [explained(page) for page in (GLOSSARY, *pages)]
    lacking = [
        column for column in columns(plugin.cls) if not any(one.fullmatch(column) for one in known)
    ]
    assert lacking == []


def test_what_being_right_costs_has_entries() -> None:
    known = explained(GLOSSARY)
    assert [name for name in MEASURES if not known.fullmatch(name)] == []


def test_a_column_that_nobody_explains_is_found() -> None:
    known = explained(GLOSSARY)
    assert known.fullmatch("recall_at_5")
    assert known.fullmatch("crr_published_corrected")
    for name in ("no_such_column", "recall_at_", "crr_other", "depth_of"):
        assert not known.fullmatch(name)
