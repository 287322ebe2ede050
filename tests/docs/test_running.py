"""running.md, done as a reader would: every command, in order, with the status it names."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.docs.markdown import argv_of, commands, is_run
from tests.launching import read_json

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "guide" / "running.md"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_every_command_of_the_page(tmp_path: Path) -> None:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    typed = commands(PAGE)
    assert len(typed) > 10
    for line in typed:
        command, _, comment = line.partition("  # ")
        named = re.search(r"exit status (\d)", comment)
        words = argv_of(command)
        done = subprocess.run(
            words,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        expected = int(named[1]) if named else 0
        assert done.returncode == expected, f"{command}\n{done.stdout}\n{done.stderr}"
        if expected == 2:
            assert done.stderr.startswith("error: ")
            assert done.stdout == ""
        elif is_run(command):
            name = next(w.split("=")[1].removeprefix("runs/") for w in words if is_named(w))
            assert done.stdout.splitlines()[-1] in (f"run: runs/{name}", f"sweep: runs/{name}")
    _check_what_the_page_says(tmp_path / "runs")


def is_named(word: str) -> bool:
    return word.startswith(("run_name=", "resume="))


def _check_what_the_page_says(runs: Path) -> None:
    held = {path.name for path in (runs / "first").iterdir()}
    page = PAGE.read_text(encoding="utf-8")
    _, _, section = page.partition("## What a run directory holds")
    listed = set(re.findall(r"^\| `([\w.]+)/?` \|", section, re.MULTILINE))
    assert held == listed - {"tracking.json"}, "nothing was uploaded here"
    arms = [
        read_json(path)["run"]["arch"]
        for path in sorted(runs.glob("*/summary.json"), key=lambda p: p.stat().st_mtime)
    ]
    assert sorted(arms) == ["bm25", "bm25", "full_context", "none", "oracle"], "run once each"
