"""`calibrate`: a judge's rates on answers of known truth, and a run's shares corrected by them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from framework.analysis.known_answers import calibration
from framework.contracts.calibration import KnownAnswer
from framework.registry import find, settings_of
from tests.launching import QUESTIONS, framework, run

ENTRY = {"question_id": "q0", "question": "When?", "golden_answer": "7 May 2023", "category": "2"}


def published(folder: Path) -> Path:
    """A folder of the form that LoCoMo's audit is published in, with three wrong answers."""
    folder.mkdir()
    verdicts = {"v1": [[False, False, True]], "v2": [[True, True, False], [False, False, False]]}
    for version, found in verdicts.items():
        entries = [
            {
                **ENTRY,
                "question_id": f"q{i}",
                "generated_answer": "in spring",
                "llm_judgments": {str(j): met for j, met in enumerate(each)},
            }
            for i, each in enumerate(found)
        ]
        (folder / f"wrong_answers_{version}_part.json").write_text(json.dumps(entries))
    (folder / "errors_part.json").write_text(json.dumps([{"question_id": "q1"}]))
    return folder


def test_the_rules_pass_right_answers_and_no_wrong_one(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--set", "questions", "calibration.n_cases=30", "--json")
    done = framework(capsys, "calibrate", "rules", *words)
    assert done.status == 0
    found = json.loads(done.out)
    assert found["tells"] is True
    assert found["right"]["passed"] == found["right"]["n"] >= 40
    assert found["sorts"]["wrong: another's answer"]["passed"] == 0
    assert found["wrong"]["n"] > 60


def test_recorded_verdicts_are_counted_by_majority(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = f"calibration.path={published(tmp_path / 'audit')}"
    done = framework(capsys, "calibrate", "recorded", "--set", "locomo_audit", path, "--json")
    found = json.loads(done.out)
    assert found["wrong"] == {**found["wrong"], "passed": 1, "n": 3}
    assert found["sorts"]["wrong: a vague answer"]["passed"] == 1
    assert found["right"]["n"] == 0
    assert found["tells"] is None
    shown = framework(capsys, "calibrate", "rules", "--set", "locomo_audit", path)
    assert "right: the key's own words" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80


def test_published_verdicts_agree_with_an_independent_count(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = data_dir / "locomo_audit"
    path = f"calibration.path={folder}"
    done = framework(capsys, "calibrate", "recorded", "--set", "locomo_audit", path, "--json")
    sorts = json.loads(done.out)["sorts"]
    for version, sort in (("v1", "wrong: a specific answer"), ("v2", "wrong: a vague answer")):
        (file,) = folder.glob(f"wrong_answers_{version}*.json")
        entries = json.loads(file.read_text(encoding="utf-8"))
        passed = sum(sum(entry["llm_judgments"].values()) >= 2 for entry in entries)
        assert (sorts[sort]["passed"], sorts[sort]["n"]) == (passed, len(entries))


def test_the_shares_of_a_run_are_corrected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(
        capsys, "domain=hotpotqa", f"domain.path={QUESTIONS}", "arch=oracle", "tracking=none",
        "report=false", "n_cases=6",
    )  # fmt: skip
    found = framework(
        capsys, "calibrate", "rules", "--set", "questions", "calibration.n_cases=30",
        "--runs", str(done.directory), "--json",
    )  # fmt: skip
    (of_run,) = json.loads(found.out)["runs"]
    (share,) = of_run["shares"]
    assert share["axis"] == "answer_correct"
    assert 0 <= share["low"] <= share["share"] <= share["high"] <= 1


def test_a_judge_shown_to_be_worse_than_chance_ends_in_status_1() -> None:
    answers = [
        KnownAnswer(question="q", expected="e", given="g", right=i % 2 == 0, sort="s")
        for i in range(40)
    ]
    assert calibration("j", "s", answers, [not a.right for a in answers]).tells is False
    assert calibration("j", "s", answers, [a.right for a in answers]).tells is True
    assert calibration("j", "s", answers, [True] * 40).tells is None
    assert calibration("j", "s", answers, [None] * 40).abstained == {"s": 40}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--set", "question"), "did you mean 'questions'?"),
        (("--set", "questions", "calibration.n_cases=1"), "2 or more expected"),
        (("--set", "questions", "calibration.cases=5"), "no such setting"),
        (("--set", "locomo_audit", "calibration.path=nowhere"), "holds no errors*.json"),
        (("--set", "questions", "calibration.domain.plugin=loan"), "loan"),
    ],
)
def test_a_mistake_is_one_line(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in framework(capsys, "calibrate", "rules", *words).mistake


def test_every_shipped_set_has_both_truths(tmp_path: Path) -> None:
    settings = {
        "questions": {"n_cases": 40},
        "locomo_audit": {"path": str(published(tmp_path / "a"))},
    }
    for name, values in settings.items():
        plugin = find("calibration", name)
        answers = list(plugin.cls(settings_of(plugin, values)).answers())
        assert {known.right for known in answers} == {True, False}
        assert len({(k.question, k.given, k.sort) for k in answers}) >= len(answers) - 3
