"""tuning.md, done as a reader would: every command, in order, with the status it names."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.docs.markdown import argv_of, commands
from tests.launching import read_json

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "tuning.md"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_command_of_the_page(tmp_path: Path) -> None:
    typed = commands(PAGE)
    assert len(typed) == 6
    for line in typed:
        command, _, comment = line.partition("  # ")
        named = re.search(r"exit status (\d)", comment)
        done = subprocess.run(
            argv_of(command.strip()), cwd=tmp_path, capture_output=True, text=True, check=False
        )
        expected = int(named[1]) if named else 0
        assert done.returncode == expected, f"{command}\n{done.stdout}\n{done.stderr}"
        assert expected == 0 or done.stdout == ""
    runs = tmp_path / "runs"
    assert {path.name for path in runs.iterdir()} == {"tuned", "own", "half"}
    arms = read_json(runs / "tuned/sweep_plan.json")["tuning"]["arms"]
    assert [len(arm.get("tried", ())) for arm in arms] == [0, 3, 3]
    (bm25, _) = read_json(runs / "own/sweep_plan.json")["tuning"]["arms"]
    assert bm25["space"] == {"k1": [0.5, 3], "epsilon": [0, 0.5]}
    half = read_json(runs / "half/summary.json")["run"]
    assert half["n_cases"] == 12
