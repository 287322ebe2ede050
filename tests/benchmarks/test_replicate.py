"""Every sweep behind the papers' entries is known, and made by one command that goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import replicate
from benchmarks.replicate import APART, PAGES, RUNS, TAKES, Given, Source
from framework.registry import find

EXPERIMENTS = Path(__file__).resolve().parents[2] / "conf" / "experiment"
EVERYTHING = Given(rows=Path("rows.csv"), loops=Path("loops"), hotpotqa=Path("hotpotqa.json"))


def test_every_sweep_is_an_experiment_or_has_words_of_its_own() -> None:
    for name, source in replicate.sources(EVERYTHING).items():
        shipped = (EXPERIMENTS / f"{name}.yaml").exists()
        assert (name in APART or name == "hotpotqa") != (shipped and name not in APART), name
        assert source.words[0] == "-m"
        assert "report=false" in source.words


def test_every_word_of_the_tables_is_used() -> None:
    recipes = replicate.recipes_of()
    for start, names in TAKES.items():
        assert any(recipe.startswith(start) for recipe in recipes), start
        assert set(names) <= APART.keys() | replicate.sources(EVERYTHING).keys()
    assert APART.keys() <= {name for recipe in recipes for name in replicate.takes(recipe)}


def test_every_recipe_is_made_of_a_sweep_of_recorded_rows_or_of_nothing() -> None:
    for recipe in replicate.recipes_of():
        needs = find("recipe", recipe).cls.needs
        assert replicate.takes(recipe) or EVERYTHING.of(recipe) or not needs, recipe


def test_every_measured_entry_has_a_sweep_or_a_recipe() -> None:
    for entry in replicate.entries():
        if entry.status in ("recorded", "measured") and not entry.report:
            assert entry.by or replicate.sources_of(entry) or entry.page, entry


def test_a_file_that_is_not_here_leaves_its_sweep_out() -> None:
    assert "hotpotqa" in replicate.sources(EVERYTHING)
    assert "hotpotqa" not in replicate.sources(Given())


def test_an_unknown_sweep_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        replicate.main(["depth/nothing"])
    assert ended.value.code == 2
    assert "no sweep depth/nothing; there are depth/" in capsys.readouterr().err


def test_an_entry_is_made_only_by_a_sweep_that_ran() -> None:
    (entry,) = [e for e in replicate.entries() if e.report == "correlation"]
    (name,) = replicate.sources_of(entry)
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
    known = replicate.sources(EVERYTHING)
    assert known["depth/paper_geometry"].reported
    assert not known["loan"].reported
    for name in ("depth/paper_geometry", "loan"):
        replicate.run(name, known[name], None)
    reports = [words for words in said if words[0] == "-m"]
    assert reports == [("-m", "framework", "report", str(RUNS / "depth/paper_geometry"))]


def test_a_language_model_answers_from_what_is_shipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said: list[tuple[str, ...]] = []
    monkeypatch.setattr(replicate, "_said", lambda *words: said.append(words) or "")
    replicate.run("language_model", replicate.sources(EVERYTHING)["language_model"], 4)
    assert {"model.replay=true", "embedder.replay=true", "n_cases=4"} <= set(said[0])
    (cache,) = [w.partition("=")[2] for w in said[0] if w.startswith("model.cache=")]
    assert (tmp_path / cache).is_file()


@pytest.mark.slow
def test_sweeps_recipes_and_a_page_and_then_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.md").write_text(
        "<!-- result table run: begin -->\n<!-- result table run: end -->\n"
    )
    words = ["depth/decay_ablation", "loan-commit", "--cases", "6"]
    assert replicate.main([*words, "--into", "page.md#run"]) == 0
    summaries = {p: p.stat().st_mtime_ns for p in RUNS.glob("**/summary.json")}
    assert summaries
    page = (RUNS / "README.md").read_text()
    assert "| depth/decay_ablation |" in page
    assert "it needs loan-verified" in page
    for linked in PAGES.glob("**/report.md"):
        assert f"({linked.relative_to(RUNS)})" in page
    assert list(PAGES.glob("depth/*/measured/report.md"))
    assert "| loan-commit |" in (tmp_path / "page.md").read_text()

    assert replicate.main([*words, "--into", "page.md#run"]) == 0
    assert {p: p.stat().st_mtime_ns for p in summaries} == summaries

    (RUNS / "loan-commit" / "sweep_plan.json").write_text("{")
    assert replicate.main(["loan-commit"]) == 1
    said = (RUNS / "README.md").read_text()
    assert "| loan-commit | " in said
    assert "sweep_plan.json" in said
