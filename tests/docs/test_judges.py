"""judges.md, done as a reader would: every command, in order; the sheet filled by hand."""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path

import pytest

from tests.docs.markdown import argv_of, commands

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "guide" / "judges.md"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_every_command_of_the_page(tmp_path: Path) -> None:
    typed = commands(PAGE)
    assert len(typed) >= 7
    printed = ""
    for command in typed:
        words = argv_of(command)
        if "--read" in words:
            _fill(tmp_path / words[words.index("--read") + 1])
        done = subprocess.run(
            words,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        printed += done.stdout
    assert "kappa >= .5" in printed
    assert "arms guessed from the wording" in printed
    assert "the judge beside the labels" in printed


def _fill(sheet: Path) -> None:
    with sheet.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "label": "yes" if i % 2 else "no"} for i, row in enumerate(rows))
