"""The gate in runs and sweeps: the baseline is run once, the verdict becomes the exit status."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from framework.config import load_plan
from framework.pipeline.path import Pipeline
from framework.records import Case
from framework.store.directory import SWEEP
from framework.store.state import load_state
from tests.launching import HOTPOT, LOAN, everything_in, framework, read_json, run

ROOT = Path(__file__).resolve().parents[3]
GATED = (*HOTPOT, "gate.axes=[mrr,both_facts]")
"""Six cases: too few to pass by a margin of .05, whatever is compared."""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many rows of each arm were measured."""
    counted: Counter[str] = Counter()
    original = Pipeline._run

    async def counting(self: Pipeline, job, answer, k):  # type: ignore[no-untyped-def]
        counted[self.arm] += 1
        return await original(self, job, answer, k)

    monkeypatch.setattr(Pipeline, "_run", counting)
    return counted


def gate_of(directory: Path) -> dict[str, object]:
    gate: dict[str, object] = read_json(directory / "summary.json")["gate"]
    return gate


def test_gates_that_start_at_once_measure_their_baseline_once(place: Path) -> None:
    words = (*LOAN, "n_cases=40", "budget=loose", "gate.baseline=bm25", "gate.axes=[eda]")
    started = [
        subprocess.Popen(
            [sys.executable, str(ROOT / "run.py"), *words, f"arch={arm}", f"run_name={arm}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=place,
        )
        for arm in ("newest_first", "oldest_first")
    ]  # fmt: skip
    said = [process.communicate(timeout=120)[1] for process in started]
    assert {process.returncode for process in started} <= {0, 3}, said
    names = sorted(path.name for path in (place / "runs").iterdir())
    assert len(names) == 4, names  # the two, their baseline and the floor; nothing hidden
    assert names[-2:] == ["newest_first", "oldest_first"]
    assert sum("-bm25-" in name for name in names) == 1


def test_without_a_baseline_nothing_is_judged(capsys: pytest.CaptureFixture[str]) -> None:
    done = run(capsys, *HOTPOT, "arch=none")
    assert done.status == 0
    assert gate_of(done.directory)["passed"] is None
    assert "gate" not in done.out + done.err


def test_a_run_that_is_its_own_baseline_is_refused_before_it_begins(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    given = (*GATED, "arch=bm25", "gate.baseline=bm25")
    for more in ((), ("dry_run=true",)):
        assert run(capsys, *given, *more).mistake == (
            "gate.baseline: this run is bm25 itself, so there is nothing to judge; another arch or "
            "a run directory expected"
        )
    assert not list(place.iterdir())


@pytest.mark.slow
def test_a_gate_that_fails_is_status_3(
    capsys: pytest.CaptureFixture[str], measured: Counter[str], place: Path
) -> None:
    done = run(capsys, *GATED, "arch=none", "gate.baseline=bm25", "hydra.run.dir=r/mine")
    assert done.status == 3
    assert measured == {"bm25": 6, "none": 6}, "arch=none is its own floor"
    assert "gate noninferiority for none tight: FAILED" in done.out
    (said,) = done.err.splitlines()
    assert said.startswith("gate noninferiority for none tight: FAILED. mrr: ")
    assert "; compared with bm25" in said
    gate = gate_of(place / "r/mine")
    assert gate["passed"] is False
    findings = {f["axis"]: f for f in gate["findings"]}  # type: ignore[attr-defined]
    assert findings.keys() == {"mrr", "both_facts"}
    assert findings["mrr"]["mean"] == 0.0
    assert findings["mrr"]["baseline_mean"] == 1.0
    assert findings["mrr"]["sensitivity"] != "not checked"
    beside = [p for p in (place / "r").iterdir() if p.name != "mine"]
    assert [load_plan(p).label("arch") for p in beside] == ["bm25"]
    assert gate_of(beside[0])["passed"] is None
    head = read_json(beside[0] / "manifest.json")["head_hash"]
    against = gate["against"]
    assert isinstance(against, dict)
    assert against.pop(beside[0].name) == head
    assert not against, "the run itself, its own floor, is not named"


@pytest.mark.slow
def test_a_run_of_an_arm_with_another_embedder_serves_as_baseline(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(capsys, *HOTPOT, "arch=bm25", "hydra.run.dir=r/theirs")
    given = (*GATED, "arch=dense", "embedder.dimension=64", "gate.baseline=r/theirs")
    done = run(capsys, *given, "hydra.run.dir=r/mine")
    assert done.status in (0, 3), done.err
    gate = gate_of(done.directory)
    assert gate["passed"] is not None
    assert load_plan(done.directory).label("arch") == "dense(embedder=hashing(dimension=64))"


@pytest.mark.slow
def test_a_baseline_beside_the_run_is_used_again(
    capsys: pytest.CaptureFixture[str], measured: Counter[str]
) -> None:
    run(capsys, *GATED, "arch=last_mention", "gate.baseline=bm25")
    assert measured == {"bm25": 6, "none": 6, "last_mention": 6}
    run(capsys, *GATED, "arch=retr_only", "gate.baseline=bm25")
    assert measured == {"bm25": 6, "none": 6, "last_mention": 6, "retr_only": 6}
    run(capsys, *GATED, "arch=retr_only", "gate.baseline=bm25", "seed=8", "run_name=other")
    assert measured["bm25"] == 12, "another seed is another baseline"


@pytest.mark.slow
def test_a_run_made_for_itself_serves_as_baseline(
    capsys: pytest.CaptureFixture[str], measured: Counter[str]
) -> None:
    run(capsys, *HOTPOT, "arch=bm25", "run_name=earlier")
    run(capsys, *HOTPOT, "arch=none", "run_name=floor")
    run(capsys, *GATED, "arch=last_mention", "gate.baseline=bm25")
    assert measured == {"bm25": 6, "none": 6, "last_mention": 6}


def _made_by_other_code(run_path: Path, *keys: str) -> None:
    """Change one digest of a run's manifest."""
    held = read_json(run_path / "manifest.json")
    within = held
    for key in keys[:-1]:
        within = within[key]
    within[keys[-1]] = "sha256:" + "0" * 64
    (run_path / "manifest.json").write_text(json.dumps(held))


@pytest.mark.slow
def test_a_baseline_made_by_other_code_is_not_used(
    capsys: pytest.CaptureFixture[str], measured: Counter[str], place: Path
) -> None:
    run(capsys, *HOTPOT, "arch=bm25", "run_name=earlier")
    _made_by_other_code(place / "runs/earlier", "plugins", "arch", "code")
    (place / "runs/rubbish").mkdir()
    (place / "runs/rubbish/manifest.json").write_text("[")
    run(capsys, *GATED, "arch=none", "gate.baseline=bm25")
    assert measured["bm25"] == 12


def test_a_baseline_made_by_other_code_of_its_package_is_not_used(
    capsys: pytest.CaptureFixture[str], measured: Counter[str], place: Path
) -> None:
    """BM25's index, or an axis, is in no file of a plugin that the manifest names."""
    run(capsys, *HOTPOT, "arch=bm25", "run_name=earlier")
    _made_by_other_code(place / "runs/earlier", "packages", "plugins")
    run(capsys, *GATED, "arch=none", "gate.baseline=bm25")
    assert measured["bm25"] == 12


@pytest.mark.slow
def test_an_unfinished_baseline_is_gone_on_with(
    capsys: pytest.CaptureFixture[str], measured: Counter[str], place: Path
) -> None:
    given = (*GATED, "arch=none", "gate.baseline=bm25")
    run(capsys, *given, "hydra.run.dir=r/one")
    (baseline,) = (p for p in (place / "r").iterdir() if p.name != "one")
    lines = (baseline / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (baseline / "journal.jsonl").write_bytes(b"".join(lines[:4]))
    run(capsys, *given, "hydra.run.dir=r/two")
    assert measured["bm25"] == 6 + 3
    assert len(list((place / "r").iterdir())) == 3
    assert load_state(baseline).finished is not None


def test_the_baseline_itself_is_not_judged_in_a_sweep(
    capsys: pytest.CaptureFixture[str], measured: Counter[str]
) -> None:
    sweep = ("hydra/launcher=basic", "hydra.sweep.dir=s")
    assert run(capsys, "-m", *GATED, "arch=bm25", "gate.baseline=bm25", *sweep).status == 0
    assert measured == {"bm25": 6}
    (job,) = Path("s").glob("*/summary.json")
    assert gate_of(job.parent)["passed"] is None


@pytest.mark.slow
def test_an_arm_with_other_settings_is_judged_against_its_option(
    capsys: pytest.CaptureFixture[str], measured: Counter[str]
) -> None:
    done = run(capsys, *GATED, "arch=bm25", "arch.k1=9", "gate.baseline=bm25")
    assert gate_of(done.directory)["passed"] is not None
    assert measured == {"bm25": 6, "none": 6, "bm25(k1=9)": 6}


@pytest.mark.slow
def test_a_sweep_judges_each_arm_against_one_run_of_the_baseline(
    capsys: pytest.CaptureFixture[str], measured: Counter[str], place: Path
) -> None:
    arms = "arch=last_mention,none,retr_only"
    done = run(capsys, "-m", *GATED, arms, "gate.baseline=bm25", "hydra.sweep.dir=s")
    assert done.status == 3
    assert measured == {"bm25": 6, "none": 6, "last_mention": 6, "retr_only": 6}
    jobs = read_json(place / "s/sweep.json")["jobs"]
    assert [job["run"]["arch"] for job in jobs] == ["last_mention", "none", "retr_only"]
    assert all(job["gate"]["passed"] is not None for job in jobs)


@pytest.mark.slow
def test_a_baseline_among_the_arms_is_run_once_and_compared_with(
    capsys: pytest.CaptureFixture[str], measured: Counter[str], place: Path
) -> None:
    done = run(
        capsys,
        "-m",
        *GATED,
        "arch=last_mention,none,bm25",
        "gate.baseline=bm25",
        "hydra.sweep.dir=s",
    )
    assert done.status == 3
    assert measured == {"bm25": 6, "none": 6, "last_mention": 6}
    assert len(list((place / "s").glob("*/journal.jsonl"))) == 3
    summary = read_json(place / "s/sweep.json")
    assert {row["arm_b"] for row in summary["comparisons"]} == {"bm25"}
    assert {job["run"]["arch"]: job["gate"]["passed"] for job in summary["jobs"]} == {
        "last_mention": False,
        "none": False,
        "bm25": None,
    }
    before = everything_in(place)
    again = run(capsys, "resume=s")
    assert (again.status, measured.total()) == (3, 18)
    assert everything_in(place) == before


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["hydra.launcher.workers=1", "hydra.launcher.workers=2"])
def test_baselines_that_are_finished_are_not_run_again_when_a_sweep_goes_on(
    capsys: pytest.CaptureFixture[str], place: Path, launcher: str
) -> None:
    given = ("-m", *GATED, "arch=bm25,last_mention,none", "gate.baseline=bm25")
    assert run(capsys, *given, "hydra.sweep.dir=s").status == 3
    before, verdicts = everything_in(place / "s"), verdicts_in(place / "s")
    (lost,) = (place / "s").glob("*last_mention*")
    shutil.rmtree(lost)
    assert run(capsys, "resume=s", launcher).status == 3
    assert everything_in(place / "s").keys() == before.keys()
    assert verdicts_in(place / "s") == verdicts


def verdicts_in(sweep: Path) -> dict[str, object]:
    """What the gate said of each job, and its reason."""
    jobs = read_json(sweep / "sweep.json")["jobs"]
    return {job["run"]["arch"]: (job["gate"]["passed"], job["gate"]["reason"]) for job in jobs}


@pytest.mark.slow
def test_a_run_directory_is_a_baseline(
    capsys: pytest.CaptureFixture[str], measured: Counter[str], place: Path
) -> None:
    run(capsys, *HOTPOT, "arch=bm25", "hydra.run.dir=kept/base")
    done = run(capsys, *GATED, "arch=none", "gate.baseline=kept/base", "hydra.run.dir=r/one")
    assert done.status == 3
    assert measured == {"bm25": 6, "none": 6}
    assert [p.name for p in (place / "r").iterdir()] == ["one"]
    assert "arch=none was not checked" in str(gate_of(place / "r/one")["reason"])


@pytest.mark.slow
def test_enough_equal_cases_pass(capsys: pytest.CaptureFixture[str]) -> None:
    """72 cases without a discordant pair are what a margin of .05 needs; 71 are too few."""
    given = (
        *LOAN,
        "protocol=retrieve",
        "gate.baseline=full_context",
        "gate.axes=[surface_ceiling]",
        "arch=oracle",
        "budget=loose",
    )
    enough = run(capsys, *given, "n_cases=72")
    assert enough.status == 0, enough.out
    assert "gate noninferiority for oracle loose: passed" in enough.out
    few = run(capsys, *given, "n_cases=71")
    assert few.status == 3


@pytest.mark.slow
def test_superiority_and_the_open_gate(capsys: pytest.CaptureFixture[str]) -> None:
    worse = run(capsys, *GATED, "gate=superiority", "gate.baseline=bm25", "arch=none")
    assert worse.status == 3
    better = run(
        capsys, *GATED, "gate=superiority", "gate.baseline=none", "gate.axes=[mrr]", "arch=bm25"
    )
    assert better.status == 0
    assert gate_of(better.directory)["passed"] is True
    open_ = run(capsys, *GATED, "gate=open", "gate.baseline=bm25", "arch=none", "run_name=open")
    assert open_.status == 0


@pytest.mark.slow
def test_a_baseline_that_stops_fails_the_job_and_not_the_sweep(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, place: Path
) -> None:
    original = Pipeline._measure

    async def failing(self: Pipeline, row: Any, job: Any, *rest: Any) -> Any:
        case: Case = job.case
        if self.arm == "bm25":
            raise RuntimeError(f"{case.id} told to fail")
        return await original(self, row, job, *rest)

    monkeypatch.setattr(Pipeline, "_measure", failing)
    done = run(capsys, "-m", *GATED, "gate.baseline=bm25", "arch=none,bm25", "hydra.sweep.dir=s")
    assert done.status == 1
    assert done.err.count("stopped: ") >= 2
    assert done.out.splitlines()[-1] == "sweep: s"
    monkeypatch.setattr(Pipeline, "_measure", original)
    again = run(capsys, "resume=s", "max_errors=100")
    assert again.status == 3
    assert {job["run"]["arch"] for job in read_json(place / "s/sweep.json")["jobs"]} == {
        "none",
        "bm25",
    }


@pytest.mark.slow
def test_a_sweep_with_baselines_beside_its_jobs_is_sound(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    given = ("-m", *GATED, "gate.baseline=bm25", "arch=random_context", "hydra.sweep.dir=s")
    assert run(capsys, *given).status == 3
    assert len(list((place / "s").glob("*/journal.jsonl"))) == 3
    checked = framework(capsys, "verify", "s")
    assert checked.status == 0, checked.out
    assert checked.out.count(" events, head ") == 3
    assert checked.out.splitlines()[-1].startswith("s: ok: 3 runs, head ")
    run(capsys, *HOTPOT, "arch=bm25", "hydra.run.dir=s/bm25")
    checked = framework(capsys, "verify", "s")
    assert (checked.status, checked.out.splitlines()[-1]) == (1, "s/bm25: extra")


@pytest.mark.slow
def test_a_margin_is_named_in_a_run_and_old_runs_are_resumed_by_the_new_name(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    given = (*GATED, "arch=none", "gate.baseline=bm25", "max_errors=5")
    run(capsys, *given, "gate.threshold=-0.3", "hydra.run.dir=r/old")
    run(capsys, *given, "gate.margin=0.3", "hydra.run.dir=r/new")
    old, new = (read_json(place / "r" / name / "manifest.json") for name in ("old", "new"))
    assert old["identity"] == new["identity"]
    told = run(capsys, *GATED, "gate.margin=0").mistake
    assert "gate.margin: 0.0 given, a number above 0 expected" in told


@pytest.mark.parametrize("given", ["gate=superiority", "gate.margin=0.05"])
def test_a_gate_that_is_asked_for_needs_a_baseline(
    given: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Else a release passes that nobody judged."""
    done = run(capsys, *HOTPOT, "arch=bm25", given, f"hydra.run.dir={tmp_path / 'r'}")
    assert done.status == 2
    assert f"{given.split('=')[0]} is given and gate.baseline is not" in done.mistake
    assert not (tmp_path / "r").exists()


def test_a_sweep_is_no_baseline(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    sweep = tmp_path / "s"
    run(capsys, "-m", *HOTPOT, "arch=none,bm25", f"hydra.sweep.dir={sweep}")
    done = run(capsys, *HOTPOT, "arch=bm25", f"gate.baseline={sweep}")
    assert done.mistake == (
        f"gate.baseline: {sweep} is a sweep; give the directory of one of its runs"
    )


def test_where_no_model_took_part_none_is_spoken_of(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = (
        "arch=none,bm25",
        "protocol=retrieve",
        "n_cases=3",
        f"hydra.sweep.dir={tmp_path / 's'}",
    )
    done = run(capsys, "-m", *LOAN, *words)
    assert "every figure is model-free" in done.out
    assert "Rule-based" not in done.out
    assert "would be right in at most" not in done.out


def test_a_gates_baseline_that_is_no_arm_of_the_sweep_is_not_the_sweeps(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = run(capsys, "-m", *GATED, "arch=none,newest_first", "gate.baseline=bm25")
    sweep = read_json(done.directory / SWEEP)
    assert sweep["baseline"] is None
    pairs = {frozenset((row["arm_a"], row["arm_b"])) for row in sweep["comparisons"]}
    assert pairs == {frozenset(("none", "newest_first"))}
    beside = run(capsys, "-m", *GATED, "arch=none,bm25", "gate.baseline=bm25", "n_cases=5")
    assert read_json(beside.directory / SWEEP)["baseline"] == "bm25"
