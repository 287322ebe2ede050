"""The mappings that ship, each with its system where that is installed, else with a stub of it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.launching import HOTPOT, framework, run
from tests.plugins.archs.external.systems import HERE


def stub(folder: Path, name: str, *words: str) -> None:
    """A program of this name, found by PATH."""
    file = folder / name
    command = " ".join([sys.executable, "-S", "-E", str(HERE / "server.py"), *words])
    file.write_text(f"#!/bin/sh\nexec {command}\n")
    file.chmod(0o755)


@pytest.fixture
def server_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("mcp-server-memory") is None:
        stub(tmp_path, "mcp-server-memory", "--graph")
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")


@pytest.mark.usefixtures("server_memory")
def test_server_memory_finds_what_is_a_substring_and_nothing_else(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = framework(capsys, "probe", "server_memory")
    lines = done.out.splitlines()
    failed = [line.split()[1] for line in lines if line.startswith("FAIL")]
    # It has no limit to be told, and looks for the question as one stretch of a text.
    assert failed == ["question", "limit"]
    assert done.status == 1


@pytest.mark.usefixtures("server_memory")
def test_server_memory_is_an_arm(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    done = run(capsys, *HOTPOT, "arch=server_memory")
    assert done.status == 0, done.err
