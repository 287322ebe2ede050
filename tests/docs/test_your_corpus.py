"""your-corpus.md, done as a reader would: its files written, its commands run in order."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.docs.markdown import argv_of, blocks, commands
from tests.launching import read_json

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "guide" / "your-corpus.md"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_every_command_of_the_page(tmp_path: Path) -> None:
    for block in blocks(PAGE):
        if block.title:
            file = tmp_path / block.title
            file.parent.mkdir(exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
    said = []
    for command in commands(PAGE):
        done = subprocess.run(
            argv_of(command),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        said.append(done.stdout)
    imported, measured, case, compared = said
    assert imported == "decisions.jsonl: 3 documents, 1 relates_to, 1 requires, 1 supersedes\n"
    assert "depth_relates_to_mean" in measured
    assert "A booking service" in case
    assert compared.endswith("sweep: runs/decisions\n")
    jobs = read_json(tmp_path / "runs" / "decisions" / "sweep.json")["jobs"]
    assert {job["run"]["arch"]: job["axes"]["recall"]["mean"] for job in jobs}["oracle"] == 1
