"""Every sweep behind the papers' entries is known, and made by one command that goes on."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks import paper_sources, replicate
from benchmarks.paper_runs import lists_of, of_row
from benchmarks.paper_sources import APART, TAKES, Given, Source
from benchmarks.paper_steps import Step, Steps, commit_of, together
from benchmarks.replicate import PAGES, RUNS, STEPS
from framework.errors import UserError
from framework.registry import find
from framework.reporting.markdown import between_markers

EXPERIMENTS = Path(__file__).resolve().parents[2] / "conf" / "experiment"
ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "benchmarks" / "recorded" / "papers.json"
EVERYTHING = Given(rows=Path("rows.csv"), loops=Path("loops"), hotpotqa=Path("hotpotqa.json"))


def test_every_sweep_is_an_experiment_or_has_words_of_its_own() -> None:
    for name, source in paper_sources.sources(EVERYTHING).items():
        shipped = (EXPERIMENTS / f"{name}.yaml").exists()
        assert (name in APART or name == "hotpotqa") != (shipped and name not in APART), name
        assert source.words[0] == "-m"
        assert "report=false" in source.words


def test_every_word_of_the_tables_is_used() -> None:
    recipes = paper_sources.recipes_of()
    for start, names in TAKES.items():
        assert any(recipe.startswith(start) for recipe in recipes), start
        assert set(names) <= APART.keys() | paper_sources.sources(EVERYTHING).keys()
    assert APART.keys() <= {name for recipe in recipes for name in paper_sources.takes(recipe)}


def test_every_recipe_is_made_of_a_sweep_of_recorded_rows_or_of_nothing() -> None:
    for recipe in paper_sources.recipes_of():
        needs = find("recipe", recipe).cls.needs
        assert paper_sources.takes(recipe) or EVERYTHING.of(recipe) or not needs, recipe


def test_every_measured_entry_has_a_sweep_or_a_recipe() -> None:
    for entry in paper_sources.entries():
        if entry.status in ("recorded", "measured") and not entry.report:
            assert entry.by or paper_sources.sources_of(entry) or entry.page, entry


def test_a_file_that_is_not_here_leaves_its_sweep_out() -> None:
    assert "hotpotqa" in paper_sources.sources(EVERYTHING)
    assert "hotpotqa" not in paper_sources.sources(Given())


def test_an_unknown_sweep_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        replicate.main(["depth/nothing"])
    assert ended.value.code == 2
    assert "no sweep depth/nothing; there are depth/" in capsys.readouterr().err


def test_an_entry_is_made_only_by_a_sweep_that_ran() -> None:
    (entry,) = [e for e in paper_sources.entries() if e.report == "correlation"]
    (name,) = paper_sources.sources_of(entry)
    ran = {name: Source(words=())}
    failed = {name: Source(words=(), problem="no room")}
    assert replicate._became(entry, ran, {}) == f"[{name}]({name}/report.md)"
    assert replicate._became(entry, failed, {}) == f"not made; it needs {name}"
    assert replicate._became(entry, {}, {}) == f"not made; it needs {name}"


def test_sweeps_whose_report_is_shown_have_one_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said: list[tuple[str, ...]] = []
    monkeypatch.setattr(replicate, "_said", lambda *words: said.append(words) or "")
    known = paper_sources.sources(EVERYTHING)
    assert known["depth/paper_geometry"].reported
    assert not known["loan"].reported
    for name in ("depth/paper_geometry", "loan"):
        replicate.run(name, known[name], None, Steps(STEPS), "c0ffee00")
    reports = [words for words in said if words[0] == "-m"]
    assert reports == [("-m", "framework", "report", str(RUNS / "depth/paper_geometry"))]


def test_a_language_model_answers_from_what_is_shipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said: list[tuple[str, ...]] = []
    monkeypatch.setattr(replicate, "_said", lambda *words: said.append(words) or "")
    source = paper_sources.sources(EVERYTHING)["language_model"]
    replicate.run("language_model", source, 4, Steps(STEPS), "c0ffee00")
    assert {"model.replay=true", "embedder.replay=true", "n_cases=4"} <= set(said[0])
    (cache,) = [w.partition("=")[2] for w in said[0] if w.startswith("model.cache=")]
    assert (tmp_path / cache).is_file()


def test_a_record_keeps_the_steps_that_did_not_run_here(tmp_path: Path) -> None:
    kept = Steps(tmp_path / "kept.json")
    for name in ("before", "again"):
        kept.begin(name, "aaaa")
        kept.end(name, 5, "")
    here = Steps(tmp_path / "here.json")
    here.begin("again", "bbbb")
    here.end("again", 6, "")
    replicate.written(here, tmp_path / "kept.json", [])
    known = Steps.of(tmp_path / "kept.json").known
    assert {name: step.commits for name, step in known.items()} == {
        "before": ["aaaa"], "again": ["bbbb"]
    }  # fmt: skip
    assert here.known.keys() == {"again"}
    for before in (Step(made="2020-01-01 00:00:00", commits=["old"]), Step(commits=["begun"])):
        replicate.written(Steps(tmp_path / "x", {"again": before}), tmp_path / "kept.json", [])
        assert Steps.of(tmp_path / "kept.json").known["again"].commits == ["bbbb"]


@pytest.mark.slow
def test_sweeps_recipes_and_a_page_and_then_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.md").write_text(
        "<!-- result table runs-sweeps: begin -->\n<!-- result table runs-sweeps: end -->\n"
    )
    words = ["depth/decay_ablation", "loan-commit", "--cases", "6"]
    assert replicate.main([*words, "--into", "page.md#runs-sweeps", "--record", "kept.json"]) == 0
    summaries = {p: p.stat().st_mtime_ns for p in RUNS.glob("**/summary.json")}
    assert summaries
    page = (RUNS / "README.md").read_text()
    assert "| depth/decay_ablation |" in page
    assert "it needs loan-verified" in page
    for linked in PAGES.glob("**/report.md"):
        assert f"({linked.relative_to(RUNS)})" in page
    assert list(PAGES.glob("depth/*/measured/report.md"))
    # Six cases are not the sweep.
    assert "| `loan-commit` | not run |" in (tmp_path / "page.md").read_text()
    kept = (tmp_path / "kept.json").read_text()
    assert Steps.of(tmp_path / "kept.json").known["loan-commit"].cases == 6

    assert replicate.main(words) == 0
    assert {p: p.stat().st_mtime_ns for p in summaries} == summaries
    assert STEPS.read_text() == kept
    assert replicate.main(["loan-commit"]) == 1
    assert "loan-commit was begun with 6 cases: remove it first" in (RUNS / "README.md").read_text()

    (RUNS / "loan-commit" / "sweep_plan.json").write_text("{")
    assert replicate.main(["loan-commit", "--cases", "6"]) == 1
    said = (RUNS / "README.md").read_text()
    assert "| loan-commit | " in said
    assert "sweep_plan.json" in said


NOW = datetime(2027, 3, 1, 12, 30, 7, tzinfo=UTC)


def test_a_step_that_was_cut_off_goes_on_and_says_so(tmp_path: Path) -> None:
    steps = Steps(tmp_path / "steps.json")
    steps.begin("x", "aaaa", None)
    again = Steps.of(steps.path)
    step = again.begin("x", "bbbb", None)
    assert (step.state, step.at, step.cut) == ("not run", "aaaa, bbbb", 1)
    step.end(2.0, "no room", NOW)
    assert step.state == "failed"
    again.begin("x", "bbbb", None).end(3.0, "", NOW)
    assert (step.state, step.made, step.took) == ("ran", "2027-03-01 12:30:07", ">5.0")
    assert step.minute == "2027-03-01 12:30"
    # What is complete is not made again by asking for it: neither commit, time nor seconds change.
    again.begin("x", "cccc", None)
    again.end("x", 9.0, "")
    assert Steps.of(steps.path).known["x"] == step
    assert (step.at, step.made, step.took) == ("aaaa, bbbb", "2027-03-01 12:30:07", ">5.0")
    steps.path.write_text('{"x": {"unknown": 1}}')
    with pytest.raises(UserError, match=r"steps\.json: not a record of steps"):
        Steps.of(steps.path)


def test_a_row_ran_only_where_all_its_steps_did() -> None:
    ran, failed, never = Step(made="2027-03-01 12:30"), Step(problem="no room"), Step()
    quick = Step(made="2027-03-01 12:30", cases=6)
    assert together([]) == "–"
    assert together([ran, ran]) == "ran"
    assert together([ran, never, quick]) == "1 ran, 2 not run"
    assert together([ran, failed]) == "1 ran, 1 failed"
    assert together([never, quick]) == "not run"
    assert together([failed]) == "failed"


def test_without_a_step_every_row_with_a_command_is_not_run(tmp_path: Path) -> None:
    steps = Steps(tmp_path / "steps.json")
    lists = lists_of(steps)
    rows = [line.split(" | ") for line in lists["runs"].splitlines()[2:]]
    assert len(rows) == len(list(paper_sources.entries()))
    assert {state for row in rows for state in row[2:4]} == {"not run", "–"}
    for entry, row in zip(paper_sources.entries(), rows, strict=True):
        made = bool(entry.by or (entry.report and paper_sources.sources_of(entry)))
        assert (row[2:4] != ["–", "–"]) == made, entry
    assert set(lists["runs-sweeps"].splitlines()[2:]) == {
        f"| `{name}` | not run |  |  |  |  |" for name in paper_sources.sources(EVERYTHING)
    }
    # A sweep that ran is not yet the rows that rest on it: their recipes are steps too.
    steps.known["depth/hops"] = Step(made="2027-03-01 12:30", commits=["aaaa"], seconds=4)
    (row,) = [line for line in lists_of(steps)["runs"].splitlines() if "| figure 26 |" in line]
    said = "1 ran, 1 not run | 2027-03-01 12:30 | aaaa | 4.0 |"
    assert row == f"| depth | figure 26 | – | {said}"
    steps.known["depth/F046 measured"] = Step(made="2027-03-01 12:31", commits=["bbbb"], seconds=1)
    (row,) = [line for line in lists_of(steps)["runs"].splitlines() if "| figure 26 |" in line]
    assert row == "| depth | figure 26 | – | ran | 2027-03-01 12:31 | aaaa, bbbb | 5.0 |"


def test_the_page_has_the_lists_of_what_is_recorded() -> None:
    page = ROOT / "docs" / "results" / "papers.md"
    for name, text in lists_of(Steps.of(RECORD)).items():
        assert between_markers(f"{page}#{name}") == text, name


def test_every_row_that_a_command_makes_was_made_by_it() -> None:
    """A recipe that can't be made of the sweep that it names failed there."""
    steps = Steps.of(RECORD)
    for entry in paper_sources.entries():
        for kind, names in of_row(entry).items():
            assert together(steps.of_names(names)) in ("ran", "–"), (entry.number, kind)
    assert {step.state for step in steps.of_names(paper_sources.sources(EVERYTHING))} == {"ran"}


def test_a_directory_that_nothing_recorded_is_not_taken_for_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(replicate, "_said", lambda *words: pytest.fail("it ran"))
    (RUNS / "loan").mkdir(parents=True)
    source, steps = Source(words=()), Steps(STEPS)
    replicate.run("loan", source, None, steps, "c0ffee00")
    assert source.problem == "runs/papers/loan was begun otherwise: remove it first"
    assert not steps.known


def test_a_sweep_that_is_complete_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said: list[tuple[str, ...]] = []
    monkeypatch.setattr(replicate, "_said", lambda *words: said.append(words) or "")
    steps = Steps(STEPS, {"loan": Step(made="2027-03-01 12:30", commits=["aaaa"])})
    (RUNS / "loan").mkdir(parents=True)
    replicate.run("loan", Source(words=()), None, steps, "bbbb")
    assert said == [("run.py", f"resume={RUNS / 'loan'}")]
    (RUNS / "loan" / "sweep.json").write_text("{}")
    replicate.run("loan", Source(words=()), None, steps, "bbbb")
    assert len(said) == 1
    assert steps.known["loan"].commits == ["aaaa"]


def test_a_page_is_made_again_only_after_its_sweeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said: list[str] = []

    def report(*words: str) -> str:
        Path(words[-1]).mkdir(parents=True, exist_ok=True)
        said.append(words[4])
        return ""

    monkeypatch.setattr(replicate, "_said", report)
    steps = Steps(STEPS, {"depth/hops": Step(made="2027-03-01 12:30", commits=["aaaa"])})
    chosen = {"depth/hops": Source(words=())}
    for _ in range(2):
        found = replicate.made("depth/F046", chosen, Given(), steps, "aaaa")
        assert found.pages == [PAGES / "depth" / "F046" / "measured"]
        assert said == ["depth/F046"]
        # It was made now, which is later than the sweep.
        steps.known["depth/hops"].made = "2026-01-01 00:00"
    steps.known["depth/hops"].made = "2999-01-01 00:00"
    replicate.made("depth/F046", chosen, Given(), steps, "bbbb")
    assert said == ["depth/F046"] * 2
    assert steps.known["depth/F046 measured"].commits == ["bbbb"]


def test_a_commit_with_changes_is_not_that_commit(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        who = ("-c", "user.name=x", "-c", "user.email=x@localhost")
        words = ("git", "-C", str(tmp_path), *who, *words)
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()

    assert commit_of(tmp_path) == "no commit"
    git("init", "-q")
    (tmp_path / "a").write_text("1")
    git("add", "a")
    git("commit", "-qm", "a")
    assert commit_of(tmp_path) == git("rev-parse", "--short=8", "HEAD")
    (tmp_path / "a").write_text("2")
    assert commit_of(tmp_path) == git("rev-parse", "--short=8", "HEAD") + "+"
