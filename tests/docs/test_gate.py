"""gate.md, done as a reader would: its commands with their statuses, its test, its workflow."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.docs.markdown import argv_of, blocks, commands

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "guide" / "gate.md"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_command_and_the_test_of_the_page(pytester: pytest.Pytester) -> None:
    for line in commands(PAGE):
        command, _, comment = line.partition("  # ")
        named = re.search(r"exit status (\d)", comment)
        words = argv_of(command)
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == (int(named[1]) if named else 0), done.stdout + done.stderr
        assert done.stdout.startswith("memory gate: " + ("worse" if named else "passed"))
    (test,) = (block for block in blocks(PAGE) if block.title == "test_memory.py")
    pytester.path.joinpath(test.title).write_text(test.text, encoding="utf-8")
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_the_workflow_gives_inputs_that_the_action_takes() -> None:
    (block,) = (block for block in blocks(PAGE) if block.language == "yaml")
    (job,) = yaml.safe_load(block.text)["jobs"].values()
    given = job["steps"][-1]["with"]
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert given.keys() <= action["inputs"].keys()
    needed = {name for name, one in action["inputs"].items() if one.get("required")}
    assert needed <= given.keys()
