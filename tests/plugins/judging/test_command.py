"""`judges` and `label`, on recorded rows, on runs, and on sheets filled by hand."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plugins.labelling.verdicts import COLUMNS, Verdict, compare_labels
from tests.launching import Done, framework, run

SHORT = ("domain=loan", "tracking=none", "n_cases=6")
TABLE = """\
case_id,arm,budget,one_rcs,other_rcs,one_in_tokens
1,a,tight,1.0,0.5,7
1,b,tight,0.0,0.0,7
2,a,tight,0.5,0.5,7
2,b,tight,0.5,1.0,7
3,a,tight,0.2,,7
"""


@pytest.fixture
def sweep(capsys: pytest.CaptureFixture[str], runs_dir: Path) -> Path:
    place = f"hydra.sweep.dir={runs_dir / 'sweep'}"
    done = run(capsys, "-m", *SHORT, "arch=none,oracle", place)
    assert done.status == 0, done.err
    return done.directory


def loaded(done: Done) -> Any:
    assert done.status == 0, done.err
    return json.loads(done.out)


def test_the_recorded_judge_split(capsys: pytest.CaptureFixture[str], data_dir: Path) -> None:
    file = str(data_dir / "recorded" / "longhorizon_judge_split.csv")
    arms = ("--judges", "haiku,sonnet", "--arms", "Summ-only,Retr-only")
    found = loaded(framework(capsys, "judges", file, *arms, "--json"))
    crr, rcs = found["agreement"]
    assert (crr["axis"], rcs["axis"]) == ("crr", "rcs")
    assert (crr["n"], rcs["n"]) == (150, 150)
    for row, key, expected in (
        (crr, "mean_absolute_disagreement", 0.020),
        (crr, "pearson", 0.959),
        (rcs, "mean_absolute_disagreement", 0.131),
        (rcs, "pearson", 0.5475),
        (rcs, "cohens_kappa_above", 0.174),
        (rcs, "cohens_kappa_at_least", 0.569),
    ):
        assert row[key] == pytest.approx(expected, abs=5e-4), key
    # .54748: .547 to three digits, .5475 to four, .55 as printed by the paper.
    assert f"{rcs['pearson']:.3f} {rcs['pearson']:.4f}" == "0.547 0.5475"
    low, high = rcs["limits"]["pearson"]
    assert low < rcs["pearson"] < high
    assert (crr["n_cases"], rcs["n_cases"]) == (10, 10)
    moderate = [d for d in found["directions"] if (d["axis"], d["budget"]) == ("rcs", "moderate")]
    assert [(d["n"], d["kept"], d["ties"]) for d in moderate] == [(10, 8, 3)]
    three = loaded(framework(capsys, "judges", file, "--json"))
    assert len(three["agreement"]) == 2 * 3
    assert set(three["alpha"]) == {"crr", "rcs"}


def test_a_table_of_judges(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text(TABLE)
    found = loaded(framework(capsys, "judges", str(file), "--json"))
    (row,) = found["agreement"]
    assert (row["judge_a"], row["judge_b"], row["n"]) == ("one", "other", 4)
    assert row["mean_absolute_disagreement"] == 0.25
    (direction,) = found["directions"]
    assert direction == {
        "axis": "rcs", "judge_a": "one", "judge_b": "other", "budget": "tight", "arm_a": "a",
        "arm_b": "b", "n": 2, "kept": 1, "ties": 0, "reversed": 0,
    }  # fmt: skip
    shown = framework(capsys, "judges", str(file)).out
    assert "direction of paired differences" in shown


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.replace("0.2,", "high,"), "t.csv:6: one_rcs: a number expected, 'high' found"),
        (lambda t: t.replace("0.2,", "nan,"), "t.csv:6: one_rcs: a number expected"),
        (lambda t: t.replace("3,a", "2,a"), "t.csv:6: one_rcs: judged twice"),
        (lambda t: t.replace("case_id", "case"), "columns case_id and JUDGE_AXIS expected"),
        (lambda t: t.replace("_rcs", "_racs"), "columns case_id and JUDGE_AXIS expected"),
        (lambda t: t.replace("other_rcs", "other"), "at least two judges"),
    ],
)
def test_a_bad_table_is_told(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    change: Callable[[str], str],
    said: str,
) -> None:
    file = tmp_path / "t.csv"
    file.write_text(change(TABLE))
    assert said in framework(capsys, "judges", str(file)).mistake


@pytest.mark.slow
def test_judges_of_one_sweep(capsys: pytest.CaptureFixture[str], sweep: Path) -> None:
    again = framework(capsys, "rescore", str(sweep), "judge=llm", "judge.prompts=paraphrase")
    assert again.status == 0, again.err
    found = loaded(framework(capsys, "judges", str(sweep), str(again.directory), "--json"))
    names = {(row["judge_a"], row["judge_b"]) for row in found["agreement"]}
    assert names == {("rules", "llm(prompts=paraphrase)")}
    by_axis = {row["axis"]: row for row in found["agreement"]}
    assert by_axis["rcs"]["mean_absolute_disagreement"] == 0.0, "both go by rule"
    assert by_axis["rcs"]["n"] == 12
    assert all(d["kept"] == d["n"] for d in found["directions"])
    alone = loaded(framework(capsys, "judges", str(sweep), "--json"))
    assert alone == found, "what was judged again beside a run is found"
    again = framework(capsys, "judges", str(sweep), str(sweep))
    assert again.status == 0
    assert "rules in sweep" in " ".join(again.out.split())


@pytest.mark.slow
def test_other_answers_are_not_compared(capsys: pytest.CaptureFixture[str], runs_dir: Path) -> None:
    for name, model in (("one", "rule_based"), ("two", "rule_based_noisy")):
        place = f"hydra.run.dir={runs_dir / name}"
        assert run(capsys, *SHORT, "arch=oracle", f"model={model}", place).status == 0
    done = framework(capsys, "judges", str(runs_dir / "one"), str(runs_dir / "two"))
    assert "did not judge the same answers" in done.mistake


def test_choices_must_be_there(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text(TABLE)
    for words, said in (
        (("--axes", "rsc"), "--axes: no 'rsc' here; did you mean 'rcs'"),
        (("--judges", "oter,one"), "did you mean 'other'"),
        (("--arms", "a,z"), "--arms: no 'z' here"),
        (("--judges", "one"), "at least two judges"),
    ):
        assert said in framework(capsys, "judges", str(file), *words).mistake


@pytest.mark.slow
def test_the_arm_shows_in_the_wording(capsys: pytest.CaptureFixture[str], sweep: Path) -> None:
    guess = loaded(framework(capsys, "judges", str(sweep), "--style", "--json"))["tight"]
    assert guess["n_answers"] == 12
    assert guess["chance"] == 0.5
    # An arm that remembers nothing has nothing to say.
    assert guess["accuracy"] > 0.8
    one = next(path.parent for path in sweep.glob("*/summary.json"))
    assert "--style: 1 arm " in framework(capsys, "judges", str(one), "--style").mistake


def fill(sheet: Path, label: Callable[[dict[str, str]], str]) -> list[dict[str, str]]:
    with sheet.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["label"] = label(row)
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return rows


@pytest.mark.slow
def test_a_sheet_is_blind_and_reads_back(
    capsys: pytest.CaptureFixture[str], sweep: Path, tmp_path: Path
) -> None:
    sheet = tmp_path / "labels.csv"
    done = framework(capsys, "label", str(sweep), "--n", "30", "--out", str(sheet))
    assert done.status == 0, done.err
    text = sheet.read_text()
    assert "oracle" not in text
    assert "loan-" not in text, "no id of a case"
    rows = fill(sheet, lambda row: "yes")
    assert len(rows) == 30
    assert set(rows[0]) == set(COLUMNS)
    assert not any(row["label"] for row in csv.DictReader(text.splitlines()))
    read = ("label", str(sweep), "--read", str(sheet), "--json")
    found = {row["question"]: row for row in loaded(framework(capsys, *read))}
    assert found["all"]["n"] == 30
    assert found["all"]["person_yes"] == 1.0
    assert found["all"]["agree"] == pytest.approx(found["all"]["judge_yes"])
    assert found["all"]["cohens_kappa"] == 0.0, "one label for all is no agreement beyond chance"
    assert set(found["all"]["limits"].values()) == {None}, "fewer than 10 cases"
    # A person who says what the judge said agrees in all.
    said = {}
    for path in sweep.glob("*/answers.jsonl"):
        for line in path.read_text().splitlines():
            for verdict in json.loads(line)["verdicts"]:
                said.setdefault(verdict["demand"], set()).add(verdict["met"])
    certain = {demand: met.pop() for demand, met in said.items() if len(met) == 1}
    fill(sheet, lambda r: {True: "Y", False: "n", None: ""}[certain.get(r["demand"])])
    agreed = loaded(framework(capsys, *read))
    assert {row["agree"] for row in agreed} == {1.0}
    assert framework(capsys, "label", str(sweep), "--read", str(sheet)).status == 0


def test_agreement_with_people_has_limits_over_cases() -> None:
    verdicts = [
        Verdict(
            id=f"v{i}", case=f"c{i // 3}", question="audit", demand="d", met=i % 4 > 0,
            decision="DENY", rationale="", notice="",
        )
        for i in range(90)
    ]  # fmt: skip
    (found,) = compare_labels(
        verdicts, {v.id: v.met != (i % 10 == 0) for i, v in enumerate(verdicts)}
    )
    assert found["agree"] == pytest.approx(0.9)
    for name in ("agree", "cohens_kappa", "alpha"):
        low, high = found["limits"][name]
        assert low < found[name] < high


@pytest.mark.slow
def test_mistakes_with_sheets(
    capsys: pytest.CaptureFixture[str], sweep: Path, tmp_path: Path
) -> None:
    sheet = tmp_path / "labels.csv"
    framework(capsys, "label", str(sweep), "--n", "3", "--out", str(sheet))

    def mistake(*words: str) -> str:
        return framework(capsys, "label", str(sweep), *words).mistake

    assert "may hold labels" in mistake("--out", str(sheet))
    beside = sweep.with_name(f"{sweep.name}-labels.csv")
    assert framework(capsys, "label", str(sweep), "--n", "3").status == 0
    assert beside.read_text() == sheet.read_text()
    beside.unlink()
    assert "--n: 0 given" in mistake("--n", "0")
    assert "no label yet" in mistake("--read", str(sheet))
    fill(sheet, lambda row: "perhaps")
    assert "labels.csv:2: label: yes or no expected, not 'perhaps'" in mistake("--read", str(sheet))
    fill(sheet, lambda row: "no")
    with sheet.open(newline="") as file:
        rows = list(csv.reader(file))
    with sheet.open("w", newline="") as file:
        csv.writer(file).writerows([*rows, rows[-1]])
    assert "appears twice" in mistake("--read", str(sheet))
    sheet.write_text("id,label\n000000000000,yes\n")
    assert "1 id of no verdict here, as 000000000000" in mistake("--read", str(sheet))
    sheet.write_text("a,b\n")
    assert "columns id and label expected" in mistake("--read", str(sheet))
    assert "can't be read" in mistake("--read", str(tmp_path / "none.csv"))


@pytest.mark.slow
def test_the_draw_is_the_seeds(
    capsys: pytest.CaptureFixture[str], sweep: Path, tmp_path: Path
) -> None:
    def drawn(name: str, seed: str) -> str:
        out = tmp_path / name
        framework(capsys, "label", str(sweep), "--n", "8", "--seed", seed, "--out", str(out))
        return out.read_text()

    assert drawn("a", "1") == drawn("b", "1")
    assert drawn("c", "2") != drawn("d", "1")
