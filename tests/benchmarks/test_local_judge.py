"""The table of the local model as a judge is the one that its recorded verdicts give."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.language_model import ROOT
from benchmarks.local_judge import main, table
from framework.reporting.markdown import between_markers


def test_a_replay_without_the_model_gives_the_table_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["--replay"]) == 0
    page = ROOT / "docs" / "results" / "language-model.md"
    assert capsys.readouterr().out.strip() == between_markers(f"{page}#judge")


def test_answers_without_a_verdict_are_counted_and_no_share_is_made_up() -> None:
    none = {"n": 0, "passed": 0, "low": None, "high": None}
    half = {"n": 4, "passed": 2, "low": 0.15, "high": 0.85}
    found = {
        "right": half,
        "wrong": none,
        "sorts": {"wrong: x": none},
        "abstained": {"wrong: x": 3},
    }
    rows = table({"s": found}).splitlines()
    assert "| s | all right answers | 0.500 \\[0.150, 0.850\\] | 4 |  |" in rows
    assert "| s | all wrong answers | – | 0 |  |" in rows
    assert "| s | wrong: x | – | 0 | 3 |" in rows
