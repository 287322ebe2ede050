"""A run with an extractor keeps what it found, and what it cost, in its summary."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.store.state import read_summary
from tests.launching import run

HARBOUR = Path(__file__).parents[2] / "fixtures" / "decision_corpus" / "harbour.jsonl"
GIVEN = (
    "domain=decision_corpus",
    f"domain.path={HARBOUR}",
    "protocol=retrieve",
    "tracking=none",
    "arch=typed_graph",
    "budget=absolute",
    "budget.tokens=150",
    "n_cases=null",
)


@pytest.mark.parametrize("extractor", ["rules", "model"])
def test_a_run_with_an_extractor(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    extractor: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(capsys, *GIVEN, f"extractor={extractor}")
    summary = read_summary(done.directory)
    edges = summary["extraction"]["edges"]
    assert edges["supersedes"]["given"] == 4
    assert edges["supersedes"]["right"] == 1
    assert summary["run"]["arch"] == f"typed_graph(extractor={extractor})"
    assert summary["budget_use"]["gold_edges"] is False
    calls = summary["ledger"].get("ingest", {}).get("calls", 0)
    assert calls == (12 if extractor == "model" else 0)
    table = done.out.partition("Extraction")[2]
    assert any("edges" in line and "supersedes" in line for line in table.splitlines())


def test_a_run_without_one_says_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    summary = read_summary(run(capsys, *GIVEN).directory)
    assert "extraction" not in summary
    assert summary["budget_use"]["gold_edges"] is True
    assert summary["corpus"]["edges_supersedes"] == 4
