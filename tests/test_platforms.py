"""What macOS lacks is needed nowhere but in the sandbox, which says so in one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from framework.errors import UserError
from framework.sandbox import box
from tests.launching import HOTPOT

ROOT = Path(__file__).resolve().parents[1]
WITHOUT = """
import ctypes, importlib, os, pkgutil, sys

for name in ("sched_getaffinity", "sched_setaffinity", "memfd_create", "MFD_CLOEXEC", "pidfd_open",
             "unshare", "setns", "posix_fadvise", "posix_fallocate", "copy_file_range", "eventfd"):
    if hasattr(os, name):
        delattr(os, name)
# What numpy and the like need of the platform is theirs.
for heavy in ("numpy", "omegaconf", "hydra", "yaml", "rich", "scipy.stats", "multiprocessing.pool"):
    importlib.import_module(heavy)
sys.modules["resource"] = None  # there on macOS, but with other limits

def no_library(name, *rest, **more):
    raise OSError("no C library is called by name here")

ctypes.CDLL = no_library
def refuse(event, given):
    if event == "open" and isinstance(given[0], str) and given[0].startswith("/proc/"):
        raise RuntimeError(f"{given[0]}: macOS has no /proc")
"""
IMPORTED = """
import framework, plugins
sys.addaudithook(refuse)
n = 0
for package in (framework, plugins):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        # The launcher is a program for Linux, which `box` starts where it can isolate.
        if found.name not in ("framework.sandbox._launcher", "framework.__main__"):
            importlib.import_module(found.name)
            n += 1
importlib.import_module("hydra_plugins.decisionbench_launch")
from framework.engine.workers import cores
assert n > 400, n
assert cores() >= 1
"""
RUN = """
from framework.cli import main
sys.exit(main(sys.argv[1:]))
"""


def without(place: Path, code: str, *words: str) -> subprocess.CompletedProcess[str]:
    """What a program does where the system lacks what macOS lacks."""
    return subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{WITHOUT}{code}",
         *words],
        cwd=place, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_every_module_is_imported_without_what_only_linux_has(tmp_path: Path) -> None:
    done = without(tmp_path, IMPORTED)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_sweep_runs_without_what_only_linux_has(tmp_path: Path) -> None:
    given = ("-m", *HOTPOT, "arch=bm25,none", "hydra.launcher.workers=2", "run_name=s")
    done = without(tmp_path, RUN, *given)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("sweep: runs/s\n")


def test_where_code_can_not_be_isolated_one_line_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    box.available.cache_clear()
    try:
        assert box.available() == "it needs Linux's namespaces, this is darwin"
        with pytest.raises(UserError) as told:
            box.require()
    finally:
        box.available.cache_clear()
    assert str(told.value).count("\n") == 0
    assert "code from a model is not run here" in str(told.value)
