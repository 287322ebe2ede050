"""A memory in TypeScript, compiled and run by node: `make ci-extras` installs the compiler."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from framework.testing.arch_conformance import check_arch
from plugins.archs.external.canaries import Canaries
from plugins.archs.external.process import ProcessMemory, ProcessSettings
from tests.plugins.archs.external.systems import HERE
from tests.plugins.archs.external.test_guide import PAGE


def _recipe() -> str:
    """The line of the guide that compiles it."""
    found = re.search(r"`npx (tsc [^`]*memory\.ts)`", " ".join(PAGE.read_text().split()))
    assert found is not None
    return found[1]


@pytest.mark.typescript
def test_a_memory_in_typescript_passes_every_canary(tmp_path: Path) -> None:
    node, compiler = shutil.which("node"), shutil.which("tsc")
    if node is None or compiler is None:
        said = "node and the compiler of TypeScript are needed (make ci-extras)"
        if os.environ.get("DECISIONBENCH_REQUIRE_EXTRAS"):
            pytest.fail(said)
        pytest.skip(said)
    words = re.findall(r"--\w+ \w+", _recipe())
    assert len(words) == 3
    done = subprocess.run(
        [compiler, *" ".join(words).split(), "--outDir", str(tmp_path), str(HERE / "memory.ts")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    settings = ProcessSettings(command=(node, str(tmp_path / "memory.js")), deterministic=True)
    found = list(Canaries().run(ProcessMemory, settings, slow=False))
    assert {one.name: one.text for one in found if one.passed is False} == {}
    check_arch(ProcessMemory, settings)
