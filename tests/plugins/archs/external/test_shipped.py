"""The mappings that ship, each with its system where that is installed, else with a stub of it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from framework.engine.compose import compose_plan, composer
from framework.store.state import read_run
from plugins.archs.external._environment import Environment
from plugins.archs.external._settings import SYSTEMS
from tests.launching import HOTPOT, framework, run
from tests.plugins.archs.external.systems import HERE


def stub(folder: Path, name: str, *words: str) -> None:
    """A program of this name."""
    file = folder / name
    command = " ".join([sys.executable, "-S", "-E", str(HERE / "server.py"), *words])
    file.write_text(f"#!/bin/sh\nexec {command}\n")
    file.chmod(0o755)


def environment_of(name: str) -> Environment:
    """That of a shipped system."""
    with composer():
        settings = compose_plan([f"arch={name}"]).parts["arch"].settings
    own: Environment = settings.own_environment
    return own


def stand_in(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment of `server_memory` with a stub of it; no other environment is there."""
    monkeypatch.setenv("DECISIONBENCH_ENVIRONMENTS", str(place / "environments"))
    own = environment_of("server_memory")
    own.bin.mkdir(parents=True)
    stub(own.bin, "mcp-server-memory", "--graph")
    (own.folder / "complete").touch()


@pytest.fixture
def server_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not environment_of("server_memory").is_there:
        stand_in(tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.usefixtures("server_memory")
def test_server_memory_finds_what_is_a_substring_and_nothing_else(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = framework(capsys, "probe", "server_memory")
    lines = done.out.splitlines()
    failed = [line.split()[1] for line in lines if line.startswith("FAIL")]
    # It has no limit to be told, and looks for the question as one stretch of a text.
    assert failed == ["question", "limit", "plenty"]
    assert done.status == 1


@pytest.mark.slow
@pytest.mark.usefixtures("server_memory")
def test_server_memory_is_an_arm(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    done = run(capsys, *HOTPOT, "arch=server_memory")
    assert done.status == 0, done.err
    (warning,) = read_run(done.directory).summary["warnings"]
    assert warning.endswith(" before the run failed: question, limit, plenty")


def made(name: str) -> pytest.MarkDecorator:
    """Skip where the environment of a shipped system was not made."""
    own = environment_of(name)
    return pytest.mark.skipif(
        not own.is_there, reason=f"no environment: decisionbench env create {own.name}"
    )


@made("mem0_raw")
def test_mem0_that_infers_nothing_needs_no_model_and_gives_the_same_rows_again(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    words = (*HOTPOT, "arch=mem0_raw", "arch.canaries=false", "n_cases=2")
    both = [run(capsys, *words, f"run_name={name}") for name in ("once", "again")]
    assert [done.status for done in both] == [0, 0], both[0].err
    rows = [read_run(done.directory).rows for done in both]
    assert all(row.view_tokens > 0 and not row.error for row in rows[0])
    seen = [sorted((row.case_id, row.view_tokens, str(row.axes)) for row in one) for one in rows]
    assert seen[0] == seen[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["a_mem", "cognee", "graphiti", "hipporag", "lightrag", "mem0", "mem0_1", "simplemem"]
)
def test_a_system_that_infers_says_which_model_it_needs_before_anything_is_installed(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    done = run(capsys, *HOTPOT, f"arch={name}")
    assert done.mistake == (
        f"arch={name}: this memory calls a language model, which model=rule_based is not: choose "
        "model=local or another"
    )


@pytest.mark.parametrize("file", sorted(SYSTEMS.glob("*.lock")), ids=lambda file: file.stem)
def test_a_shipped_lock_names_no_index_and_pins_every_package(file: Path) -> None:
    lines = [line for line in file.read_text().splitlines() if not line.startswith("#")]
    assert lines
    assert all(re.fullmatch(r"[a-z0-9-]+==\S+ --hash=sha256:[0-9a-f]{64}", line) for line in lines)


@pytest.mark.parametrize("file", sorted(SYSTEMS.glob("*.package-lock.json")), ids=lambda f: f.name)
def test_a_shipped_lock_of_npm_names_no_place_and_pins_every_package(file: Path) -> None:
    text = file.read_text()
    assert "://" not in text
    packages = json.loads(text)["packages"]
    assert packages.pop("")["dependencies"]
    assert packages
    for place, entry in packages.items():
        assert entry["integrity"].startswith("sha512-"), place
        assert "resolved" not in entry, place
