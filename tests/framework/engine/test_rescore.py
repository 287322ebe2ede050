"""Judging again: the reader is not asked, the old run is only read, the new one says whence."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from framework.contracts import Judge, Model, Operation, Reply, Req, Res, Verdict
from framework.operations.entail import Entail, EntailRequest
from framework.records import Answer, ReasoningPoint, Standard
from framework.registry import NoSettings, register
from framework.store import verify_run
from framework.store.state import load_state
from framework.text.canonical import digest
from hydra_plugins import decisionbench_launch
from tests.launching import Done, framework, run

QUESTIONS: Final = Path(__file__).parents[2] / "fixtures" / "hotpotqa" / "questions.json"
SHORT = ("domain=loan", "tracking=none", "n_cases=4", "extra_axes=[robustness]")


@register("judge", "rescore_test_no")
class No(Judge[NoSettings]):
    """Says no to everything; fails at the second answer while `broken` is set."""

    kind = "rule-based"
    broken = False
    asked = 0

    def entail(
        self, rationale: str, points: Sequence[ReasoningPoint], client: Any
    ) -> Sequence[Verdict]:
        type(self).asked += 1
        if self.broken and self.asked > 1:
            raise KeyboardInterrupt
        return [Verdict(id=point.id, met=False) for point in points]

    def audit(self, answer: Answer, standard: Standard, client: Any) -> Sequence[Verdict]:
        return [Verdict(id=item.id, met=False) for item in standard.items]


@register("judge", "rescore_test_yes")
class Yes(No):
    """Finds every answer right."""

    def equivalent(
        self, question: str, expected: str, given: str, kind: str, client: Any
    ) -> Verdict:
        return Verdict(id="answer", met=True)


@register("judge", "rescore_test_away")
class Away(No):
    """A judge that can't be reached."""

    def entail(
        self, rationale: str, points: Sequence[ReasoningPoint], client: Any
    ) -> Sequence[Verdict]:
        raise RuntimeError("no connection")


@pytest.fixture
def never_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on, asking the rule-based model is an error."""
    from plugins.models.rule_based.model import RuleBased

    async def refuse(
        self: Model[Any], operation: Operation[Req, Res], request: Req, sample: int
    ) -> Reply[Res]:
        raise AssertionError(f"asked for {operation.name}")

    monkeypatch.setattr(RuleBased, "run", refuse)


def files(directory: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(directory)): p.read_bytes() for p in directory.rglob("*.*") if p.is_file()
    }


def first(capsys: pytest.CaptureFixture[str], runs_dir: Path, *more: str) -> Done:
    done = run(capsys, *SHORT, "arch=bm25", f"hydra.run.dir={runs_dir / 'first'}", *more)
    assert done.status == 0, done.err
    return done


def again(option: str) -> str:
    return f"+judge={option}" if option.startswith("_") else f"judge={option}"


@pytest.mark.slow
def test_a_run_is_judged_anew(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, request: pytest.FixtureRequest
) -> None:
    old = first(capsys, runs_dir, "judge=llm").directory
    before = files(old)
    request.getfixturevalue("never_asked")
    done = framework(capsys, "rescore", str(old), "judge=rules")
    assert done.status == 0, done.err
    new = done.directory
    assert new == runs_dir / "first-judged-by-rules"
    assert files(old) == before, "the old run is only read"
    assert verify_run(new, None).ok
    a, b = load_state(old), load_state(new)
    assert [row.key for row in a.rows] == [row.key for row in b.rows]
    assert [row.axes for row in a.rows] == [row.axes for row in b.rows], "both judges go by rule"
    assert all("judge" in row.usage for row in a.rows)
    assert all("judge" not in row.usage for row in b.rows), "the rules ask no model"
    assert a.started is not None
    assert a.finished is not None
    for stored in (json.loads((new / "manifest.json").read_text()), b.started):
        assert stored is not None
        origin = stored["rescored_from"]
        assert origin["run"] == "../first"
        assert origin["identity"] == a.started["identity"]
        assert origin["head"] == a.finished["hash"]
    records = [json.loads(line) for line in (new / "answers.jsonl").read_text().splitlines()]
    assert {p["phase"] for r in records for p in r["prompts"]} <= {"answer", "control"}
    assert all(record["verdicts"] for record in records)


@pytest.mark.slow
def test_only_the_axes_asked_for_change(capsys: pytest.CaptureFixture[str], runs_dir: Path) -> None:
    old = first(capsys, runs_dir, "arch=oracle").directory
    done = framework(
        capsys, "rescore", str(old), "judge.plugin=rescore_test_no", "--axes", "rcs", "--out",
        str(runs_dir / "no"),
    )  # fmt: skip
    assert done.status == 0, done.err
    pairs = list(zip(load_state(old).rows, load_state(runs_dir / "no").rows, strict=True))
    assert all(b.axes["rcs"] == 0.0 for _, b in pairs)
    assert any(a.axes["rcs"] for a, _ in pairs)
    assert all({**a.axes, "rcs": 0.0} == {**b.axes} for a, b in pairs)


def test_a_judge_that_fails_takes_nothing_from_what_memory_kept(
    capsys: pytest.CaptureFixture[str], runs_dir: Path
) -> None:
    """Of one axis scored again, a failed case lost its retention: the mean was of other cases."""
    old = first(capsys, runs_dir).directory
    done = framework(
        capsys, "rescore", str(old), "judge.plugin=rescore_test_away", "max_errors=4", "--axes",
        "rcs", "--out", str(runs_dir / "away"),
    )  # fmt: skip
    assert done.status == 0, done.err
    pairs = list(zip(load_state(old).rows, load_state(runs_dir / "away").rows, strict=True))
    assert all("no connection" in b.error for _, b in pairs)
    for name in ("p_ret", "p_ret_abstain", "retained", "surface_ceiling"):
        assert [b.axes.get(name) for _, b in pairs] == [a.axes[name] for a, _ in pairs]
    assert all("eda" not in b.axes for _, b in pairs)


def test_only_the_last_turn_of_a_session_is_judged_again(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The turns before it had been given axes, and the judge was asked about each."""
    done = run(
        capsys,
        *("domain=precedents", "arch=bm25", "protocol=sessions", "protocol.turns=3", "n_cases=4"),
        *("tracking=none", "report=false", f"hydra.run.dir={tmp_path / 'old'}"),
    )
    assert done.status == 0, done.err
    words = ("rescore", str(tmp_path / "old"), "judge=rules", "--out", str(tmp_path / "new"))
    assert framework(capsys, *words).status == 0
    old, new = (load_state(tmp_path / name).rows for name in ("old", "new"))
    assert any(row.turn and not row.axes for row in old), "a session of several turns"
    assert [(row.key, row.success, row.axes) for row in old] == [
        (row.key, row.success, row.axes) for row in new
    ]


def test_what_rests_on_which_answers_are_right_is_judged_with_them(
    capsys: pytest.CaptureFixture[str], runs_dir: Path
) -> None:
    done = run(
        capsys, "domain=hotpotqa", f"domain.path={QUESTIONS}", "domain.unknown_file=true",
        "arch=oracle", "budget=absolute", "budget.tokens=200", "tracking=none", "report=false",
        "protocol=intervene", f"hydra.run.dir={runs_dir / 'asked'}",
    )  # fmt: skip
    assert done.status == 0, done.err
    again = framework(
        capsys, "rescore", str(done.directory), "judge.plugin=rescore_test_yes", "--axes", "answer"
    )
    assert again.status == 0, again.err
    old, new = (load_state(one.directory).rows for one in (done, again))
    columns = ("answer_correct", "kappa", "kappa_inserted", "leak_removed")
    assert not any(row.axes[name] for row in old for name in columns), "the rules read no answer"
    assert all(row.success == row.axes[name] == 1.0 for row in new for name in columns)
    for directory, met in ((done.directory, False), (again.directory, True)):
        lines = (directory / "answers.jsonl").read_text().splitlines()
        others = [of for line in lines for of in json.loads(line)["others"].values()]
        told = [verdict["met"] for of in others for verdict in of.get("verdicts", ())]
        assert told == [met] * len(told), "each by the judge of its own run"
        assert told, "an answer that no other view gave is asked about"


@pytest.mark.slow
def test_a_setting_of_the_judge_leaves_its_other_settings(
    capsys: pytest.CaptureFixture[str], runs_dir: Path
) -> None:
    old = first(capsys, runs_dir, "judge=llm", "judge.order=listed").directory
    done = framework(capsys, "rescore", str(old), "judge.prompts=paraphrase")
    judge = json.loads((done.directory / "summary.json").read_text())["run"]["judge"]
    assert judge == "llm(order=listed,prompts=paraphrase)"
    done = framework(capsys, "rescore", str(old), "judge=llm", "judge.per_call=1")
    judge = json.loads((done.directory / "summary.json").read_text())["run"]["judge"]
    assert judge == "llm(per_call=1)"


@pytest.mark.slow
def test_what_can_not_be_rescored(capsys: pytest.CaptureFixture[str], runs_dir: Path) -> None:
    old = first(capsys, runs_dir).directory
    for words, said in (
        ((str(old), "judge=llm", "model=rule_based_noisy"), "rescore: model would differ"),
        ((str(old), "judge=llm", "n_cases=3"), "rescore: n_cases would differ"),
        ((str(old), "judge=llm", "--axes", "rsc"), "did you mean 'rcs'"),
        ((str(old),), "give the new judge"),
        ((str(old), "llm"), "'llm' is not an override"),
        ((str(runs_dir / "nothing"), "judge=llm"), "is not a run directory"),
    ):
        assert said in framework(capsys, "rescore", *words).mistake
    assert [path.name for path in runs_dir.iterdir() if path.is_dir()] == ["first"]
    framework(capsys, "rescore", str(old), "judge=llm")
    again = framework(capsys, "rescore", str(old), "judge=llm")
    assert "exists already; resume it with resume=" in again.mistake


@pytest.mark.slow
def test_cut_off_it_goes_on_without_the_reader(
    capsys: pytest.CaptureFixture[str],
    runs_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    old = first(capsys, runs_dir).directory
    request.getfixturevalue("never_asked")
    words = ("rescore", str(old), "judge.plugin=rescore_test_no", "--out", str(runs_dir / "cut"))
    monkeypatch.setattr(No, "broken", True)
    monkeypatch.setattr(No, "asked", 0)
    with pytest.raises(KeyboardInterrupt):
        framework(capsys, *words)
    cut = load_state(runs_dir / "cut")
    assert cut.finished is None
    assert 0 < len(cut.rows) < 4
    monkeypatch.setattr(No, "broken", False)
    done = run(capsys, f"resume={runs_dir / 'cut'}")
    assert done.status == 0, done.err
    rows = load_state(runs_dir / "cut").rows
    assert len(rows) == 4
    assert not any(row.error for row in rows)
    assert all(row.axes["rcs"] == 0.0 for row in rows)


@pytest.mark.slow
def test_a_sweep_is_judged_anew(capsys: pytest.CaptureFixture[str], runs_dir: Path) -> None:
    place = f"hydra.sweep.dir={runs_dir / 'sweep'}"
    old = run(capsys, "-m", *SHORT, "arch=bm25,oracle", place).directory
    before = files(old)
    done = framework(capsys, "rescore", str(old), "judge=llm")
    assert done.status == 0, done.err
    assert files(old) == before
    new = done.directory
    assert new == runs_dir / "sweep-judged-by-llm"
    one, other = (json.loads((d / "sweep.json").read_text()) for d in (old, new))
    assert [job["axes"] for job in one["jobs"]] == [job["axes"] for job in other["jobs"]]
    assert {job["run"]["judge"] for job in other["jobs"]} == {"llm"}
    assert (new / "comparison.csv").read_bytes().count(b"\n") == (
        (old / "comparison.csv").read_bytes().count(b"\n")
    )
    assert run(capsys, f"resume={new}").status == 0


@pytest.mark.slow
def test_jobs_that_had_each_a_part_of_the_caps_are_judged_under_all_of_them(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decisionbench_launch, "_HERE", ())  # as if on many machines
    place = f"hydra.sweep.dir={runs_dir / 'sweep'}"
    caps = ("max_tokens_total=9000", "max_cost_usd=3")
    old = run(capsys, "-m", *SHORT, "arch=bm25,oracle", *caps, place).directory
    for given, tokens in (((), 9000), (("max_tokens_total=70",), 70)):
        new = runs_dir / f"judged-{tokens}"
        done = framework(capsys, "rescore", str(old), "judge=llm", *given, "--out", str(new))
        assert done.status == 0, done.err
        planned = json.loads((new / "sweep_plan.json").read_text())
        for job in planned["jobs"]:
            own = {o.partition("=")[0]: float(o.partition("=")[2]) for o in job["overrides"]
                   if o.startswith("max_")}  # fmt: skip
            assert own == {"max_tokens_total": tokens, "max_cost_usd": 3.0}


@pytest.mark.slow
def test_a_rescored_sweep_cut_off_before_its_last_job_goes_on_with_every_axis(
    capsys: pytest.CaptureFixture[str], runs_dir: Path
) -> None:
    place = f"hydra.sweep.dir={runs_dir / 'sweep'}"
    old = run(capsys, "-m", *SHORT, "arch=bm25,oracle", place).directory
    new = framework(capsys, "rescore", str(old), "judge=llm").directory
    whole = json.loads((new / "sweep.json").read_text())
    shutil.rmtree(new / whole["jobs"][1]["directory"])
    assert run(capsys, f"resume={new}").status == 0
    again = json.loads((new / "sweep.json").read_text())
    assert [job["axes"] for job in again["jobs"]] == [job["axes"] for job in whole["jobs"]]
    origin = json.loads((new / whole["jobs"][1]["directory"] / "manifest.json").read_text())
    assert len(origin["rescored_from"]["axes"]) > 1


@pytest.mark.parametrize("swept", [False, True])
def test_the_report_of_a_rescored_run_says_how_it_was_judged_and_whence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, *, swept: bool
) -> None:
    place = f"hydra.{'sweep' if swept else 'run'}.dir={tmp_path / 'first'}"
    assert run(capsys, *["-m"] * swept, *SHORT, "arch=bm25", place).status == 0
    given = ("judge.plugin=rescore_test_no", "--axes", "rcs", "--out", str(tmp_path / "second"))
    assert framework(capsys, "rescore", str(tmp_path / "first"), *given).status == 0
    assert framework(capsys, "report", str(tmp_path / "second")).status == 0
    source = next((tmp_path / "first").glob("*/manifest.json")) if swept else None
    head = json.loads((source or tmp_path / "first/manifest.json").read_text())["head_hash"]
    page = (tmp_path / "second/report.md").read_text().replace("\\", "")
    kept = "" if swept else "extra_axes=[robustness] "
    assert f"decisionbench rescore ../first {kept}judge.plugin=rescore_test_no --axes rcs" in page
    assert "decisionbench -m judge" not in page
    assert f"first{'/' + source.parent.name if source else ''}, head {head}" in page


def test_a_report_has_one_digest_of_the_prompts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    first(capsys, tmp_path, "report=true", "judge=llm", "judge.prompts=paraphrase")
    assert framework(capsys, "report", str(tmp_path / "first")).status == 0
    page = (tmp_path / "first/report.md").read_text().replace("\\", "")
    prompts = json.loads((tmp_path / "first/manifest.json").read_text())["prompts"]
    said = f"{digest(prompts)} over those of {len(prompts)} operations; the judge's: paraphrase"
    assert said in page


@register("judge", "rescore_test_asks_the_run")
class AsksTheRun(No):
    """Asks the run's model, having none of its own."""

    kind = "llm"

    async def entail(  # type: ignore[override]
        self, rationale: str, points: Sequence[ReasoningPoint], client: Any
    ) -> Sequence[Verdict]:
        found: Sequence[Verdict] = await client.ask(
            Entail(), EntailRequest(rationale=rationale, points=tuple(points))
        )
        return found


def test_a_judge_without_a_model_asks_the_runs_which_answers_nothing_again(
    capsys: pytest.CaptureFixture[str], runs_dir: Path
) -> None:
    old = first(capsys, runs_dir, "judge=rules").directory
    done = framework(capsys, "rescore", str(old), "judge=rescore_test_asks_the_run")
    assert done.status == 0, done.err
    before, after = load_state(old).rows, load_state(done.directory).rows
    assert [row.decision for row in before] == [row.decision for row in after]
    assert [row.axes["rcs"] for row in before] == [row.axes["rcs"] for row in after]
    assert all(row.usage["judge"].calls for row in after if row.axes["rcs"] is not None)
    assert [row.usage["answer"].calls for row in before] == [
        row.usage["answer"].calls for row in after
    ]
