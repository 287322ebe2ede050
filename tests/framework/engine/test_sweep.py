"""Single runs and sweeps through the one command: directories, comparisons, exit statuses."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import pytest

from framework.config import load_plan
from framework.contracts import Tracker
from framework.engine.sweep import job_directories
from framework.errors import TrackingError
from framework.records import Answer
from framework.store import verify_run
from framework.store.state import load_state
from framework.text.canonical import digest_file
from plugins.readers.commit import Commit
from plugins.tracking.none import NoTracking
from tests.launching import HOTPOT, LOAN, QUESTIONS, everything_in, read_json, run
from tests.measuring import measured_digest


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ------------------------------------------------------------------------------------- single runs


def test_a_run_names_its_directory_last(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    done = run(capsys, *HOTPOT, "arch=bm25")
    assert (done.status, done.err) == (0, "")
    assert done.directory.parent == Path("runs")
    assert verify_run(done.directory).ok
    assert [p.name for p in place.iterdir()] == ["runs"]


@pytest.mark.slow
def test_where_a_run_goes(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    given = (*HOTPOT, "arch=bm25", "n_cases=1")
    assert run(capsys, *given, "run_name=mine").directory == Path("runs/mine")
    assert run(capsys, *given, "hydra.run.dir=a/b").directory == Path("a/b")
    assert run(capsys, *given, f"hydra.run.dir={place}/c").directory == place / "c"
    interpolated = run(capsys, *given, "hydra.run.dir='d/${arch.plugin}-${n_cases}'")
    assert interpolated.directory == Path("d/bm25-1")


def test_overridden_settings_are_in_the_arms_name(capsys: pytest.CaptureFixture[str]) -> None:
    done = run(capsys, *HOTPOT, "arch=bm25", "arch.k1=1.2", "n_cases=1")
    assert {row.arm for row in load_state(done.directory).rows} == {"bm25(k1=1.2)"}


@pytest.mark.slow
def test_operational_values_change_no_row_and_no_name(capsys: pytest.CaptureFixture[str]) -> None:
    sha = digest_file(QUESTIONS).removeprefix("sha256:")
    one = run(capsys, *HOTPOT, "arch=bm25", "run_name=one")
    two = run(capsys, *HOTPOT, "arch=bm25", "run_name=two", "max_errors=3", f"domain.sha256={sha}")
    summaries = [read_json(done.directory / "summary.json") for done in (one, two)]
    assert summaries[0]["run"] == summaries[1]["run"]
    rows = [measured_digest(load_state(done.directory).rows) for done in (one, two)]
    assert rows[0] == rows[1]


def test_a_loan_run_has_the_published_axes(capsys: pytest.CaptureFixture[str]) -> None:
    done = run(capsys, *LOAN, "arch=full_context", "n_cases=5")
    assert done.status == 0
    axes = read_json(done.directory / "summary.json")["axes"]
    assert {"frp", "rcs", "eda", "crr", "commit_rate"} <= axes.keys()
    assert axes["surface_ceiling"]["kind"] == "model-free"
    assert axes["eda"]["kind"] == "rule-based"


# ------------------------------------------------------------------------------------------ sweeps


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A finished sweep of three arms at two budgets, and what it printed."""
    import contextlib
    import io

    import run as command

    directory = tmp_path_factory.mktemp("swept") / "sweep"
    out = io.StringIO()
    given = ("arch=bm25,none,last_mention", "budget=loose,tight", f"hydra.sweep.dir={directory}")
    with contextlib.redirect_stdout(out):
        assert command.main(["-m", *HOTPOT, *given]) == 0
    return directory, out.getvalue()


@pytest.mark.slow
def test_a_sweep_names_its_directory_last(swept: tuple[Path, str]) -> None:
    directory, out = swept
    assert out.splitlines()[-1] == f"sweep: {directory}"
    assert {p.name for p in directory.iterdir() if p.is_file()} == {
        "sweep.json",
        "comparison.csv",
        "sweep_plan.json",
    }


def test_jobs_are_directories_named_by_their_identity(swept: tuple[Path, str]) -> None:
    directory, _ = swept
    jobs = read_json(directory / "sweep_plan.json")["jobs"]
    assert [d.name for d in job_directories(directory)] == [job["name"] for job in jobs]
    assert len(jobs) == 6
    for job in jobs:
        plan = load_plan(directory / job["name"])
        assert job["name"].endswith(plan.digest[7:19])
        assert job["identity"] == plan.digest
        assert verify_run(directory / job["name"]).ok


def test_a_sweep_compares_every_pair_on_every_axis_at_every_budget(
    swept: tuple[Path, str],
) -> None:
    directory, _ = swept
    summary = read_json(directory / "sweep.json")
    (first, *_) = summary["jobs"]
    headline = [axis for axis in first["headline"] if axis in first["axes"]]
    assert len(headline) > 3, "what needs an answer has none here"
    rows = summary["comparisons"]
    pairs = {("bm25", "last_mention"), ("bm25", "none"), ("last_mention", "none")}
    found = {(r["budget"], r["axis"], r["arm_a"], r["arm_b"]) for r in rows}
    expected = {(b, x, *pair) for b in ("loose", "tight") for x in headline for pair in pairs}
    assert found == expected
    assert len(rows) == len(expected)
    for row in rows:
        assert row["n"] == 6
        assert row["delta"] == pytest.approx(row["mean_a"] - row["mean_b"])
        assert row["smallest_p"] == pytest.approx(2 / 2**6)
        assert row["holm_p"] >= row["permutation_p"] >= row["smallest_p"]
        assert row["ci_low"] <= row["delta"] <= row["ci_high"]
        assert 0 < row["mcnemar_p"] <= 1
        assert {"seed", "n_cases", "repeats", "domain"} <= row.keys()


def test_a_comparison_is_what_its_rows_say(swept: tuple[Path, str]) -> None:
    """Delta, Cohen's h and the exact permutation p, computed again from the rows of two runs."""
    directory, _ = swept
    rows = {d.name.split("-")[1]: load_state(d).rows for d in tight(directory)}
    summary = read_json(directory / "sweep.json")
    found = next(
        r
        for r in summary["comparisons"]
        if (r["budget"], r["axis"], r["arm_a"], r["arm_b"])
        == ("tight", "both_facts", "bm25", "none")
    )
    a = {row.case_id: row.axes["both_facts"] for row in rows["bm25"]}
    b = {row.case_id: row.axes["both_facts"] for row in rows["none"]}
    differences = [float(a[case] or 0) - float(b[case] or 0) for case in sorted(a)]
    assert found["delta"] == pytest.approx(sum(differences) / 6)
    extreme = sum(
        abs(sum(d * (1 if signs >> i & 1 else -1) for i, d in enumerate(differences)))
        >= abs(sum(differences)) - 1e-12
        for signs in range(2**6)
    )
    assert found["permutation_p"] == pytest.approx(extreme / 2**6)
    share_a, share_b = (sum(float(v or 0) for v in x.values()) / 6 for x in (a, b))
    h = 2 * math.asin(math.sqrt(share_a)) - 2 * math.asin(math.sqrt(share_b))
    assert found["cohens_h"] == pytest.approx(h)


def tight(directory: Path) -> list[Path]:
    return [d for d in job_directories(directory) if "-tight-" in d.name]


def test_the_csv_holds_what_the_json_does(swept: tuple[Path, str]) -> None:
    directory, _ = swept
    rows = read_json(directory / "sweep.json")["comparisons"]
    with (directory / "comparison.csv").open(newline="") as file:
        read = list(csv.DictReader(file))
    assert len(read) == len(rows)
    for line, row in zip(read, rows, strict=True):
        assert line == {k: "" if v is None else str(v) for k, v in row.items()}


@pytest.mark.slow
def test_the_order_of_jobs_does_not_matter(
    capsys: pytest.CaptureFixture[str], swept: tuple[Path, str]
) -> None:
    directory, _ = swept
    again = run(capsys, "-m", *HOTPOT, "budget=tight,loose", "arch=none,last_mention,bm25")
    summaries = [read_json(d / "sweep.json") for d in (directory, again.directory)]

    def key(row: dict[str, Any]) -> tuple[str, ...]:
        return row["budget"], row["axis"], row["arm_a"], row["arm_b"]

    one, two = (sorted(s["comparisons"], key=key) for s in summaries)
    assert one == two
    assert summaries[0]["correlation"] == summaries[1]["correlation"]


@pytest.mark.slow
def test_a_part_that_an_arm_does_not_use_makes_no_job_of_its_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = ("-m", *HOTPOT, "n_cases=1", "gate=open", "embedder.dimension=8,16")
    done = run(capsys, *given, "arch=bm25,dense")
    arms = [load_plan(path).label("arch") for path in job_directories(done.directory)]
    assert sorted(arms) == [
        "bm25",
        "dense(embedder=hashing(dimension=16))",
        "dense(embedder=hashing(dimension=8))",
    ]
    twice = run(capsys, *given[:-1], "arch=dense", "embedder.dimension=8,8")
    assert twice.status == 2
    assert "two jobs of the sweep are the same run" in twice.err


@pytest.mark.slow
def test_only_arms_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    """Another seed, number of cases or samples is another measurement, not another repeat."""
    for swept in ("seed=1,2", "n_cases=2,3", "repeats=1,2"):
        done = run(capsys, "-m", *HOTPOT, "arch=bm25,none", swept)
        key, _, values = swept.partition("=")
        rows = read_json(done.directory / "sweep.json")["comparisons"]
        for value in values.split(","):
            here = [r for r in rows if str(r[key]) == value]
            assert len({(r["arm_a"], r["arm_b"]) for r in here}) == 1
            assert len(here) == len(rows) / 2
            assert {r["n"] for r in here} == {int(value) if key == "n_cases" else 6}


@pytest.mark.slow
def test_repeats_are_averaged_before_axes_are_correlated(
    capsys: pytest.CaptureFixture[str],
) -> None:
    once = run(capsys, "-m", *HOTPOT, "arch=bm25,none")
    thrice = run(capsys, "-m", *HOTPOT, "arch=bm25,none", "repeats=3")
    a, b = (read_json(done.directory / "sweep.json")["correlation"] for done in (once, thrice))
    assert a == b
    assert max(max(line) for line in a["n"]) == 2 * 6


@pytest.mark.slow
def test_a_declared_baseline_is_what_arms_are_compared_with(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = run(capsys, "-m", *HOTPOT, "arch=bm25,none,last_mention", "baseline=none")
    rows = read_json(done.directory / "sweep.json")["comparisons"]
    assert {(r["arm_a"], r["arm_b"]) for r in rows} == {("bm25", "none"), ("last_mention", "none")}


# ------------------------------------------------------------------------------------ exit statuses


def fail_on(monkeypatch: pytest.MonkeyPatch, arms: set[str]) -> None:
    """Make the reader fail on the views of these arms' size: it never sees an arm's name."""
    answer = Commit.answer

    async def failing(self: Commit, task: Any, view: Any, client: Any) -> Answer:
        if ("none" in arms) == (not view.items):
            raise RuntimeError("told to fail")
        return await answer(self, task, view, client)

    monkeypatch.setattr(Commit, "answer", failing)


def test_too_many_failed_cases_are_status_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_on(monkeypatch, {"none"})
    done = run(capsys, *LOAN, "arch=none", "n_cases=4", "hydra.run.dir=r")
    assert done.status == 1
    assert done.out == "run: r\n"
    assert done.err.startswith(
        "stopped: 1 case failed, more than max_errors=0.1 allows; the last: RuntimeError: told to "
    )
    assert done.err.endswith("resume it with resume=r\n")


@pytest.mark.slow
def test_a_job_that_stops_does_not_stop_the_others(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_on(monkeypatch, {"none"})
    done = run(capsys, "-m", *LOAN, "arch=none,bm25,full_context", "n_cases=3", "hydra.sweep.dir=s")
    assert done.status == 1
    assert done.out.splitlines()[-1] == "sweep: s"
    assert "resume it with resume=s" in done.err
    summary = read_json(Path("s/sweep.json"))
    assert [job["run"]["arch"] for job in summary["jobs"]] == ["bm25", "full_context"]
    assert [name.split("-")[1] for name in summary["unfinished"]] == ["none"]


@pytest.mark.slow
def test_errors_are_a_share_of_the_cases_there_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A domain of six cases, asked for a hundred, allows a tenth of six."""
    from plugins.axes.ranking import Ranking

    score = Ranking.score

    def failing(self: Ranking, scored: Any) -> Any:
        if scored.case.id in ("fx05", "fx06"):
            raise RuntimeError("told to fail")
        return score(self, scored)

    monkeypatch.setattr(Ranking, "score", failing)
    for n in ("100", "null"):
        done = run(capsys, *HOTPOT, "arch=bm25", f"n_cases={n}", f"hydra.run.dir=r{n}")
        assert done.status == 1, n
        assert "2 cases failed" in done.err
        again = run(capsys, f"resume=r{n}", "max_errors=0.5")
        assert again.status == 0
        summary = read_json(Path(f"r{n}/summary.json"))
        assert summary["errors"]["n"] == 2
        assert summary["errors"]["kinds"] == {"RuntimeError": 2}
        assert summary["axes"]["mrr"]["n"] == 4


class _Away(Tracker[Any]):
    """A server that is never there."""

    def upload_run(self, directory: Path, sweep: Path | None) -> str:
        raise TrackingError("nobody answers")

    def upload_sweep(self, directory: Path) -> str:
        raise TrackingError("nobody answers")


@pytest.mark.slow
def test_a_tracking_server_that_is_away_is_no_failure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NoTracking, "upload_run", _Away.upload_run)
    monkeypatch.setattr(NoTracking, "upload_sweep", _Away.upload_sweep)
    done = run(capsys, *HOTPOT, "arch=bm25", "hydra.run.dir=r")
    assert done.status == 0
    assert done.err.startswith("tracking: nobody answers; the run is on disk")
    assert "decisionbench sync r" in done.err
    assert verify_run(Path("r")).ok
    swept = run(capsys, "-m", *HOTPOT, "arch=bm25", "hydra.sweep.dir=s")
    assert swept.status == 0
    assert "decisionbench sync s" in swept.err


@pytest.mark.slow
def test_two_processes_cannot_write_one_run(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    from framework.store import Journal

    run(capsys, *HOTPOT, "arch=bm25", "hydra.run.dir=r")
    lines = (place / "r/journal.jsonl").read_bytes().splitlines(keepends=True)
    (place / "r/journal.jsonl").write_bytes(b"".join(lines[:3]))
    with Journal.open(place / "r/journal.jsonl"):
        before = everything_in(place)
        assert "another process is writing" in run(capsys, "resume=r").mistake
        assert everything_in(place) == before
    assert run(capsys, "resume=r").status == 0


@pytest.mark.slow
def test_a_draft_left_by_a_killed_process_is_no_obstacle(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    for name in (".r.0badcafe.draft", ".s.0badcafe.draft"):
        (place / name).mkdir()
        (place / name / "config.yaml").write_text("half")
    assert run(capsys, *HOTPOT, "arch=bm25", "hydra.run.dir=r").status == 0
    assert run(capsys, "-m", *HOTPOT, "arch=bm25", "hydra.sweep.dir=s").status == 0
    assert sorted(p.name for p in place.iterdir()) == ["r", "s"]
