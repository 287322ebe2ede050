"""`+experiment=tune`: trials on one half, the comparison on the other, also after a kill."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from framework import cli
from framework.engine import sweep as sweep_module
from framework.engine.compose import compose_plan, composer
from framework.engine.domains import open_domain
from framework.engine.sweep import alone_in, plan_jobs
from framework.errors import UserError
from framework.reporting.blocks import NOTHING, Table, Text
from framework.reporting.page import write_report
from framework.store.state import load_state, read_run
from plugins.tuning import checks, sweep
from plugins.tuning.parts import halves
from plugins.tuning.section import tuning_blocks
from tests.launching import HOTPOT, framework, read_json, run

TUNE = ("+experiment=tune", "arch=bm25,none,typed_graph")
LOAN = (*TUNE, "domain=loan", "protocol=retrieve", "n_cases=12", "report=false",
        "hydra.sweeper.trials=3")  # fmt: skip


def plan_at(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = read_json(path / "sweep_plan.json")
    return found


def rows_of(path: Path) -> list[Any]:
    """The measured rows of a comparison, by job."""
    jobs = [path / job["name"] for job in plan_at(path)["jobs"]]
    return [[(row.key, row.axes) for row in read_run(job).rows] for job in jobs]


@pytest.mark.slow
def test_a_tuned_sweep_whole_and_killed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(capsys, *LOAN, "hydra.sweep.dir=runs/whole")
    assert done.status == 0, done.err
    whole = done.directory
    _check_halves(whole)
    _check_what_is_told(whole, done.out)

    class Killed(Exception):
        """Stands for the end of the process: nothing after it is done."""

    own, compared = sweep._run, sweep.run_sweep

    def held_while_compared(path: Path, *rest: Any) -> Any:
        """Its plan is another file than the one of the trials."""
        assert plan_at(path)["tuning"]["done"]
        with pytest.raises(UserError, match="has been held"), alone_in(path):
            pass
        return compared(path, *rest)

    trials = []

    def killed(*args: Any) -> bool:
        trials.append(args)
        if len(trials) == 3:
            raise Killed
        return own(*args)

    monkeypatch.setattr(sweep, "_run", killed)
    assert run(capsys, *LOAN, "hydra.sweep.dir=runs/cut").status == 1
    cut = Path("runs/cut")
    before = {path: path.read_bytes() for path in cut.glob("*/journal.jsonl")}
    assert len(before) == 4, "two trials of two arms"
    monkeypatch.setattr(sweep, "_run", own)
    monkeypatch.setattr(sweep, "run_sweep", held_while_compared)
    monkeypatch.setattr(sweep_module, "_FREED_S", 0.1)
    assert run(capsys, "resume=runs/cut").status == 0
    assert {path: path.read_bytes() for path in before} == before, "nothing is run twice"
    told, again = plan_at(whole), plan_at(cut)
    assert again["tuning"] == told["tuning"]
    assert again["jobs"] == told["jobs"]
    assert rows_of(cut) == rows_of(whole)
    assert run(capsys, "resume=runs/cut").status == 0, "an ordinary sweep by now"
    assert cli.main(["verify", "runs/cut"]) == 0
    _check_what_is_tampered_with(cut, capsys)


def test_a_trial_is_not_uploaded_whatever_is_said_of_tracking() -> None:
    given = [*HOTPOT, "tracking=mlflow", "tracking.uri=sqlite:///x.db", "arch=bm25"]
    with composer():
        (job,) = plan_jobs([sweep._trial(given, {"k1": 2}, ("tracking.uri=sqlite:///y.db",))])
    assert job.plan.option("tracking") == "none"
    assert job.plan.label("arch") == "bm25(k1=2)"


@pytest.mark.slow
def test_an_arm_that_ends_as_another_one_is_measured_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(checks, "value_of", lambda run, _, higher: float("prune_true" in run.name))
    done = run(
        capsys,
        *("+experiment=tune", "arch=typed_graph,typed_graph_pruned", *HOTPOT),
        *("hydra.sweeper.trials=6", "hydra.sweeper.objective=mrr", "hydra.sweep.dir=runs/same"),
        *(f"~hydra.sweeper.space.typed_graph.{name}" for name in ("seeds", "hops", "decay")),
        "+hydra.sweeper.space.typed_graph.prune=[false,true]",
    )
    assert done.status == 0, done.err
    found = plan_at(done.directory)
    arm = found["tuning"]["arms"][0]
    assert arm["chosen"] == {"prune": True}
    assert arm["distinct"] == 2 < len(arm["tried"])
    assert len(found["jobs"]) == 2, "the tuned arm is the pruned one"
    assert cli.main(["verify", "runs/same"]) == 0


def _check_what_is_tampered_with(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every change of what the plan says of the trials is found."""
    plan = plan_at(path)
    number, arm = next((i, a) for i, a in enumerate(plan["tuning"]["arms"]) if a["space"])
    other = next(i for i, t in enumerate(arm["tried"]) if t["settings"] != arm["chosen"])
    best = next(t for t in arm["tried"] if t["settings"] == arm["chosen"])

    def tells(tampered: dict[str, Any]) -> str:
        (path / "sweep_plan.json").write_text(json.dumps(tampered), encoding="utf-8")
        capsys.readouterr()
        assert cli.main(["verify", str(path)]) == 1
        return next(line for line in capsys.readouterr().out.splitlines() if ": ok: " not in line)

    def told(**changed: object) -> str:
        arms = list(plan["tuning"]["arms"])
        arms[number] = {**arm, **changed}
        return tells({**plan, "tuning": {**plan["tuning"], "arms": arms}})

    def with_trial(**changed: object) -> str:
        tried = list(arm["tried"])
        tried[other] = {**tried[other], **changed}
        return told(tried=tried)

    named = f"{path / 'sweep_plan.json'}: {arm['arm']}: "
    settings = arm["tried"][other]["settings"]
    assert with_trial(value=2.0).startswith(f"{named}trial {other + 1} gave another value")
    assert with_trial(settings={"b": 0.123}).startswith(f"{named}trial {other + 1} was not run")
    assert with_trial(directory=plan["jobs"][number]["name"]).startswith(
        f"{named}trial {other + 1} was"
    )
    assert with_trial(directory=best["directory"]).startswith(f"{named}trial {other + 1} ")
    assert told(chosen=settings).startswith(f"{named}what was chosen is not")
    assert told(tried=arm["tried"][:2]).startswith(f"{named}2 trials of 3")
    assert told(tried=None).endswith("not what a tuned sweep writes (TypeError)")
    for key, value in (
        ("overrides", [*arm["overrides"], "seed=8"]), ("budget", "other"), ("distinct", 2),
        ("n_cases", 99), ("calls", 99), ("cost_usd", 9.5),
    ):  # fmt: skip
        assert told(**{key: value}) == f"{named}{key} is not that of its runs"
    assert told(arm="other") == f"{named}arm is not that of its runs"
    ended = f"{path / 'sweep_plan.json'}: not the plan that the sweep ended with"
    assert told(space={}) == ended
    assert told(space={**arm["space"], "k1": [0, 9]}) == ended
    if "tuned" in arm:
        assert told(tuned="other") == ended
    for tuning in (None, {**plan["tuning"], "done": False}):
        tampered = {k: v for k, v in {**plan, "tuning": tuning}.items() if v is not None}
        assert tells(tampered) == ended
        sweep_json = (path / "sweep.json").read_text(encoding="utf-8")
        (path / "sweep.json").write_text(re.sub(r',\n  "plan": "[^"]*"', "", sweep_json))
        assert tells(tampered).endswith(": extra"), "the trials, of which nothing is told"
        (path / "sweep.json").write_text(sweep_json, encoding="utf-8")
    (path / "sweep_plan.json").write_text(json.dumps(plan), encoding="utf-8")
    assert cli.main(["verify", str(path)]) == 0


def _check_halves(path: Path) -> None:
    """Trials have the cases of the one half, and the comparison has those of the other."""
    with composer():
        domain = open_domain(compose_plan(["domain=loan"]))
    tuning, comparison = (
        {case.id for case in half} for half in halves(list(domain.cases(12, 7)), 7)
    )
    plan = plan_at(path)
    compared = {job["name"] for job in plan["jobs"]}
    tried = {t["directory"] for arm in plan["tuning"]["arms"] for t in arm.get("tried", ())}
    assert {run.parent.name for run in path.glob("*/journal.jsonl")} == compared | tried
    for name in compared | tried:
        cases = {row.case_id for row in read_run(path / name).rows}
        assert cases == (comparison if name in compared else tuning)
    assert compared.isdisjoint(tried)


def _check_what_is_told(path: Path, printed: str) -> None:
    plan = plan_at(path)
    tuning = plan["tuning"]
    assert tuning["objective"] == "surface_ceiling", "the first that needs no answer"
    arms = {arm["arm"]: arm for arm in tuning["arms"]}
    assert arms.keys() == {"bm25", "none", "typed_graph"}
    assert "tried" not in arms["none"]
    for name in ("bm25", "typed_graph"):
        arm = arms[name]
        assert len(arm["tried"]) == 3, "as many for every arm"
        assert arm["tried"][0]["settings"] == {}
        for trial in arm["tried"]:
            measured = read_json(path / trial["directory"] / "summary.json")["axes"]
            assert trial["value"] == measured["surface_ceiling"]["mean"]
        best = max(trial["value"] for trial in arm["tried"])
        chosen = next(t["settings"] for t in arm["tried"] if t["value"] == best)
        assert arm["chosen"] == chosen
        assert ("tuned" in arm) is bool(chosen)
    labels = [load_state(path / job["name"]).started["config"]["labels"]["arch"]
              for job in plan["jobs"]]  # fmt: skip
    assert labels == [*arms, *(arm["tuned"] for arm in arms.values() if "tuned" in arm)]
    write_report(path)
    page = (path / "report.md").read_text(encoding="utf-8")
    for text in (printed, page):
        assert "Each arm below had 3 trials" in " ".join(text.split())
        assert "none of their settings were searched: none" in " ".join(text.split())
    table = [[cell.strip() for cell in line.strip("| ").split("|")] for line in page.splitlines()]
    for name in ("bm25", "typed_graph"):
        (row,) = (cells for cells in table if len(cells) == 9 and cells[0] == name)
        tried, chosen = arms[name]["tried"], arms[name]["chosen"]
        values = [trial["value"] for trial in tried]
        assert row[3].split()[0] == "3"
        assert row[6:8] == [f"{values[0]:.3f}", f"{max(values):.3f}"]
        assert row[8] == (", ".join(f"{k}={v}" for k, v in chosen.items()) or "as it is")
        for searched in arms[name]["space"]:
            assert searched in row[2]


def test_an_untuned_sweep_and_one_that_has_not_ended_have_no_section() -> None:
    assert not list(tuning_blocks({"jobs": []}))
    assert not list(tuning_blocks({"tuning": {"done": False}}))


@pytest.mark.parametrize(
    ("given", "cases", "columns", "said"),
    [
        ([["seed=7"], ["seed=7"]], [12, 12], [], "on 12 cases that"),
        ([["seed=1"], ["seed=2"]], [12, 12], [("seed", ["1", "2"])], "on 12 cases that"),
        (
            [["seed=1", "+model.name=a", "arch.k1=1"], ["seed=1", "arch.k1=2"]],
            [11, 13],
            [("model.name", ["a", NOTHING]), ("cases of a trial", ["11", "13"])],
            "on 11 to 13 cases that",
        ),
    ],
)
def test_what_differs_beside_arm_and_budget_is_a_column(
    given: list[list[str]], cases: list[int], columns: list[tuple[str, list[str]]], said: str
) -> None:
    arm = {
        "arm": "bm25", "budget": "loose", "space": {"k1": [0, 4]}, "chosen": {}, "distinct": 1,
        "tried": [{"settings": {}, "value": 0.5}], "calls": 0, "cost_usd": 0,
    }  # fmt: skip
    arms = [{**arm, "overrides": o, "n_cases": n} for o, n in zip(given, cases, strict=True)]
    tuning = {"trials": 1, "objective": "frp", "higher_is_better": True, "done": True, "arms": arms}
    _, text, table = tuning_blocks({"tuning": tuning})
    assert isinstance(text, Text)
    assert said in text.text
    assert isinstance(table, Table)
    assert list(table.columns[2:-7]) == [name for name, _ in columns]
    for i, (_, values) in enumerate(columns, 2):
        assert [row[i] for row in table.rows] == values
    assert {len(row) for row in table.rows} == {len(table.columns)}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["hydra.sweeper.trials=1"], "hydra.sweeper.trials: 1 given, at least 2 expected"),
        (["+hydra.sweeper.space.bm26.k1=[0,1]"], "no arm 'bm26'; did you mean 'bm25'?"),
        pytest.param(
            ["+hydra.sweeper.space.bm25.kl=[0,1]"],
            "bm25.kl: no such setting; did you mean 'k1'?",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ["hydra.sweeper.objective=recal"],
            "hydra.sweeper.objective: 'recal'; did you mean",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ["arch=none,full_context"],
            "nothing to search of full_context, none",
            marks=pytest.mark.slow,
        ),
        (["part=tuning"], "part: a tuned sweep divides the cases itself; leave it out"),
        (["dry_run=true"], "dry_run: not of a tuned sweep"),
        pytest.param(
            ["n_cases=1"],
            "part: 1 case in one history or cluster",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_mistakes_are_told_before_anything_is_written(
    given: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told in run(capsys, *TUNE, *HOTPOT, *given).mistake
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("given", [["arch=bm25"], ["-m", "arch=bm25,none"]])
def test_a_tuned_sweep_is_not_estimated_as_its_comparison_alone(
    given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    told = "estimate: not of a tuned sweep; estimate its arms without +experiment=tune"
    assert framework(capsys, "estimate", TUNE[0], *HOTPOT, *given).mistake == told


def test_without_optuna_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "optuna", None)
    mistake = run(capsys, *TUNE, *HOTPOT).mistake
    assert mistake.endswith("optuna is not installed; pip install 'decisionbench[tune]'")
    assert not list(tmp_path.iterdir())
