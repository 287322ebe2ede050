"""running.md, done as a reader would: every command, in order, with the status it names."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.docs.markdown import argv_of, blocks, commands, is_run
from tests.launching import read_json

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "guide" / "running.md"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_every_command_of_the_page(tmp_path: Path) -> None:
    typed = commands(PAGE)
    assert len(typed) > 10
    for line in typed:
        command, _, comment = line.partition("  # ")
        named = re.search(r"exit status (\d)", comment)
        words = argv_of(command)
        done = subprocess.run(
            words,
            cwd=tmp_path,
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
    elsewhere = {"tracking.json", "segments"}
    assert held == listed - elsewhere, "nothing was uploaded here, and the run is short"
    arms = [
        read_json(path)["run"]["arch"]
        for path in sorted(runs.glob("*/summary.json"), key=lambda p: p.stat().st_mtime)
    ]
    assert sorted(arms) == ["bm25", "bm25", "bm25", "full_context", "none", "oracle"]


def sh(script: str, place: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """What a script does in a folder where `make setup` was done, commands found by name too."""
    if not (place / ".venv").exists():
        (place / ".venv").symlink_to(sys.prefix)
    found = os.pathsep.join([str(place / ".venv/bin"), os.environ["PATH"]])
    python = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=place,
        env={**os.environ, "PATH": found, "PYTHONPATH": python, **env},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_gate_of_the_page_passes_in_github_actions_and_in_a_shell(tmp_path: Path) -> None:
    """Its steps run as they stand but for `uses:` and `make setup`, which the test has done."""
    written = {block.title: block.text for block in blocks(PAGE) if block.title}
    assert written.keys() == {".github/workflows/memory.yml", "gate.sh"}
    (job,) = yaml.safe_load(written[".github/workflows/memory.yml"])["jobs"].values()
    steps = [step["run"] for step in job["steps"] if "run" in step]
    assert steps[0] == "make setup"
    assert len(steps) == 3
    first, report = (sh(step, tmp_path, NAME="candidate-1-1") for step in steps[1:])
    assert first.returncode == report.returncode == 0, first.stderr + report.stderr
    held = "passed. not worse than bm25 on surface_ceiling"
    said = f"gate noninferiority for typed_graph loose: {held}\n"
    assert said in first.stderr
    assert first.stdout.endswith("run: runs/candidate-1-1\n")
    assert report.stdout == "runs/candidate-1-1/report.html\n"
    again = sh(written["gate.sh"], tmp_path)
    assert again.returncode == 0, again.stderr
    assert said in again.stderr
    arms = [read_json(path)["run"]["arch"] for path in (tmp_path / "runs").glob("*/summary.json")]
    assert sorted(arms) == ["bm25", "none", "typed_graph", "typed_graph"], "one baseline for both"
    worse = written["gate.sh"].replace("typed_graph", "none").replace("candidate", "worse")
    failed = sh(worse, tmp_path)
    assert failed.returncode == 3
    assert "gate noninferiority for none loose: FAILED. surface_ceiling: failed" in failed.stderr
    assert (tmp_path / "runs/worse/report.html").is_file()
    wrong = sh(worse.replace("worse", "wrong").replace("bm25", "bm52"), tmp_path)
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("error: gate.baseline: 'bm52'")
