"""The human audit of regimes: a sheet that does not tell them, and the agreement read back."""

from __future__ import annotations

import csv
import dataclasses
from pathlib import Path

import pytest

from framework.cli import main
from framework.engine.run import execute
from framework.errors import DataError, UserError
from framework.reporting.regime_labels import Failed, compare, failures_of, read_labels, write_sheet
from framework.testing.trivial import trivial_plan
from tests.framework.improve.scripted import run_script, script_plan

GIVEN = [("budget-truncation", 4), ("assemble-internal", 12)]
FAILED = [
    Failed(id=f"{regime[:3]}{i}", kind="k", evidence="turns 1: rank 1, in the view",
           truncated=True, view="v", answer="a", regime=regime)
    for regime, n in GIVEN for i in range(n)
]  # fmt: skip
REGIMES = {"budget-truncation": "", "assemble-internal": "", "unclassified": ""}


def test_the_sheet_is_drawn_over_the_regimes_and_does_not_tell_them(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    assert write_sheet(FAILED, 8, 1, path) == 8
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert sum(row["id"].startswith("bud") for row in rows) == 4
    assert all(row["label"] == "" for row in rows)
    assert "budget-truncation" not in path.read_text()
    with pytest.raises(UserError, match="may hold labels"):
        write_sheet(FAILED, 8, 1, path)


def test_agreement_by_regime_and_over_all(tmp_path: Path) -> None:
    labels = {f.id: f.regime for f in FAILED}
    labels["bud0"] = "assemble-internal"
    del labels["ass0"]
    rows = {row["regime"]: row for row in compare(FAILED, labels)}
    truncation = rows["budget-truncation"]
    assert (truncation["n"], truncation["agreed"]) == (4, 3)
    assert truncation["confusion"] == "budget-truncation as assemble-internal"
    assert (rows["all"]["n"], rows["all"]["agreed"]) == (15, 14)
    # By hand: 14/15 observed, (4 x 3 + 11 x 12) / 225 by chance.
    assert rows["all"]["kappa"] == pytest.approx((14 / 15 - 144 / 225) / (1 - 144 / 225))
    with pytest.raises(UserError, match="no label"):
        compare(FAILED, {"other": "unclassified"})


def test_a_bad_sheet_is_told_by_line(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text("id,label\nass1,assemble_internal\n")
    with pytest.raises(DataError, match=r"sheet\.csv:2: no regime"):
        read_labels(path, REGIMES)
    path.write_text("id\nass1\n")
    with pytest.raises(DataError, match="columns"):
        read_labels(path, REGIMES)


def test_from_a_loop_and_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = {"base": {"optimize": "0-4", "confirm": "0-9", "test": "0-4"}}
    done = run_script(script_plan(right, []), tmp_path / "run")
    failures, _ = failures_of(done.path)
    assert {f.regime for f in failures} == {"assemble-internal"}
    assert len(failures) == 5
    sheet = tmp_path / "sheet.csv"
    assert main(["label", str(done.path), "--regimes", "--out", str(sheet)]) == 0
    assert "assemble-internal: the evidence was in the view" in capsys.readouterr().out
    with sheet.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "label": "assemble-internal"} for row in rows)
    assert main(["label", str(done.path), "--regimes", "--read", str(sheet)]) == 0
    assert "assemble-internal" in capsys.readouterr().out


def test_another_run_has_no_regimes(tmp_path: Path) -> None:
    plan = dataclasses.replace(trivial_plan(n_cases=2))
    execute(plan, tmp_path / "run")
    with pytest.raises(UserError, match="diagnoses no regimes"):
        failures_of(tmp_path / "run")
