"""The guide's mappings are checked as they are, and its memory is the one of these tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.engine.compose import compose_plan, composer, options_of
from plugins.archs.external._settings import SystemSettings
from tests.docs.markdown import blocks
from tests.plugins.archs.external.systems import HERE

PAGE = HERE.parents[3] / "docs" / "guide" / "adding-a-memory.md"
MAPPINGS = [block.text for block in blocks(PAGE) if block.language == "yaml"]


@pytest.mark.parametrize("text", MAPPINGS, ids=range(len(MAPPINGS)))
def test_a_mapping_of_the_guide_is_valid(text: str, tmp_path: Path) -> None:
    (tmp_path / "arch").mkdir()
    (tmp_path / "arch/mine.yaml").write_text(text)
    with options_of(str(tmp_path)), composer():
        settings = compose_plan(["arch=mine"]).parts["arch"].settings
    assert isinstance(settings, SystemSettings)
    assert settings.version
    assert settings.licence


def test_there_is_a_mapping_for_each_transport() -> None:
    assert [text.split("[")[1].split(",")[0] for text in MAPPINGS] == [
        *("process", "process"),
        "mcp",
        "http",
    ]


def test_the_guides_memory_is_the_one_that_is_tested() -> None:
    (script,) = [block.text for block in blocks(PAGE) if block.title == "memory.sh"]
    assert script == (HERE / "memory.sh").read_text()
