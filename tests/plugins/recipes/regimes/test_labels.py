"""The human audit of regimes: a sheet that does not tell them, and the agreement read back."""

from __future__ import annotations

import csv
import dataclasses
import json
import re
from pathlib import Path

import pytest

from framework.cli import main
from framework.engine.compose import compose_plan, composer
from framework.engine.run import execute
from framework.errors import DataError, UserError
from plugins.recipes.regimes.labels import (
    COLUMNS,
    Failed,
    Shown,
    compare,
    failures_of,
    labels_of,
    shown_of,
    write_sheet,
)
from tests.plugins.protocols.improve.scripted import run_script, script_plan
from tests.trivial import trivial_plan

GIVEN = [("budget-truncation", 4), ("assemble-internal", 12)]
FAILED = [
    Failed(id=f"{regime[:3]}{i}", case=f"case-{i}", kind="count", places={"g1": "rank 3, used"},
           truncated=True, view="seen", cut=True, answer="two", regime=regime)
    for regime, n in GIVEN for i in range(n)
]  # fmt: skip
SHOWN = {
    f"case-{i}": Shown(question="How many trips?", expected="three", evidence={"g1": "I flew."})
    for i in range(12)
}
MEANINGS = {"budget-truncation": "", "assemble-internal": "", "unclassified": "", "correct": ""}


def lines(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_sheet_is_drawn_over_the_regimes_and_does_not_tell_them(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    assert write_sheet(FAILED, SHOWN, 8, 1, path) == 8
    rows = lines(path)
    assert sum(row["id"].startswith("bud") for row in rows) == 4
    assert all(row["label"] == "" for row in rows)
    assert "budget-truncation" not in path.read_text()
    assert "case-" not in path.read_text(), "an id may say what a case was made from"
    with pytest.raises(UserError, match="may hold labels"):
        write_sheet(FAILED, SHOWN, 8, 1, path)


def test_a_line_holds_what_a_person_needs(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    write_sheet(FAILED[:1], SHOWN, 1, 1, path)
    (row,) = lines(path)
    assert list(row) == list(COLUMNS)
    assert row["question"] == "How many trips?"
    assert row["type"] == "count"
    assert (row["expected"], row["answer"], row["correct"]) == ("three", "two", "no")
    assert row["evidence"] == "1. rank 3, used: I flew."
    assert row["truncated"] == "yes"
    assert row["view"] == "seen\n[cut here: protocol.shown_chars]"


def test_agreement_by_regime_and_over_all() -> None:
    labels = {f.id: f.regime for f in FAILED}
    labels["bud0"] = "assemble-internal"
    del labels["ass0"]
    rows = {row["regime"]: row for row in compare(FAILED, labels, 4)}
    truncation = rows["budget-truncation"]
    assert (truncation["n"], truncation["agreed"]) == (4, 3)
    assert truncation["confusion"] == "budget-truncation as assemble-internal"
    assert truncation["cohens_kappa"] is truncation["ac1"] is None
    everything = rows["all"]
    assert (everything["n"], everything["agreed"]) == (15, 14)
    # By hand: 14/15 observed, (4 x 3 + 11 x 12) / 225 by chance.
    assert everything["cohens_kappa"] == pytest.approx((14 / 15 - 144 / 225) / (1 - 144 / 225))
    # Shares 7/30 and 23/30 of four labels: 2 x 7/30 x 23/30 / 3 by chance.
    chance = 2 * 7 / 30 * 23 / 30 / 3
    assert everything["ac1"] == pytest.approx((14 / 15 - chance) / (1 - chance))
    for figure in ("share", "cohens_kappa", "ac1"):
        low, high = everything["limits"][figure]
        assert low < everything[figure] <= high
    assert truncation["limits"]["cohens_kappa"] is None
    with pytest.raises(UserError, match="1 id of no failure here, as other"):
        compare(FAILED, {"other": "unclassified"}, 4)


def test_few_labels_and_full_agreement_have_no_limits() -> None:
    for some in (FAILED[:9], FAILED):
        (*_, everything) = compare(some, {f.id: f.regime for f in some}, 4)
        assert everything["ac1"] == 1.0
        assert everything["limits"]["ac1"] is None


def test_a_bad_sheet_is_told_by_line(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text("id,label\nass1,assemble_internal\n")
    with pytest.raises(DataError, match=r"sheet\.csv:2: no regime"):
        labels_of(path, MEANINGS)
    path.write_text("id,label\nass1,correct\nass1,correct\n")
    with pytest.raises(DataError, match=r"sheet\.csv:3: id ass1 appears twice"):
        labels_of(path, MEANINGS)
    path.write_text("id\nass1\n")
    with pytest.raises(UserError, match="columns"):
        labels_of(path, MEANINGS)
    path.write_text("id,label\nass1,\n")
    with pytest.raises(UserError, match="no label yet"):
        labels_of(path, MEANINGS)


def test_from_a_loop_and_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = {"base": {"optimize": "0-4", "confirm": "0-9", "test": "0-4"}}
    done = run_script(script_plan(right, []), tmp_path / "run")
    failures, _ = failures_of(done.path)
    assert {f.regime for f in failures} == {"assemble-internal"}
    assert len(failures) == 5
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert main(["label", str(done.path), "--regimes"]) == 0
    assert not any(elsewhere.iterdir())
    sheet = tmp_path / "run-regimes.csv"  # beside the run
    assert "assemble-internal: the evidence was in the view" in capsys.readouterr().out
    rows = lines(sheet)
    asked = {failed.id: shown_of(done.path, failures)[failed.case].question for failed in failures}
    assert {row["id"]: row["question"] for row in rows} == asked
    assert all(question.startswith("case ") for question in asked.values())
    assert {(row["expected"], row["answer"]) for row in rows} == {("YES", "NO")}
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "label": "assemble-internal"} for row in rows)
    read = ["label", str(done.path), "--regimes", "--read", str(sheet)]
    assert main(read) == 0
    assert "assemble-internal" in capsys.readouterr().out
    assert main([*read, "--json"]) == 0
    (*_, everything) = json.loads(capsys.readouterr().out)
    assert (everything["n"], everything["share"], everything["ac1"]) == (5, 1.0, 1.0)


def test_another_run_has_no_regimes(tmp_path: Path) -> None:
    plan = dataclasses.replace(trivial_plan(n_cases=2))
    execute(plan, tmp_path / "run")
    with pytest.raises(UserError, match="diagnoses no regimes"):
        failures_of(tmp_path / "run")


def test_what_the_domain_holds_of_a_case(tmp_path: Path) -> None:
    right = {"base": {"optimize": "0-4", "confirm": "0-9", "test": "0-4"}}
    done = run_script(script_plan(right, []), tmp_path / "run")
    (failed, *_), _ = failures_of(done.path)
    gone = dataclasses.replace(failed, case="c9999")
    with pytest.raises(UserError, match="it has no case c9999"):
        shown_of(done.path, [gone])


@pytest.mark.slow
def test_evidence_is_dated_and_a_question_has_its_date(tmp_path: Path) -> None:
    sizes = [f"protocol.{name}=12" for name in ("optimize", "confirm", "test")]
    words = ["protocol=improve", "target=longmemeval", "tracking=none", "protocol.pool=40", *sizes]
    with composer():
        plan = compose_plan([*words, "protocol.max_candidates=1"])
    execute(plan, tmp_path / "run")
    failures, _ = failures_of(tmp_path / "run")
    shown = shown_of(tmp_path / "run", failures)
    texts = [text for failed in failures for text in shown[failed.case].evidence.values()]
    assert texts
    assert all(re.match(r"\[\d{4}[-/]\d\d[-/]\d\d", text) for text in texts)
    assert all(re.search(r"\[\d{4}[-/]\d\d[-/]\d\d.*\]$", s.question) for s in shown.values())
    regimes = {failed.regime for failed in failures}
    sheet = tmp_path / "sheet.csv"
    write_sheet(failures, shown, 40, 0, sheet)
    assert not any(regime in sheet.read_text() for regime in regimes)
