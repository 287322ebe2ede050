"""README.md as a reader pastes it: every shell block, in order; and one name for the command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.markdown import blocks

ROOT = Path(__file__).resolve().parent.parent.parent
README = ROOT / "README.md"
SHOWN = ("README.md", "conf", "docs", "framework", "plugins", "hydra_plugins", "run.py")


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_every_shell_block_is_pasted(tmp_path: Path) -> None:
    """All commands of `decisionbench` run as they stand.

    Of `make` it is only checked that there is such a target: setup has been done, `make run` is run
    by the benchmark of its time, and `make ui` waits for a browser.
    """
    (tmp_path / ".venv").symlink_to(sys.prefix)
    make = f'make() {{ command make -n -C "{ROOT}" "$@" >/dev/null; }}\n'
    pasted = [block.text for block in blocks(README) if block.language == "shell"]
    assert len(pasted) >= 2
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", make + "".join(pasted)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ["PYTHONPATH"]])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr}"
    assert "run: runs/first" in done.stdout
    assert "sweep: runs/three" in done.stdout
    assert "VIEW (" in done.stdout


def test_the_command_has_one_name() -> None:
    """`python -m framework` and `python run.py` are named where they are explained alone."""
    listed = subprocess.run(
        ["git", "ls-files", *SHOWN], cwd=ROOT, capture_output=True, text=True, check=True
    )
    explained = {"README.md", "run.py", "framework/__main__.py", "framework/cli/__init__.py",
                 "framework/cli/place.py"}  # fmt: skip
    found = {
        f"{name}: {said}"
        for name in listed.stdout.split()
        if not name.startswith("docs/decisions/") and name.endswith((".py", ".md", ".yaml"))
        for said in re.findall(
            r"python -m framework(?! ?\.)|python run\.py", (ROOT / name).read_text(encoding="utf-8")
        )
        if name not in explained
    }
    assert found == set()
    assert README.read_text(encoding="utf-8").count("python run.py") == 1
