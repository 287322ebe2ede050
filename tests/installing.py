"""Installing a package into a folder of its own, and calling Python with it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_OPTIONS = ("--no-deps", "--no-index", "--no-build-isolation", "--no-compile")


def install(source: Path, target: Path) -> Path:
    """The target, into which pip installed the source with no network; with this Python's tools."""
    command = [sys.executable, "-m", "pip", "install", "-q", *_OPTIONS, "--target", str(target)]
    done = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


def python(cwd: Path, path: list[Path], *words: str) -> subprocess.CompletedProcess[str]:
    """What Python says in a folder, with places first on its search path."""
    places = [*map(str, path), os.environ.get("PYTHONPATH", "")]
    return subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
