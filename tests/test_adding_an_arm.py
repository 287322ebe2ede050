"""An arm from a package of one's own: one file of 15 lines, one of two lines for an option."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ARM = '''\
from itertools import islice

from framework.contracts import Arch
from framework.records import Item
from framework.registry import NoSettings, register


@register("arch", "newest")
class Newest(Arch[NoSettings]):
    """The newest events first."""
    def ingest(self, events):
        self._events = list(events)
    def recall(self, query, k):
        newest = islice(reversed(self._events), k)
        return [Item(id=e.id, text=e.text, source_ids=(e.id,)) for e in newest]
'''
OPTION = "# The newest events first, as a second arm.\ndefaults: [newest, _self_]\n"


@pytest.mark.slow
def test_an_arm_is_fifteen_lines_and_needs_no_yaml(tmp_path: Path) -> None:
    assert len(ARM.splitlines()) <= 15
    assert len(OPTION.splitlines()) <= 2
    files = {
        "site/mine/__init__.py": "",
        "site/mine/newest.py": ARM,
        "site/mine-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n",
        "site/mine-1.0.dist-info/entry_points.txt": "[decisionbench.plugins]\nmine = mine\n",
        "conf/arch/also_newest.yaml": OPTION,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    words = ("budget=ratio", "budget.ratio=0.1", "n_cases=2", "tracking=none")
    for arm in ("newest", "also_newest"):
        done = subprocess.run(
            [sys.executable, str(ROOT / "run.py"), f"arch={arm}", *words, "--config-dir", "conf"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), str(ROOT)])},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        directory = tmp_path / done.stdout.splitlines()[-1].removeprefix("run: ")
        summary = json.loads((directory / "summary.json").read_text())
        assert summary["run"]["arch"] == arm
        assert summary["errors"]["n"] == 0
