"""The first table of running.md names every option that ships."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest
import yaml

from framework.registry import plugins

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = ROOT / "docs" / "guide" / "running.md"
CONF: Final = ROOT / "conf"
GROUPS: Final = sorted(
    group
    for entry in yaml.safe_load((CONF / "config.yaml").read_text(encoding="utf-8"))["defaults"]
    if isinstance(entry, dict)
    for group in entry
    if not group.startswith("override ")
)


def row_of(group: str) -> str:
    """The row of the table that a group is named in."""
    table = PAGE.read_text(encoding="utf-8").partition("| group |")[2].partition("\n\n")[0]
    return next(row for row in table.splitlines() if f"`{group}`" in row.split(" | ")[0])


def named_for(group: str) -> set[str]:
    """The options that its row names; of archs, those of the pages that it links to."""
    row = row_of(group)
    if group != "arch":
        return set(re.findall(r"`(\w+)`", row))
    pages = (PAGE.parent / link for link in re.findall(r"\]\(([^)#]+)", row))
    return {name for page in pages for name in re.findall(r"\w+", page.read_text(encoding="utf-8"))}


def shipped(group: str) -> set[str]:
    """Its plugins, without those of tests, and its files, without former names."""
    files = {
        path.stem
        for path in (CONF / group).glob("*.yaml")
        if "former name" not in path.read_text(encoding="utf-8").partition("\n")[0]
    }
    return files | {p.name for p in plugins(group) if p.cls.__module__.startswith("plugins.")}


@pytest.mark.parametrize("group", GROUPS)
def test_every_option_is_named(group: str) -> None:
    if f"`conf/{group}`" in row_of(group):
        assert not [p for p in plugins(group) if p.cls.__module__.startswith("plugins.")]
        return
    assert shipped(group) - named_for(group) == set()


def test_a_missing_option_is_found() -> None:
    assert len(GROUPS) > 10
    assert "no_such_option" not in named_for("arch") | named_for("domain")
    assert "extractive_blind" not in shipped("model")
    assert {"regulated", "loan"} <= shipped("domain")
