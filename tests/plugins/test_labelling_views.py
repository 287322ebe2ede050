"""A sheet of views for people, and how their labels agree with sufficiency."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from framework.store.state import load_state
from tests.launching import framework, run


@pytest.mark.slow
def test_people_label_views_without_seeing_what_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    given = ("domain=loan", "arch=oracle", "budget=tight", "n_cases=12", "tracking=none")
    done = run(capsys, *given, "hydra.run.dir=r")
    assert done.status == 0, done.err
    told = framework(capsys, "label", "r", "--of", "views", "--n", "5", "--out", "sheet.csv")
    assert "5 of " in told.out
    with Path("sheet.csv").open(newline="", encoding="utf-8") as file:
        sheet = list(csv.DictReader(file))
    assert len(sheet) == 5
    assert set(sheet[0]) == {"id", "question", "task", "view", "label", "comment"}
    assert all("Decide" in row["task"] and row["view"] not in row["task"] for row in sheet)
    assert all("oracle" not in "".join(row.values()) for row in sheet)
    rows = [row for row in load_state(Path("r")).rows if row.expected != "ABSTAIN"]
    assert all(row.sufficient for row in rows)
    with Path("sheet.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(sheet[0]))
        writer.writeheader()
        writer.writerows({**row, "label": "no" if i == 0 else "yes"} for i, row in enumerate(sheet))
    read = framework(capsys, "label", "r", "--of", "views", "--read", "sheet.csv")
    assert "0.80" in read.out or "0.8" in read.out
