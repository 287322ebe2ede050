"""leaderboard.md, done as a reader would."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.docs.markdown import argv_of, blocks, commands
from tests.plugins.commands.leaderboard.forging import TAMPERED

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "leaderboard.md"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_command_of_the_page(tmp_path: Path) -> None:
    (rules,) = (block for block in blocks(PAGE) if block.title)
    (tmp_path / rules.title).parent.mkdir()
    (tmp_path / rules.title).write_text(rules.text, encoding="utf-8")
    for line in commands(PAGE):
        done = subprocess.run(
            argv_of(line), cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (line, done.stderr)
    assert done.stdout == "2 arms accepted, 0 bundles refused\nboard/board.html\n"


def test_the_page_counts_the_kinds_of_tampering() -> None:
    found = re.search(r"try (\d+) kinds", PAGE.read_text(encoding="utf-8"))
    assert found is not None
    assert int(found[1]) == len(TAMPERED)
