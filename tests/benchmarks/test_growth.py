"""The table of arms by length is of the runs, and of the cases that they were of."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.studies import growth
from framework.engine.compose import compose_raw, composer, grid
from plugins.domains.regulated.settings import RegulatedSettings


def finished(tokens: int, entry_every: int, arm: str, p_ret: float) -> Any:
    axis = {"ci_low": 0.0, "ci_high": 1.0}
    domain = {
        "plugin": "regulated", "tokens": tokens, "entry_every": entry_every, "forms": "development",
    }  # fmt: skip
    return SimpleNamespace(
        state=SimpleNamespace(started={"config": {"domain": domain, "n_cases": 4, "seed": 7}}),
        summary={
            "run": {"arch": arm},
            "budget_use": {"mean_view_tokens": 1234.5},
            "axes": {
                "gold_tokens": {"mean": 300.4},
                "p_ret": {"mean": p_ret, **axis},
                "eda": {"mean": 0.5, **axis},
            },
        },
    )


def test_rows_are_by_entries_then_length_then_arm(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [
        finished(20_000, 1_000, "oracle", 1.0),
        finished(20_000, 1_000, "bm25", 0.25),
        finished(2_000, 1_000, "oracle", 1.0),
        finished(20_000, 0, "oracle", 0.75),
    ]
    monkeypatch.setattr(growth, "finished_runs", lambda paths: runs)
    rows = [line.split(" | ") for line in growth.table(Path("x")).splitlines()]
    assert len({len(row) for row in rows}) == 1
    assert [(row[0], row[1], row[4], row[6]) for row in rows[2:]] == [
        ("| 20,000", "0", "oracle", "0.75 0.00–1.00"),
        ("| 2,000", "2", "oracle", "1.00 0.00–1.00"),
        ("| 20,000", "20", "bm25", "0.25 0.00–1.00"),
        ("| 20,000", "20", "oracle", "1.00 0.00–1.00"),
    ]
    short = growth.table(Path("x"), (2_000,)).splitlines()
    assert [line.split(" | ")[:2] for line in short[2:]] == [["| 2,000", "2"]]
    documents = [float(row[2]) for row in rows[2:]]
    assert documents[0] < documents[3]
    assert documents[1] < documents[2] == documents[3]
    assert documents[0] == growth.evidence(RegulatedSettings(forms="development"), 4, 7)


@pytest.mark.parametrize(
    ("words", "directory", "run"),
    [
        ([], "growth", ["domain=loan"]),
        (
            ["--domain=claims", "--lengths=2000,20000"],
            "growth-claims",
            ["domain=claims", "domain.tokens=2000,20000"],
        ),
    ],
)
def test_a_domain_is_run_into_a_directory_of_its_own(
    words: list[str],
    directory: str,
    run: list[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    calls: list[tuple[str, ...]] = []
    monkeypatch.setattr(growth, "ROOT", tmp_path)
    monkeypatch.setattr(growth, "call", lambda *given: calls.append(given))
    monkeypatch.setattr(growth, "finished_runs", lambda paths: [])
    assert growth.main(words) == 0
    (given,) = calls
    assert given[-1] == f"hydra.sweep.dir={tmp_path / growth.RUNS / directory}"
    assert [word for word in given if word.startswith("domain")] == run
    assert capsys.readouterr().out.startswith("| tokens |")


def test_the_sweep_has_every_length_with_and_without_entries() -> None:
    with composer():
        words = ["+experiment=longhorizon/growth"]
        jobs = [frozenset(job) for job in grid(words, compose_raw(words))]
    given = {
        (tokens, every, arm)
        for job in jobs
        for tokens in (2_000, 20_000, 200_000) if f"domain.tokens={tokens}" in job
        for every in (0, 2_000) if f"domain.entry_every={every}" in job
        for arm in ("none", "bm25", "typed_graph", "summ_only", "full_context", "oracle")
        if f"arch={arm}" in job
    }  # fmt: skip
    assert len(given) == len(jobs) == 36
