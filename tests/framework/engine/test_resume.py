"""Resuming runs and sweeps that were cut off, at any point, with operational overrides."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from framework.cli.ending import Ending
from framework.config import Plan
from framework.engine import sweep as sweep_module
from framework.engine import work as work_module
from framework.engine.manifest import manifest
from framework.engine.sweep import job_directories
from framework.pipeline.path import Pipeline
from framework.records import Row
from framework.rows import measured
from framework.store import JOURNAL, Journal, read, verify_run
from framework.store.atomic import held
from framework.store.directory import ANSWERS, RunDirectory
from framework.store.state import load_state
from framework.text.canonical import digest
from tests.launching import HOTPOT, LOAN, everything_in, framework, read_json, run
from tests.measuring import measured_digest


class Killed(BaseException):
    """Stands for a process that is gone: nothing catches it."""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def kill_after(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    """Die once so many rows were written, in whatever job they are."""
    add, written = RunDirectory.add, iter(range(1, 10_000))

    def dying(self: RunDirectory, row: Row, record: Mapping[str, Any]) -> None:
        add(self, row, record)
        if next(written) == rows:
            raise Killed

    monkeypatch.setattr(RunDirectory, "add", dying)


def start_and_die(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, rows: int, *argv: str
) -> None:
    with monkeypatch.context() as patch:
        kill_after(patch, rows)
        with pytest.raises(Killed):
            run(capsys, *argv)


def same_as(whole: Path, other: Path) -> None:
    """The measured rows, answers and numbers of two runs are the same, and both are sound."""
    for directory in (whole, other):
        assert verify_run(directory).ok
    rows = [load_state(d).rows for d in (whole, other)]
    assert measured(rows[0]) == measured(rows[1])
    answers = [sorted((d / ANSWERS).read_bytes().splitlines()) for d in (whole, other)]
    assert answers[0] == answers[1]
    summaries = [read_json(d / "summary.json") for d in (whole, other)]
    for summary in summaries:
        for phase in summary["ledger"].values():
            phase.pop("seconds", None)
    assert summaries[0] == summaries[1]


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 3, 6])
def test_a_run_cut_off_ends_as_an_undisturbed_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    given = (*HOTPOT, "arch=random_context", "arch.trials=2", "repeats=2", "n_cases=2")
    run(capsys, *given, "hydra.run.dir=whole")
    start_and_die(capsys, monkeypatch, rows, *given, "hydra.run.dir=cut")
    assert len(load_state(Path("cut")).rows) == rows
    done = run(capsys, "resume=cut")
    assert (done.status, done.directory, done.err) == (0, Path("cut"), "")
    same_as(Path("whole"), Path("cut"))


@pytest.mark.slow
def test_a_loan_run_cut_off_twice(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = (*LOAN, "arch=typed_graph", "reader=verified", "n_cases=6")
    run(capsys, *given, "hydra.run.dir=whole")
    start_and_die(capsys, monkeypatch, 2, *given, "hydra.run.dir=cut")
    start_and_die(capsys, monkeypatch, 3, "resume=cut")
    assert run(capsys, "resume=cut").status == 0
    same_as(Path("whole"), Path("cut"))
    resumed = [e for e in read(Path("cut/journal.jsonl")) if e.type == "run.resumed"]
    assert [e.payload for e in resumed] == [
        {"rows": 2, "changed": []},
        {"rows": 5, "changed": []},
    ]


@pytest.mark.slow
def test_a_finished_run_is_shown_again_and_left_as_it_is(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    first = run(capsys, *HOTPOT, "arch=bm25", "hydra.run.dir=r")
    before = everything_in(place)
    again = run(capsys, "resume=r")
    assert (again.status, again.out) == (first.status, first.out)
    assert everything_in(place) == before


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 6, 7, 12, 17, 18])
def test_a_sweep_cut_off_ends_as_an_undisturbed_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    """Inside a job, after its last row, and between jobs."""
    given = ("-m", *HOTPOT, "arch=bm25,none,last_mention")
    run(capsys, *given, "hydra.sweep.dir=whole")
    start_and_die(capsys, monkeypatch, rows, *given, "hydra.sweep.dir=cut")
    done = run(capsys, "resume=cut")
    assert (done.status, done.directory) == (0, Path("cut"))
    sweeps_are_the_same(Path("whole"), Path("cut"))


def sweeps_are_the_same(whole: Path, cut: Path) -> None:
    jobs = [job_directories(d) for d in (whole, cut)]
    assert [d.name for d in jobs[0]] == [d.name for d in jobs[1]]
    for a, b in zip(*jobs, strict=True):
        same_as(a, b)
    for name in ("comparison.csv", "sweep.json"):
        texts = [(d / name).read_text() for d in (whole, cut)]
        if name.endswith("json"):
            one, two = map(json.loads, texts)
            for key in ("comparisons", "correlation", "budget_flags", "unfinished"):
                assert one[key] == two[key]
        else:
            assert texts[0] == texts[1]


@pytest.mark.slow
def test_a_sweep_killed_between_jobs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ("-m", *HOTPOT, "arch=bm25,none")
    run(capsys, *given, "hydra.sweep.dir=whole")
    for place, n in (("before", 1), ("between", 2), ("uploading", 1)):
        module: Any = work_module if place != "uploading" else Ending
        name = "run_job" if place != "uploading" else "run_ended"
        with monkeypatch.context() as patch:
            original, calls = getattr(module, name), iter(range(1, 100))

            def dying(*a: Any, _calls=calls, _n=n, _original=original, **k: Any) -> Any:  # type: ignore[no-untyped-def]
                if next(_calls) == _n:
                    raise Killed
                return _original(*a, **k)

            patch.setattr(module, name, dying)
            with pytest.raises(Killed):
                run(capsys, *given, f"hydra.sweep.dir={place}")
        assert run(capsys, f"resume={place}").status == 0
        sweeps_are_the_same(Path("whole"), Path(place))


@pytest.mark.slow
def test_a_sweep_keeps_the_names_that_its_jobs_had(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(capsys, "-m", *HOTPOT, "arch=bm25,none", "hydra.sweep.dir=s").status == 0
    plan = read_json(Path("s/sweep_plan.json"))
    for number, job in enumerate(plan["jobs"]):
        (Path("s") / job["name"]).rename(Path("s") / f"old-{number}")
        job["name"] = f"old-{number}"
    Path("s/sweep_plan.json").write_text(json.dumps(plan), encoding="utf-8")
    shutil.rmtree("s/old-1")
    assert run(capsys, "resume=s").status == 0
    assert sorted(path.name for path in Path("s").iterdir() if path.is_dir()) == ["old-0", "old-1"]
    assert read_json(Path("s/sweep.json"))["unfinished"] == []


def made_older(sweep: Path, **changed: object) -> None:
    """A sweep that was cut off, as a release left it that knew the model by its former name.

    changed : keys of the configuration that the runs were begun with, and are otherwise now.
    """
    plan = read_json(sweep / "sweep_plan.json")
    for job in plan["jobs"]:
        directory = sweep / job["name"]
        job["identity"] = digest(["older", job["name"]])
        job["name"] += "-older"
        if not directory.is_dir():
            continue
        began, *others = list(read(directory / JOURNAL))
        config = {**began.payload["config"], **changed}
        config["model"] = {**config["model"], "plugin": "extractive"}
        (directory / JOURNAL).unlink()
        with Journal.create(directory / JOURNAL) as journal:
            identity = {"identity": job["identity"], "config": config}
            journal.append("run.started", {**began.payload, **identity})
            for event in others:
                journal.append(event.type, dict(event.payload))
        directory.rename(sweep / job["name"])
    (sweep / "sweep_plan.json").write_text(json.dumps(plan), encoding="utf-8")


@pytest.mark.slow
def test_a_sweep_of_an_older_release_goes_on_where_only_names_have_changed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ("-m", *LOAN, "arch=bm25,none", "n_cases=3")
    run(capsys, *given, "hydra.sweep.dir=whole")
    start_and_die(capsys, monkeypatch, 2, *given, "hydra.sweep.dir=cut")
    shutil.copytree("cut", "other")
    made_older(Path("cut"))
    before = load_state(next(Path("cut").glob("*-older")))
    assert len(before.rows) == 2
    done = run(capsys, "resume=cut")
    assert done.status == 0, done.err
    jobs = job_directories(Path("cut"))
    assert [job.name.endswith("-older") for job in jobs] == [True, True]
    assert [job.name.split("-")[1] for job in jobs] == ["bm25", "none"]
    for whole, cut in zip(job_directories(Path("whole")), jobs, strict=True):
        assert measured(load_state(whole).rows) == measured(load_state(cut).rows)
        assert verify_run(cut).ok
    made_older(Path("other"), seed=8)
    assert "has changed" in run(capsys, "resume=other").mistake


@pytest.mark.slow
def test_of_a_sweep_of_an_older_release_something_must_have_been_begun(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    start_and_die(
        capsys, monkeypatch, 1, "-m", *LOAN, "arch=bm25,none", "n_cases=2", "hydra.sweep.dir=cut"
    )
    made_older(Path("cut"))
    shutil.rmtree(next(Path("cut").glob("*-older")))
    assert "has changed" in run(capsys, "resume=cut").mistake


@pytest.mark.slow
def test_a_sweep_killed_while_comparing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ("-m", *HOTPOT, "arch=bm25,none")
    run(capsys, *given, "hydra.sweep.dir=whole")
    with monkeypatch.context() as patch:

        def dying(path: Path, summary: Any) -> None:
            (path / ".sweep.json.999999999.draft").write_text("{")
            raise Killed

        patch.setattr(sweep_module, "write_sweep", dying)
        with pytest.raises(Killed):
            run(capsys, *given, "hydra.sweep.dir=cut")
    assert not (Path("cut") / "sweep.json").exists()
    assert run(capsys, "resume=cut").status == 0
    sweeps_are_the_same(Path("whole"), Path("cut"))
    assert not (Path("cut") / ".sweep.json.999999999.draft").exists()


@pytest.mark.slow
def test_a_job_of_a_sweep_may_be_gone_on_with_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ("-m", *HOTPOT, "arch=bm25,none")
    start_and_die(capsys, monkeypatch, 2, *given, "hydra.sweep.dir=cut")
    (job,) = (p for p in Path("cut").iterdir() if p.is_dir())
    assert run(capsys, f"resume={job}").directory == job
    assert len(job_directories(Path("cut"))) == 1
    assert run(capsys, "resume=cut").status == 0
    assert len(job_directories(Path("cut"))) == 2


@pytest.mark.slow
def test_operational_values_may_change(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = ("max_errors=0.5", "tracking=none", "domain.sha256=''", "arch=bm25")
    run(capsys, *HOTPOT, "arch=bm25", "hydra.run.dir=whole")
    start_and_die(capsys, monkeypatch, 2, *HOTPOT, "arch=bm25", "hydra.run.dir=cut")
    assert run(capsys, "resume=cut", *changes).status == 0
    same_as(Path("whole"), Path("cut"))
    given = ("-m", *HOTPOT, "arch=bm25,none")
    start_and_die(capsys, monkeypatch, 8, *given, "hydra.sweep.dir=many")
    with held(Path("many/sweep_plan.json"), 1, "it"):
        told = run(capsys, "resume=many").mistake
        assert told == "the sweep many has been held for 5 s by a process"
    assert run(capsys, "resume=many", *changes[:3]).status == 0
    assert len(job_directories(Path("many"))) == 2
    assert framework(capsys, "verify", "many").status == 0
    plan = Path("many/sweep_plan.json")
    whole = plan.read_text()
    for less in ('"arch=none"', '"tracking=none"'):  # overrides that the runs had from the first
        plan.write_text(whole.replace(f",\n        {less}", "", 1))
        assert plan.read_text() != whole
        assert framework(capsys, "verify", "many").status == 1, less


@pytest.mark.slow
def test_a_run_stopped_by_too_many_errors_runs_the_failed_cases_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(capsys, *HOTPOT, "arch=bm25", "run_name=whole")
    original = Pipeline._measure

    async def failing(self: Pipeline, row: Any, job: Any, *rest: Any) -> Any:
        if job.case.id in ("fx02", "fx04"):
            raise RuntimeError("the server is away")
        return await original(self, row, job, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(Pipeline, "_measure", failing)
        stopped = run(capsys, *HOTPOT, "arch=bm25", "max_errors=1", "run_name=cut")
        assert stopped.status == 1
        assert "2 cases failed" in stopped.err
        # Failing again they stop it again, and each is there once.
        assert run(capsys, "resume=runs/cut").status == 1
        rows = load_state(Path("runs/cut")).rows
        assert len({row.key for row in rows}) == len(rows)
        assert sum(bool(row.error) for row in rows) == 2
    done = run(capsys, "resume=runs/cut")
    assert done.status == 0, done.err
    events = list(read(Path("runs/cut/journal.jsonl")))
    retried = [e.payload["retried"] for e in events if e.type == "run.resumed"]
    assert [sorted(key[0] for key in keys) for keys in retried] == [["fx02", "fx04"]] * 2
    states = [load_state(Path("runs") / name) for name in ("whole", "cut")]
    assert measured(states[0].rows) == measured(states[1].rows)
    assert verify_run(Path("runs/cut")).ok
    shown = framework(capsys, "show", "runs/cut", "case=fx02")
    assert shown.out.count("case fx02") == 1
    assert "ERROR" not in shown.out
    assert whole.status == 0


@pytest.mark.slow
def test_a_run_that_was_killed_keeps_its_failed_cases(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are what an undisturbed run would have ended with."""
    original = Pipeline._measure

    async def failing(self: Pipeline, row: Any, job: Any, *rest: Any) -> Any:
        if job.case.id == "fx01":
            raise RuntimeError("the server is away")
        return await original(self, row, job, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(Pipeline, "_measure", failing)
        start_and_die(
            capsys, monkeypatch, 4, *HOTPOT, "arch=bm25", "max_errors=2", "hydra.run.dir=cut"
        )
    assert run(capsys, "resume=cut").status == 0
    assert [row.case_id for row in load_state(Path("cut")).rows if row.error] == ["fx01"]


@pytest.mark.slow
def test_an_override_that_gives_what_it_has_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    """`arch.k1=1.5` is the value it has: neither identity nor label would change."""
    run(capsys, *HOTPOT, "arch=bm25", "hydra.run.dir=r")
    assert run(capsys, "resume=r", "arch.k1=1.5").status == 0
    assert "arch.k1=1.4 would change the run" in run(capsys, "resume=r", "arch.k1=1.4").mistake


@pytest.mark.slow
@pytest.mark.parametrize("order", [1, -1])
def test_a_setting_may_be_of_an_option_that_is_given_with_it(
    order: int, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, *HOTPOT, "arch=bm25", "hydra.run.dir=r")
    uri = "tracking.uri=sqlite:///other.db"
    assert "tracking.uri (tracking=none): no such setting" in run(capsys, "resume=r", uri).mistake
    done = run(capsys, "resume=r", *("tracking=mlflow", uri)[::order])
    assert done.status == 0, done.err
    assert json.loads(Path("r/tracking.json").read_text())["complete"] is True
    assert Path("other.db").is_file()
    both = ("arch=newest_first", "arch.k1=1.4")[::order]
    assert "would change the run" in run(capsys, "resume=r", "arch.k1=1.4", "tracking=none").mistake
    assert run(capsys, "resume=r", *both).status == 2


@pytest.mark.slow
def test_code_that_changed_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def of_before(plan: Plan, data: Mapping[str, Any]) -> dict[str, Any]:
        held = manifest(plan, data)
        held["plugins"]["arch"]["code"] = held["framework"] = "sha256:" + "0" * 64
        held["versions"]["numpy"] = "1.0"
        return held

    with monkeypatch.context() as before:
        before.setattr("framework.engine.run.manifest", of_before)
        start_and_die(capsys, monkeypatch, 2, *HOTPOT, "arch=bm25", "hydra.run.dir=cut")
    done = run(capsys, "resume=cut")
    assert done.status == 0
    assert done.err.startswith(
        "cut: changed since it was begun: arch=bm25, framework, numpy 1.0 ->"
    )
    assert done.err.count("\n") == 1
    (resumed,) = (e for e in read(Path("cut/journal.jsonl")) if e.type == "run.resumed")
    assert resumed.payload["changed"][:2] == ["arch=bm25", "framework"]
    assert verify_run(Path("cut")).ok


@pytest.mark.slow
def test_configuration_files_that_changed_are_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, place: Path
) -> None:
    options = place / "mine" / "arch"
    options.mkdir(parents=True)
    text = "plugin: bm25\nk1: 0.4\nb: 0.75\nepsilon: 0.25\ntokenizer: words\n"
    (options / "sharp.yaml").write_text(text)
    given = (*HOTPOT, "--config-dir=mine", "arch=sharp")
    start_and_die(capsys, monkeypatch, 2, *given, "hydra.run.dir=one")
    start_and_die(capsys, monkeypatch, 2, "-m", *given, "hydra.sweep.dir=many")
    (options / "sharp.yaml").write_text(text.replace("0.4", "0.5"))
    before = everything_in(place)
    message = run(capsys, "resume=one").mistake
    assert message == "resume=one: the configuration files have changed"
    assert "the configuration of hotpotqa" in run(capsys, "resume=many").mistake
    assert everything_in(place) == before
    (options / "sharp.yaml").write_text(text)
    assert run(capsys, "resume=one").status == 0
    assert run(capsys, "resume=many").status == 0


@pytest.mark.slow
def test_a_run_moved_elsewhere_is_gone_on_with(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, place: Path
) -> None:
    start_and_die(capsys, monkeypatch, 2, *HOTPOT, "arch=bm25", "hydra.run.dir=cut")
    shutil.move("cut", place / "elsewhere")
    assert run(capsys, "resume=elsewhere").status == 0
    run(capsys, *HOTPOT, "arch=bm25", "hydra.run.dir=whole")
    digests = [measured_digest(load_state(Path(d)).rows) for d in ("whole", "elsewhere")]
    assert digests[0] == digests[1]


@pytest.mark.slow
def test_a_gated_run_cut_off_in_its_baseline(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, place: Path
) -> None:
    """The run itself was not begun: the same command starts it and finds the half baseline."""
    given = (*HOTPOT, "gate.axes=[mrr]", "gate.baseline=bm25", "arch=last_mention")
    start_and_die(capsys, monkeypatch, 2, *given, "hydra.run.dir=r/mine")
    assert not Path("r/mine").exists()
    assert run(capsys, *given, "hydra.run.dir=r/mine").status == 3
    assert len(list((place / "r").iterdir())) == 3
    assert all(verify_run(d).ok for d in (place / "r").iterdir())


def _replaced(path: Path, old: bytes, new: bytes) -> None:
    content = path.read_bytes()
    assert content.count(old) >= 1
    path.write_bytes(content.replace(old, new, 1))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        (ANSWERS, b'"error":""', b'"error":"?"', "answers.jsonl:1: not the record written"),
        (ANSWERS, b'"key":', b'"yek":', "answers.jsonl:1: not the record written"),
        ("config.yaml", b"seed: 7", b"seed: 8", "config.yaml: changed since the run began"),
        ("manifest.json", b'"seed": 7', b'"seed": 8', "manifest.json: changed since the run began"),
    ],
    ids=["longer", "as_long", "config", "manifest"],
)
def test_what_was_edited_in_an_unfinished_run_is_not_sealed(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    old: bytes,
    new: bytes,
    problem: str,
) -> None:
    start_and_die(capsys, monkeypatch, 2, *HOTPOT, "hydra.run.dir=cut")
    _replaced(Path("cut") / name, old, new)
    verified = framework(capsys, "verify", "cut")
    assert (verified.status, verified.out.splitlines()[0]) == (1, problem)
    assert run(capsys, "resume=cut").mistake == f"cut: {problem}"
    _replaced(Path("cut") / name, new, old)
    assert run(capsys, "resume=cut").status == 0
    assert framework(capsys, "verify", "cut").status == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "problem"),
    [("improve.json", "extra"), ("a/b.txt", "extra"), (ANSWERS, "a link")],
)
def test_what_a_stranger_put_into_an_unfinished_run_is_not_sealed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, problem: str
) -> None:
    start_and_die(capsys, monkeypatch, 2, *HOTPOT, "hydra.run.dir=cut")
    file = Path("cut") / name
    file.parent.mkdir(exist_ok=True)
    if problem == "a link":
        file.rename("away")
        file.symlink_to(Path("away").absolute())
    else:
        file.write_text("{}")
    assert run(capsys, "resume=cut").mistake == f"cut: {name}: {problem}"
    file.unlink()
    if problem == "a link":
        Path("away").rename(file)
    assert run(capsys, "resume=cut").status == 0


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (b"{", b'{"seed": 8,', "changed"),
        (b": ", b":  ", "not the text that was written"),
    ],
    ids=["duplicate", "spaces"],
)
def test_a_manifest_is_the_text_that_was_written(
    capsys: pytest.CaptureFixture[str], old: bytes, new: bytes, problem: str
) -> None:
    run(capsys, *HOTPOT, "hydra.run.dir=r")
    _replaced(Path("r/manifest.json"), old, new)
    verified = framework(capsys, "verify", "r")
    assert (verified.status, verified.out) == (1, f"manifest.json: {problem}\n")


@pytest.mark.parametrize("name", ["report.pdf", "report.html.bak", "baseline/x", "figures/a.js"])
def test_only_what_is_named_may_come_after_the_seal(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    run(capsys, *HOTPOT, "hydra.run.dir=r")
    (Path("r") / name).parent.mkdir(exist_ok=True)
    (Path("r") / name).write_text("x")
    verified = framework(capsys, "verify", "r")
    assert (verified.status, verified.out) == (1, f"{name}: extra\n")
