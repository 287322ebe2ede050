from __future__ import annotations

from collections.abc import Iterator

import pytest

from framework.sandbox import Limits, Sandbox, available


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    reason = available()
    if reason is not None:
        pytest.skip(f"no sandbox here: {reason}")
    with Sandbox(Limits(wall_seconds=5, cpu_seconds=5)) as opened:
        yield opened
