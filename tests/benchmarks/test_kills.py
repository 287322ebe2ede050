"""Killed at random moments, runs of memory systems of others lose, double and repay nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.kills import killed


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_fifteen_kills_lose_double_and_pay_for_nothing(tmp_path: Path) -> None:
    found = killed(tmp_path, kills=15, seed=1)
    assert found["kills"] == 15
    assert found["problems"] == []
