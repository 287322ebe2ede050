"""Killed at random moments, runs of third-party memory systems lose, double and repay nothing."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.kills import ROOT, killed


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_fifteen_kills_lose_double_and_pay_for_nothing(tmp_path: Path) -> None:
    found = killed(tmp_path, kills=15, seed=1)
    assert found["kills"] == 15
    assert found["problems"] == []


def test_the_page_tells_what_was_recorded() -> None:
    found = json.loads((ROOT / "benchmarks" / "recorded" / "kills.json").read_text())
    assert not found["problems"]
    assert found["kills"] == sum(found["where"].values()) == 100
    page = (ROOT / "docs" / "results" / "memories.md").read_text()
    said = page.partition("## 100 kills\n")[2].partition("\n## ")[0]
    where: Counter[str] = Counter()
    for name, n in found["where"].items():
        where[name.partition(": ")[2]] += n
    counts = [
        where[one] for one in ("start", "before the first row", "between cases", "after the seal")
    ]
    assert re.findall(r"(\d+) during the start, (\d+) before the first row, (\d+) between cases, "
                      r"(\d+) after the end", said) == [tuple(map(str, counts))]  # fmt: skip
    assert f"100 kills in {found['runs']} runs" in said
    again = found["paid_again"]
    assert f"{again['calls']} calls were paid for again, at {again['kills']} kills" in said
    out = again["answered_ms"]
    assert len(out) <= again["calls"]
    if out:
        told = f"not yet on the disk, {out[0]:.0f} to {out[-1]:.0f} ms before the signal"
        assert f"{len(out)} of them were out, and {told}" in " ".join(said.split())
