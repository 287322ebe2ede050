"""`calibrate`: a judge's rates on answers of known truth, and a run's shares corrected by them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from framework.analysis.forms import poolable
from framework.analysis.known_answers import corrected_pair, of_error
from framework.config import load_plan
from framework.contracts import Judge, Verdict
from framework.contracts.calibration import ErrorRates, KnownAnswer, plain_rates, rates_in
from framework.errors import DoesNotFit, UnreadableError, UserError
from framework.records import ABSTAIN, Row
from framework.registry import NoSettings, find, settings_of
from framework.store.state import read_run
from framework.testing.server import ModelServer
from plugins.calibrations.questions import Questions, QuestionsSettings, by_one_fact
from plugins.commands._calibration import calibration, verdicts
from tests.launching import QUESTIONS, framework, run

ANSWER = "equivalent"
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


@pytest.mark.parametrize(
    ("expected", "other", "changed"),
    [
        ("4", None, "7"),
        ("$1,999.98", None, "$2,000.01"),
        ("0.07", None, "0.10"),
        ("99 days", "x", "102 days"),
        ("7 May 2023", None, "7 June 2023"),
        ("on a Sunday", None, "on a Monday"),
        ("from 3 to 4", "x", None),
        ("North Gate Hall.", "the Mill Lane", "North Gate Lane."),
        ("Mill Lane", "Gate Lane", None),
        ("tea", "coffee", None),
        ("one two three four five six seven", "eight", None),
    ],
)
def test_an_answer_is_wrong_by_one_fact(
    expected: str, other: str | None, changed: str | None
) -> None:
    assert by_one_fact(expected, other) == changed


def test_length_and_one_fact_tell_nothing_by_themselves() -> None:
    found = list(Questions(QuestionsSettings(n_cases=60)).answers())
    by_sort: dict[str, list[KnownAnswer]] = {}
    for answer in found:
        by_sort.setdefault(answer.sort, []).append(answer)
        assert answer.given != answer.expected or answer.right
    wordy = [by_sort["right, in many words"], by_sort["wrong: in many words"]]
    begins = {answer.given[:60] for sort in wordy for answer in sort}
    assert len(begins) == 1, "long answers are alike but for what they say"
    assert {answer.right for sort in wordy for answer in sort} == {True, False}
    assert len(by_sort["wrong: by one fact"]) > 20
    assert len(list(Questions(QuestionsSettings()).answers())) > 2000


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
        capsys, "domain=hotpotqa", f"domain.path={QUESTIONS}", "domain.unknown_file=true",
        "arch=oracle", "tracking=none",
        "report=false", "n_cases=6",
    )  # fmt: skip
    found = framework(
        capsys, "calibrate", "rules", "--set", "questions", "calibration.n_cases=30",
        "--runs", str(done.directory), "--json",
    )  # fmt: skip
    (of_run,) = json.loads(found.out)["runs"]
    axes = [share["axis"] for share in of_run["shares"]]
    assert axes[0] == "answer_correct"
    assert axes[1:] in (["kappa"], ["leak"], ["kappa", "leak"]), "right where the gold was in view"
    for share in of_run["shares"]:
        assert 0 <= share["low"] <= share["share"] <= share["high"] <= 1


JUDGED = (
    "domain=hotpotqa", f"domain.path={QUESTIONS}", "domain.unknown_file=true", "arch=oracle",
    "tracking=none", "report=false", "n_cases=6",
)  # fmt: skip
"""Six questions whose answers a judge judges."""


SET = (
    *("--set", "questions", "calibration.n_cases=6", "calibration.domain.plugin=hotpotqa"),
    f"calibration.domain.path={QUESTIONS}",
    "calibration.domain.unknown_file=true",
)


def calibrated(capsys: pytest.CaptureFixture[str], *words: str) -> Path:
    """The file of a calibration of `judge=llm` with the rule-based model."""
    done = framework(capsys, "calibrate", "llm", *(words or SET), "--out", "rates.json")
    assert done.status == 0, done.err
    assert "a run takes it with judge=llm" in done.out
    assert "judge.calibration=rates.json" in done.out
    return Path("rates.json")


def with_rates(file: Path, right: int, wrong: int) -> None:
    """Change what the judge of a calibration passed of 40 right answers and of 40 wrong ones."""
    content = json.loads(file.read_text())
    content |= {"right": {"passed": right, "n": 40}, "wrong": {"passed": wrong, "n": 40}}
    file.write_text(json.dumps(content))


@pytest.mark.slow
def test_a_run_finds_its_judges_calibration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with_rates(calibrated(capsys), 36, 4)
    done = run(capsys, *JUDGED, "judge=llm", "judge.calibration=rates.json", "hydra.run.dir=r")
    assert done.status == 0, done.err
    summary = json.loads(Path("r/summary.json").read_text())
    raw, corrected = (summary["axes"][f"answer_correct{of}"] for of in ("", "_corrected"))
    assert corrected["mean"] == pytest.approx(min(1, max(0, (raw["mean"] - 0.1) / 0.8)))
    assert corrected["ci_low"] < corrected["ci_high"]
    assert corrected["method"].startswith("Rogan-Gladen")
    assert (corrected["n"], corrected["kind"]) == (raw["n"], raw["kind"])
    assert summary["judge_error"] == {"set": "questions", "right": [36, 40], "wrong": [4, 40]}
    said = " ".join(done.out.split())
    assert "the judge passed 36 of 40 right answers and 4 of 40 wrong ones" in said
    assert "shows 0.80 of a difference" in said
    assert "answer_correct_corrected" in said
    # A run stands by itself: without the file it is verified and reported all the same.
    Path("rates.json").unlink()
    assert framework(capsys, "verify", "r").status == 0
    assert framework(capsys, "report", "r").status == 0
    page = " ".join(Path("r/report.md").read_text().split())
    assert "the judge passed 36 of 40" in page
    assert "answer_correct_corrected" in page


@pytest.mark.slow
def test_differences_of_a_sweep_are_corrected_beside_those_of_the_verdicts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with_rates(calibrated(capsys), 36, 4)
    rest = [word for word in JUDGED if not word.startswith(("arch=", "n_cases="))]
    words = ("-m", *rest, "arch=none,oracle", "n_cases=null", "judge=llm", "hydra.sweep.dir=s")
    done = run(capsys, *words, "judge.calibration=rates.json")
    assert done.status == 0, done.err
    rows = json.loads(Path("s/sweep.json").read_text())["comparisons"]
    (row,) = (row for row in rows if row["axis"] == "answer_correct")
    assert row["corrected_method"].startswith("Rogan-Gladen of a difference: ")
    assert all("corrected_delta" not in other for other in rows if other is not row)
    if row["corrected_low"] is not None:  # of fewer questions than ten none is claimed
        assert row["corrected_low"] <= row["corrected_delta"] <= row["corrected_high"]
    assert "corrected_delta" in Path("s/comparison.csv").read_text()
    assert framework(capsys, "report", "s").status == 0
    page = Path("s/report.md").read_text()
    assert "Differences in answer_correct are between the judge's uncorrected verdicts" in page
    assert "| difference | corrected |" in page


def row(case: int, arm: str, met: float, decision: str = "ANSWER") -> Row:
    axes = {"answer_correct": met}
    return Row(case_id=f"c{case:02}", arm=arm, axes=axes, decision=decision)


def test_a_corrected_difference_is_the_verdicts_over_the_factor() -> None:
    rates = ErrorRates(set="s", right=(90, 100), wrong=(10, 100))
    a = [row(i, "a", float(i < 30)) for i in range(40)]
    b = [row(i, "b", float(i < 10)) for i in range(40)]
    found = corrected_pair(a, b, "answer_correct", rates, seed=1)
    assert found["corrected_delta"] == pytest.approx(0.5 / 0.8)
    # Ten wrong answers of b were never put to the judge: none of them passed by error.
    silent = [replace(r, decision=ABSTAIN) if r.axes["answer_correct"] == 0 else r for r in b[:20]]
    less = corrected_pair(a, [*silent, *b[20:]], "answer_correct", rates, seed=1)
    assert less["corrected_delta"] == pytest.approx((0.5 - 0.25 * 0.1) / 0.8)
    turned = corrected_pair(b, a, "answer_correct", rates, seed=1)
    assert turned["corrected_delta"] == pytest.approx(-0.5 / 0.8)
    assert corrected_pair(a, b, "answer_f1", rates, seed=1) == {}


def test_without_a_calibration_nothing_is_corrected_and_a_rule_based_judge_is_not_told_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(capsys, *JUDGED, "hydra.run.dir=r")
    summary = json.loads(Path("r/summary.json").read_text())
    assert "answer_correct" in summary["axes"]
    assert "answer_correct_corrected" not in summary["axes"]
    assert "judge_error" not in summary
    assert "calibrate" not in done.out


@pytest.mark.slow
def test_reasons_and_notices_are_corrected_by_calibrations_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("reasons", "notices"):
        words = ("--set", name, "calibration.n_cases=20", "--out", f"{name}.json")
        assert framework(capsys, "calibrate", "llm", *words).status == 0
    with_rates(Path("reasons.json"), 36, 4)
    with_rates(Path("notices.json"), 38, 2)
    of = ("domain=loan", "tracking=none", "n_cases=24", "arch=oracle", "judge=llm")
    given = "judge.calibration=[reasons.json,notices.json]"
    done = run(capsys, *of, given, "hydra.run.dir=r")
    assert done.status == 0, done.err
    summary = json.loads(Path("r/summary.json").read_text())
    axes = summary["axes"]
    for axis, right, wrong in (("rcs", 0.9, 0.1), ("crr", 0.95, 0.05)):
        counted, corrected = axes[axis], axes[f"{axis}_corrected"]
        rows = [r for r in poolable(read_run(Path("r")).rows) if r.axes.get(axis) is not None]
        judged = sum(find("axis", axis).cls.has_verdict(r, axis) for r in rows) / len(rows)
        behind = (counted["mean"] - judged * wrong) / (right - wrong)
        assert corrected["mean"] == pytest.approx(min(judged, max(0, behind)))
        assert corrected["method"].startswith("Rogan-Gladen")
        assert (corrected["n"], corrected["kind"]) == (counted["n"], counted["kind"])
    said = " ".join(done.out.split())
    assert "passed 36 of 40 right answers and 4 of 40 wrong ones of the set reasons" in said
    assert "passed 38 of 40 right answers and 2 of 40 wrong ones of the set notices" in said
    for name in ("reasons", "notices"):
        Path(f"{name}.json").rename(f"{name}-away.json")
    assert framework(capsys, "verify", "r").status == 0
    assert run(capsys, "resume=r").status == 0
    # One file is of one kind of verdict, and two of a kind contradict each other.
    twice = run(capsys, *of, "judge.calibration=[reasons-away.json,reasons-away.json]")
    assert "reasons and reasons are of one kind; give one" in twice.mistake
    shares = framework(
        capsys, "calibrate", "rules", "--set", "reasons", "calibration.n_cases=20",
        "--runs", "r", "--json",
    )  # fmt: skip
    (share,) = json.loads(shares.out)["runs"][0]["shares"]
    assert share["axis"] == "rcs"


@pytest.mark.slow
def test_a_run_with_a_calibration_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the file, and from another folder, all is done with it as with any run."""
    monkeypatch.chdir(tmp_path)
    with_rates(calibrated(capsys), 36, 4)
    Path("rates.json").rename("o'rates, 1.json")
    words = (*JUDGED, "judge=llm", "hydra.run.dir=r", r"judge.calibration='o\'rates, 1.json'")
    done = run(capsys, *words)
    assert done.status == 0, done.err
    before = json.loads(Path("r/summary.json").read_text())
    Path("o'rates, 1.json").unlink()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    resumed = run(capsys, "resume=../r")
    assert resumed.status == 0, resumed.err
    rescored = framework(capsys, "rescore", "../r", "judge.model.plugin=rule_based", "--out", "s")
    assert rescored.status == 0, rescored.err
    after = json.loads(Path("s/summary.json").read_text())
    assert after["judge_error"] == before["judge_error"] is not None
    assert after["run"]["judge"] == before["run"]["judge"]
    assert load_plan(Path("../r")).identity["judge"]["calibration"]["right"] == (36, 40)


@pytest.mark.parametrize(
    ("rates", "kind", "judged", "said"),
    [
        ({}, "llm", ["answer_correct"], ["answer_correct is not known: `decisionbench calibrate"]),
        ({}, "rule-based", ["answer_correct", "rcs"], []),
        ({}, "llm", ["rcs", "crr"], ["error on rcs, crr is not known: `decisionbench calibrate"]),
        ({}, "llm", ["crr_quote"], ["error on crr_quote is not known: `decisionbench calibrate"]),
        ({ANSWER: (9, 1)}, "llm", ["answer_correct"], ["which answer_correct_corrected allows"]),
        (
            {ANSWER: (9, 1)},
            "llm",
            ["answer_correct", "rcs", "crr_quote"],
            ["0.80 of a difference", "error on rcs, crr_quote is not known: `decision"],
        ),
        (
            {ANSWER: (9, 1), "entail": (8, 2)},
            "llm",
            ["answer_correct", "rcs"],
            ["0.80 of a difference", "which rcs_corrected allows, as do"],
        ),
        ({ANSWER: (1, 9)}, "llm", ["answer_correct"], ["its verdicts say nothing"]),
        ({ANSWER: (9, 1)}, "rule-based", [], []),
    ],
)
def test_what_is_said_of_a_judges_error(
    rates: Mapping[str, tuple[int, int]], kind: str, judged: list[str], said: list[str]
) -> None:
    known = {
        demand: ErrorRates(set="s", right=(right, 10), wrong=(wrong, 10), demand=demand)
        for demand, (right, wrong) in rates.items()
    }
    found = list(of_error(known, kind, judged, "llm"))
    assert len(found) == len(said)
    assert all(words in line for words, line in zip(said, found, strict=True))
    assert rates_in(plain_rates(known)) == known


@pytest.mark.slow
def test_a_calibration_is_of_one_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    calibrated(capsys)
    again = framework(capsys, "calibrate", "llm", *SET, "--out", "rates.json")
    assert "exists already" in again.mistake
    Path("other.json").write_text("{}")
    for words, said in (
        (
            ("judge.order=listed", "judge.calibration=rates.json"),
            "is for another judge, judge=llm:",
        ),
        (("judge.calibration=nowhere.json",), "can't be read"),
        (("judge.calibration=other.json",), "was not written by `calibrate JUDGE --out`"),
    ):
        assert said in run(capsys, *JUDGED, "judge=llm", *words, "hydra.run.dir=r").mistake
    assert not Path("r").exists()


def test_a_calibration_is_kept_whatever_runs_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    done = framework(
        capsys, "calibrate", "llm", *SET, "--out", "rates.json", "--runs", "nowhere"
    )  # fmt: skip
    assert done.status == 2
    assert "nowhere" in done.mistake
    assert json.loads(Path("rates.json").read_text())["right"]["n"] > 0


@pytest.mark.slow
def test_a_judge_no_better_than_chance_is_no_gates_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    file = calibrated(capsys)
    judge = ("judge=llm", "judge.calibration=rates.json", "hydra.run.dir=r")
    gate = ("gate.baseline=full_context", "gate.axes=[answer_correct]")
    for right, wrong in ((20, 20), (10, 30)):
        with_rates(file, right, wrong)
        refused = run(capsys, *JUDGED, *judge, *gate).mistake
        assert "no better than chance" in refused
        assert "no gate can rest on its answer_correct" in refused
        assert not Path("r").exists()
    # Without a gate the run is made, and says that the verdicts say nothing.
    done = run(capsys, *JUDGED, *judge)
    assert done.status == 0
    assert "its verdicts say nothing" in " ".join(done.out.split())
    axes = json.loads(Path("r/summary.json").read_text())["axes"]
    assert axes["answer_correct_corrected"]["mean"] is None
    # A gate on what no judge says is judged.
    others = ("gate.baseline=full_context", "gate.axes=[answer_f1]", "hydra.run.dir=g")
    assert run(capsys, *JUDGED, *judge[:2], *others).status in (0, 3)
    # As is one with a judge that is better.
    with_rates(file, 36, 4)
    better = run(capsys, *JUDGED, *judge[:2], *gate, "hydra.run.dir=b")
    assert better.status in (0, 3)
    said = "answer_correct is of the judge's verdicts as they are, which show 0.80 of a difference"
    assert said in " ".join((better.out + better.err).split())


@pytest.mark.slow
def test_a_loop_is_not_judged_by_a_judge_no_better_than_chance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    # The rules of the questions' own benchmark are chosen where the default ones have none.
    with_rates(calibrated(capsys, "--set", "questions", "calibration.n_cases=20"), 10, 30)
    done = run(
        capsys, "domain=longmemeval_synthetic", "arch=bm25", "protocol=improve", "gate=heldout",
        "judge=llm", "judge.prompts=longmemeval", "judge.calibration=rates.json", "tracking=none",
        "hydra.run.dir=r",
    )  # fmt: skip
    assert done.mistake.startswith("gate=heldout: judge=llm(calibration=rates.json,prompts=")
    assert "is no better than chance, so no gate can rest on its answer_correct" in done.mistake
    lacking = ("--set", "questions", "judge.prompts=locomo")
    assert (
        "no rule for answers of the kind" in framework(capsys, "calibrate", "llm", *lacking).mistake
    )


class Mute(Judge[NoSettings]):
    """Says nothing that can be read of an answer that is wrong, and does not fit a long one."""

    kind = "llm"

    def entail(self, *_: Any) -> Any:
        raise AssertionError

    audit = entail

    def equivalent(self, question: str, expected: str, given: str, kind: str, client: Any) -> Any:
        if given == "wrong":
            raise UnreadableError("no JSON object")
        if given == "long":
            raise DoesNotFit(9, 8)
        return Verdict(id="answer", met=True)


def test_what_a_judge_says_that_can_not_be_read_is_no_verdict() -> None:
    answers = [
        KnownAnswer(question="q", expected="e", given=given, right=given == "e", sort=given)
        for given in ("e", "wrong", "long")
    ]
    said = asyncio.run(verdicts(Mute(NoSettings()), answers, None))  # type: ignore[arg-type]
    assert said == [True, None, None]
    found = calibration("mute", "s", answers, said, "equivalent")
    assert found.abstained == {"wrong": 1, "long": 1}
    with pytest.raises(UserError, match="verdicts on right and on wrong answers"):
        _ = found.rates


@pytest.mark.slow
def test_a_calibration_spends_no_more_than_its_cap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with ModelServer(lambda *_: '{"met": true, "why": "as expected"}') as running:
        words = (
            "calibrate", "openai", *SET, "judge.model.base_url=" + running.url + "/v1",
            "judge.model.concurrency=1", "judge.model.max_tokens=100",
        )  # fmt: skip
        none = framework(capsys, *words, "max_cost_usd=0")
        assert (none.status, running.counts.calls) == (1, 0)
        assert "stopped: max_cost_usd=0: $0.0000 spent" in none.err
        assert len(none.err.strip().splitlines()) == 1
        capped = framework(capsys, *words, "max_tokens_total=12000", "--out", "rates.json")
        first = running.counts.calls
        assert capped.status == 1
        assert "stopped: max_tokens_total=12000: " in capped.err
        assert 0 < first < 42
        assert not Path("rates.json").exists()
        done = framework(capsys, *words, "max_cost_usd=5", "--out", "rates.json")
        assert done.status == 0, done.err
        assert "spent by the run: $" in done.err
        assert set(running.counts.requests.values()) == {1}  # none was paid for twice
    kept = json.loads(Path("rates.json").read_text())
    assert kept["right"]["passed"] == kept["right"]["n"] > 0
    assert not any(word.startswith("max_") for word in kept["overrides"])
    unpriced = framework(capsys, *words, "judge.model.name=nobodys", "max_cost_usd=1")
    assert "max_cost_usd: " in unpriced.mistake


def test_a_judge_shown_to_be_worse_than_chance_ends_in_status_1() -> None:
    answers = [
        KnownAnswer(question="q", expected="e", given="g", right=i % 2 == 0, sort="s")
        for i in range(40)
    ]
    assert (
        calibration("j", "s", answers, [not a.right for a in answers], "equivalent").tells is False
    )
    assert calibration("j", "s", answers, [a.right for a in answers], "equivalent").tells is True
    assert calibration("j", "s", answers, [True] * 40, "equivalent").tells is None
    assert calibration("j", "s", answers, [None] * 40, "equivalent").abstained == {"s": 40}


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


def test_a_judge_that_takes_no_calibration_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    done = framework(capsys, "calibrate", "rules", *SET, "--out", "rates.json")
    assert done.status == 0, done.err
    assert "judge.calibration" not in done.out
    assert done.out.splitlines()[-1].startswith("kept: rates.json; judge=rules takes no calibra")
