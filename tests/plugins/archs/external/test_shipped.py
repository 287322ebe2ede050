"""The mappings that ship, each with its system where that is installed, else with a stub of it."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from framework.engine.compose import compose_plan, composer
from framework.store.directory import read_run
from plugins.archs.external._settings import SYSTEMS
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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.usefixtures("server_memory")
def test_server_memory_is_an_arm(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    done = run(capsys, *HOTPOT, "arch=server_memory")
    assert done.status == 0, done.err


def made(name: str) -> pytest.MarkDecorator:
    """Skip where the environment of a shipped system was not made."""
    with composer():
        settings = compose_plan([f"arch={name}"]).parts["arch"].settings
    return pytest.mark.skipif(
        not settings.own_environment.is_there,
        reason=f"no environment: decisionbench env create {settings.own_environment.name}",
    )


@made("mem0_raw")
def test_mem0_that_infers_nothing_needs_no_model_and_gives_the_same_rows_again(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    words = (*HOTPOT, "arch=mem0_raw", "n_cases=2")
    both = [run(capsys, *words, f"run_name={name}") for name in ("once", "again")]
    assert [done.status for done in both] == [0, 0], both[0].err
    rows = [read_run(done.directory).rows for done in both]
    assert all(row.view_tokens > 0 and not row.error for row in rows[0])
    seen = [sorted((row.case_id, row.view_tokens, str(row.axes)) for row in one) for one in rows]
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    "name", ["a_mem", "cognee", "graphiti", "hipporag", "lightrag", "mem0", "mem0_1", "simplemem"]
)
def test_a_system_that_infers_says_which_model_it_needs_or_which_environment(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    done = run(capsys, *HOTPOT, f"arch={name}")
    assert done.mistake in (
        "this memory calls a language model, which model=rule_based is not: choose model=local or "
        "another",
        f"{name} needs its environment: decisionbench env create {name}",
    )


@pytest.mark.parametrize("file", sorted(SYSTEMS.glob("*.lock")), ids=lambda file: file.stem)
def test_a_shipped_lock_names_no_index_and_pins_every_package(file: Path) -> None:
    lines = [line for line in file.read_text().splitlines() if not line.startswith("#")]
    assert lines
    assert all(re.fullmatch(r"[a-z0-9-]+==\S+ --hash=sha256:[0-9a-f]{64}", line) for line in lines)
