"""The wheel in an environment of its own, made as a stranger makes it, in an empty folder."""

from __future__ import annotations

import glob
import importlib
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from framework.rows import measured
from framework.store.state import load_state
from tests.installing import python as python_here

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("framework", "plugins", "hydra_plugins", "conf", "decisionbench", "decisionbench_gate")
PYENV = os.environ.get("PYENV_ROOT", "~/.pyenv")
PLACES = (
    f"{PYENV}/versions/{{0}}.*/bin/python{{0}}",
    "~/.local/share/uv/python/*-{0}.*/bin/python{0}",
)
"""Where other versions of Python stand that are not on the path."""
VERDICT_S = 180.0
"""CPU seconds from the install to the first verdict on a memory, its baseline measured on the way.

Seconds of the clock are printed beside them: what others do on the machine counts in those.
"""


def interpreter(version: str) -> str | None:
    """A Python of a version, on the path or where pyenv and uv put it; None where there is none."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return getattr(sys, "_base_executable", sys.executable)
    found = [shutil.which(f"python{version}")]
    for place in PLACES:
        found += sorted(glob.glob(os.path.expanduser(place.format(version))))  # noqa: PTH111, PTH207
    for candidate in filter(None, found):
        # pyenv's stand-in for a version that is not chosen is on the path and fails.
        done = subprocess.run(
            [candidate, "-c", "import venv, ssl"], capture_output=True, check=False
        )
        if done.returncode == 0:
            return candidate
    return None


def outside() -> dict[str, str]:
    """The environment without what tests add: pip reaches its index, no folder is on the path."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}


def spent() -> float:
    """CPU seconds of the processes that were started and have ended."""
    times = os.times()
    return times.children_user + times.children_system


def run(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*map(str, words)], cwd=cwd, env=outside(), capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    options = ("--no-deps", "--no-build-isolation", "--no-index", "-w", target)
    built = run(sys.executable, "-m", "pip", "wheel", "-q", *options, source, cwd=source)
    assert built.returncode == 0, built.stderr
    (found,) = target.glob("decisionbench-*-py3-none-any.whl")
    return found


def test_the_container_copies_every_package_and_runs_a_script_that_is_there() -> None:
    """Nothing here can build it: what it names has to be what pyproject.toml names."""
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    named = project["tool"]["setuptools"]["packages"]["find"]["include"]
    copied = [(one, other) for one, other in re.findall(r"^COPY (\w+) (\w+)$", text, re.MULTILINE)]
    assert sorted(copied) == sorted((name, name) for name in (one.rstrip("*") for one in named))
    assert sorted(PACKAGES) == sorted(name for name, _ in copied)
    (entry,) = re.findall(r'^ENTRYPOINT \["(\S+)"\]$', text, re.MULTILINE)
    module, _, function = project["project"]["scripts"][entry].partition(":")
    assert callable(getattr(importlib.import_module(module), function))
    (files,) = re.findall(r"^COPY (pyproject.toml .*) \./$", text, re.MULTILINE)
    assert all((ROOT / name).is_file() for name in [*files.split(), "constraints.txt"])


def act(python: Path, repository: Path, **given: str) -> tuple[int, str]:
    """Status and output of the Action's last step, as GitHub runs it, with defaults elsewhere."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    last = action["runs"]["steps"][-1]
    inputs = {name.upper(): str(one.get("default", "")) for name, one in action["inputs"].items()}
    env = {**outside(), **{name: inputs.get(name, "") for name in last["env"]}, **given}
    env["PATH"] = f"{python.parent}:{env['PATH']}"
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", last["run"]],
        cwd=repository, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    done = run("git", *who, *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def assert_acts(python: Path, place: Path) -> float:
    """The Action passes a pull request that changes no memory and fails one that spoils it.

    Returns the CPU seconds that the first of its verdicts took.
    """
    upstream, clone = place / "upstream", place / "clone"
    option = upstream / "conf" / "arch" / "mine.yaml"
    option.parent.mkdir(parents=True)
    option.write_text("plugin: oracle\n", encoding="utf-8")
    git(upstream, "init", "-q")
    git(upstream, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(upstream, "add", "conf")
    git(upstream, "commit", "-qm", "A memory that keeps all")
    base = git(upstream, "rev-parse", "HEAD")
    git(place, "clone", "-q", str(upstream), str(clone))
    words = "--config-dir=conf arch=mine domain=loan budget=loose\nn_cases=80 protocol=retrieve"
    given = {"OVERRIDES": words, "AXES": "surface_ceiling", "BASE": base}
    began, before = time.monotonic(), spent()
    status, said = act(python, clone, **given)
    seconds = spent() - before
    clock = time.monotonic() - began
    print(f"the Action's last step, base and pull request: {clock:.1f} s, {seconds:.1f} of CPU")
    assert status == 0, said
    assert said.startswith("memory gate: passed"), said
    (clone / "conf" / "arch" / "mine.yaml").write_text("plugin: none\n", encoding="utf-8")
    status, said = act(python, clone, **given)
    assert status == 3, said
    assert "memory gate: worse" in said
    return seconds


def commands() -> list[str]:
    """What the README's block of first commands says, up to the comparison of its sweep."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"^decisionbench .*", text, re.MULTILINE)
    return [line.partition("  #")[0].strip() for line in lines]


def rows_of(run_directory: Path) -> list[dict[str, Any]]:
    """The measured columns of a run's rows."""
    return list(measured(load_state(run_directory).rows))


@pytest.mark.parametrize(
    "version",
    [
        pytest.param("3.11", marks=pytest.mark.slow),
        pytest.param("3.12", marks=(pytest.mark.interpreters, pytest.mark.xdist_group("3.12"))),
        pytest.param("3.13", marks=(pytest.mark.interpreters, pytest.mark.xdist_group("3.13"))),
    ],
)
@pytest.mark.timeout(3600)  # most of it is pip, which on a loaded machine takes half an hour
def test_the_readme_runs_where_only_the_wheel_was_installed(
    wheel: Path, tmp_path: Path, version: str
) -> None:
    """Dependencies are of the index, at pinned versions; rows are those of the checkout."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} here")
    made = run(python, "-m", "venv", tmp_path / "env", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    bin_ = tmp_path / "env" / "bin"
    pinned = ("-c", ROOT / "constraints.txt")
    # Python compiles what it imports when it does.
    quickly = ("-q", "--no-compile")
    began, before = time.monotonic(), spent()
    got = run(bin_ / "python", "-m", "pip", "install", *quickly, *pinned, wheel, cwd=tmp_path)
    assert got.returncode == 0, got.stderr
    installed = spent() - before
    print(f"pip install: {time.monotonic() - began:.1f} s, {installed:.1f} of CPU")
    assert installed + assert_acts(bin_ / "python", tmp_path / "action") < VERDICT_S
    empty = tmp_path / "empty"
    empty.mkdir()
    first, sweep, *_ = given = commands()
    assert first.startswith("decisionbench arch=")
    assert sweep.startswith("decisionbench -m ")
    for command in given:
        _, *words = command.split()
        done = run(bin_ / "decisionbench", *words, cwd=empty)
        assert done.returncode == 0, (command, done.stderr)
    for words in (["list", "arch"], ["verify", "runs/three"]):
        done = run(bin_ / "python", "-m", "framework", *words, cwd=empty)
        assert done.returncode == 0, (words, done.stderr)
    told = run(
        bin_ / "python", "-c", "import sys; print(*sys.version_info[:2], sep='.')", cwd=empty
    )
    assert told.stdout.strip() == version
    assert {path.name for path in empty.iterdir()} <= {"runs", "mlruns", ".cache"}
    own = tmp_path / "own"
    own.mkdir()
    words = first.split()[1:]
    assert python_here(own, [ROOT], "-m", "framework", *words).returncode == 0
    assert rows_of(empty / "runs/first") == rows_of(own / "runs/first")
