"""A memory in TypeScript, compiled and run by node: `make ci-extras` installs the compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from framework.testing.arch_conformance import check_arch
from plugins.archs.external.canaries import Canaries
from plugins.archs.external.process import ProcessMemory, ProcessSettings
from tests.plugins.archs.external.systems import HERE


@pytest.mark.typescript
def test_a_memory_in_typescript_passes_every_canary(tmp_path: Path) -> None:
    node, compiler = shutil.which("node"), shutil.which("tsc")
    if node is None or compiler is None:
        said = "node and the compiler of TypeScript are needed (make ci-extras)"
        if os.environ.get("DECISIONBENCH_REQUIRE_EXTRAS"):
            pytest.fail(said)
        pytest.skip(said)
    words = ["--outDir", str(tmp_path), "--target", "es2022", "--module", "commonjs", "--strict"]
    done = subprocess.run(
        [compiler, *words, "--lib", "es2022", str(HERE / "memory.ts")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    settings = ProcessSettings(command=(node, str(tmp_path / "memory.js")), deterministic=True)
    found = list(Canaries().run(ProcessMemory, settings, slow=False))
    assert {one.name: one.text for one in found if one.passed is False} == {}
    check_arch(ProcessMemory, settings)
