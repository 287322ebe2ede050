"""The table of arms by ambiguity is of the runs, and the sweep has every share of every arm."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.studies import ambiguity
from framework.engine.compose import compose_raw, composer, grid


def finished(arm: str, share: float, p_ret: float) -> Any:
    limits = {"ci_low": 0.0, "ci_high": 1.0}
    means = {"surface_ceiling": 0.5, "p_ret": p_ret, "frp": 0.25, "eda": 0.75}
    return SimpleNamespace(
        state=SimpleNamespace(started={"config": {"domain": {"ambiguity": share}}}),
        summary={
            "run": {"arch": arm},
            "budget_use": {"mean_view_tokens": 1234.5},
            "axes": {name: {"mean": mean, **limits} for name, mean in means.items()},
        },
    )


def test_rows_are_by_arm_then_share(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [finished("oracle", 0.0, 1.0), finished("bm25", 1.0, 0.1), finished("bm25", 0.5, 0.2)]
    monkeypatch.setattr(ambiguity, "finished_runs", lambda paths: runs)
    rows = [line.strip("| ").split(" | ") for line in ambiguity.table(Path("x")).splitlines()]
    assert [row[:2] + row[3:] for row in rows[2:]] == [
        ["bm25", "0.5", "0.50 0.00–1.00", "0.20 0.00–1.00", "0.25 0.00–1.00", "0.75 0.00–1.00"],
        ["bm25", "1", "0.50 0.00–1.00", "0.10 0.00–1.00", "0.25 0.00–1.00", "0.75 0.00–1.00"],
        ["oracle", "0", "0.50 0.00–1.00", "1.00 0.00–1.00", "0.25 0.00–1.00", "0.75 0.00–1.00"],
    ]
    assert len({len(row) for row in rows}) == 1


def test_the_sweep_has_every_share_of_every_arm() -> None:
    with composer():
        words = ["+experiment=longhorizon/ambiguity"]
        jobs = [frozenset(job) for job in grid(words, compose_raw(words))]
    given = {
        (share, arm)
        for job in jobs
        for share in ("0", "0.5", "1") if f"domain.ambiguity={share}" in job
        for arm in ("none", "bm25", "dense", "typed_graph", "summ_only", "full_context", "oracle")
        if f"arch={arm}" in job
    }  # fmt: skip
    assert len(given) == len(jobs) == 21
