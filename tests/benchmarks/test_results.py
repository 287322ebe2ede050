"""The manifest of the docs' tables: whole, and true of an arm drawn by the commit."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks import results
from framework.engine.compose import compose_plan, compose_raw, composer, grid
from framework.errors import UserError
from framework.reporting.markdown import between_markers, put_between_markers

ENTRIES: list[dict[str, Any]] = yaml.safe_load(results.MANIFEST.read_text())


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry["name"]))
def test_every_place_is_there_and_every_module(entry: dict[str, Any]) -> None:
    for place in entry.get("tables", ()):
        assert between_markers(str(results.ROOT / place))
    for word in entry.get("command", ())[1:]:
        name, _, value = word.partition("=")
        if name in ("--into", "--effects"):
            assert (results.ROOT / value.partition("#")[0]).exists()
    assert entry["minutes"] > 0
    assert ("sweep" in entry) != ("command" in entry)
    if "command" in entry:
        assert (entry["sample"] is not False) == ("seconds" in entry)
        assert 0 < entry.get("seconds", 1) <= results.CHEAP_SECONDS


SWEEPS = [entry for entry in ENTRIES if "sweep" in entry]
DEPTH = [e for e in SWEEPS if any(word.startswith("+experiment=depth/") for word in e["sweep"])]
SEARCHES = {"grep_names", "grep_labels", "grep_agentic"}
OF_ONE_ARM = {"hops", "decay_ablation"}
"""Sweeps of a setting that only typed graphs have, over the cases of `fidelity` at q = 1."""
WITHOUT_QUERY = {"rate"}
"""Sweeps of memories that are not asked, which a search is."""


@pytest.mark.slow
@pytest.mark.parametrize("entry", SWEEPS, ids=lambda entry: str(entry["name"]))
def test_what_was_measured_is_the_version_that_ships_and_the_page_says_so(
    entry: dict[str, Any],
) -> None:
    # One value of each is composed; a list is one value, and several lists are several.
    several = [w for w in entry["sweep"] if "," in w and ("=[" not in w or "],[" in w)]
    words = [w for w in entry["sweep"] if w not in ("-m", *several)]
    with composer():
        plugin = compose_plan(words).parts["domain"].plugin
    assert str(entry["version"]) == plugin.cls.version
    for place in entry["tables"].keys() - {"README.md"}:
        page = (results.ROOT / place.partition("#")[0]).read_text(encoding="utf-8")
        assert f"version {entry['version']} of `{plugin.name}`" in " ".join(page.split()), place


@pytest.mark.parametrize("entry", DEPTH, ids=lambda entry: str(entry["name"]))
def test_exact_search_stands_in_every_table_of_depth(entry: dict[str, Any]) -> None:
    with composer():
        arms = results.arms_of(entry["sweep"])
    if entry["name"] in OF_ONE_ARM:
        assert arms == {"typed_graph", "typed_graph_pruned"}
        return
    if entry["name"] in WITHOUT_QUERY:
        unasked = {"random_context", "chat_log", "oldest_first", "rolling_summary"}
        assert arms == {"none", *unasked, "oracle"}
        return
    assert arms >= SEARCHES
    for place in entry["tables"]:
        table = between_markers(str(results.ROOT / place))
        # A recall of 0 at every depth follows no law.
        shown = {"grep_agentic"} if place.endswith("#laws") else SEARCHES
        assert all(arm in table for arm in shown), place


def test_the_commit_of_every_table_is_in_the_history() -> None:
    git = ["git", "-C", str(results.ROOT), "merge-base", "--is-ancestor"]
    commits = sorted({str(entry["commit"]) for entry in ENTRIES if "commit" in entry})
    lost = [c for c in commits if subprocess.run([*git, c, "HEAD"], capture_output=True).returncode]
    if len(lost) == len(commits):
        pytest.skip("the history is not here: no git, or a clone without it")
    assert lost == []


def test_every_table_of_the_docs_that_a_command_writes_has_an_entry() -> None:
    pages = [results.ROOT / "README.md", *(results.ROOT / "docs" / "results").glob("*.md")]
    written = {str(results.ROOT / place) for e in ENTRIES for place in e.get("tables", ())}
    written |= {
        str(results.ROOT / word.removeprefix("--into="))
        for e in ENTRIES
        for word in e.get("command", ())
        if word.startswith("--into=")
    }
    for page in pages:
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith("<!-- result table") and line.endswith("begin -->"):
                name = line.removeprefix("<!-- result table").removesuffix(": begin -->").strip()
                assert f"{page}#{name}".rstrip("#") in written, f"{page}: {line}"


def test_the_locked_loops_are_as_they_were_locked() -> None:
    """Forty seeds, none of them among the twenty that were chosen after a null, which is told."""
    seeds = {}
    for name in ("confirmation", "seeds"):
        with composer():
            words = [f"+experiment=improve/{name}"]
            jobs = grid(words, compose_raw(words))
        seeds[name] = {int(word.removeprefix("seed=")) for job in jobs for word in job
                       if word.startswith("seed=")}  # fmt: skip
    assert seeds["confirmation"] == set(range(101, 141))
    assert not seeds["confirmation"] & seeds["seeds"]
    page = " ".join((results.ROOT / "docs/results/improve.md").read_text().split())
    assert "seeds 1 to 10 gave no gain on TEST: +.014, p .50. The sizes were then changed" in page
    assert "of 40" in between_markers(str(results.ROOT / "docs/results/improve.md#loops"))


def test_tables_of_one_file_are_told_apart_by_name(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- result table: begin -->\nold\n<!-- result table: end -->\n"
        "<!-- result table b: begin -->\nold\n<!-- result table b: end -->\n"
    )
    put_between_markers(f"{page}#b", "new")
    assert (between_markers(str(page)), between_markers(f"{page}#b")) == ("old", "new")
    with pytest.raises(UserError, match="has no lines"):
        put_between_markers(f"{page}#c", "new")


def test_a_number_that_the_code_no_longer_gives_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    table = "| arm | recall |\n| --- | --- |\n| bm25 | 0.67 |\n| none | 0.00 |"
    page.write_text(f"<!-- result table: begin -->\n{table}\n<!-- result table: end -->")
    entry = {
        "name": "x",
        "sweep": ["-m", "+experiment=readers", "arch=bm25,none"],
        "tables": {str(page): []},
        "sample": ["none"],
    }
    asked: list[tuple[str, ...]] = []

    def call(*words: str) -> str:
        asked.append(words)
        return printed

    printed = table
    monkeypatch.setattr(results, "RUNS", tmp_path)
    monkeypatch.setattr(results, "call", call)
    assert results.differing(entry, ["bm25", "none"], "a commit") == []
    assert [word for word in asked[0] if word.startswith("arch=")] == ["arch=bm25,none"]
    printed = table.replace("0.67", "0.64")
    assert results.differing(entry, ["bm25"], "a commit") == [f"{page}: | bm25 | 0.64 |"]


def test_a_cheap_command_is_run_again_beside_the_docs_and_compared_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    text = "Of 3 cases.\n\n| arm | recall |\n| --- | --- |\n| bm25 | 0.67 |"
    blocks = [f"<!-- result table {n}: begin -->\n{text}\n<!-- result table {n}: end -->"
              for n in "ab"]  # fmt: skip
    page.write_text("\n".join(blocks))
    before = page.read_text()
    entry = {
        "name": "x",
        "command": ["module", "--replay", "--into=docs/page.md#a", "--into=docs/page.md#b"],
        "seconds": 1,
        "sample": [],
    }
    now = {"a": text, "b": text}

    def call(*words: str) -> str:
        assert words[:3] == ("-m", "module", "--replay")
        for word in words[3:]:
            place = word.removeprefix("--into=")
            put_between_markers(place, now[place[-1]])
        return ""

    monkeypatch.setattr(results, "ROOT", tmp_path)
    monkeypatch.setattr(results, "RUNS", tmp_path / "runs")
    monkeypatch.setattr(results, "call", call)
    assert results.sample_of([entry], "a commit", 0.02) == [(entry, [])]
    assert results.sample_of([entry], "a commit", 0.01) == []
    assert results.differing_command(entry, "a commit") == []
    now["b"] = text.replace("0.67", "0.64")
    found = ["docs/page.md#b: | bm25 | 0.64 |"]
    assert results.differing_command(entry, "a commit") == found
    now["b"] = text.replace("3 cases", "4 cases").removesuffix("\n| bm25 | 0.67 |")
    found = ["docs/page.md#b: Of 4 cases.", "docs/page.md#b: no | bm25 | 0.67 |"]
    assert results.differing_command(entry, "a commit") == found
    assert page.read_text() == before


@pytest.mark.slow
def test_a_sample_keeps_to_its_minutes_and_every_arm_is_drawn_some_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with composer():
        arms = {tuple(entry["sweep"]): results.arms_of(entry["sweep"]) for entry in SWEEPS}
    monkeypatch.setattr(results, "arms_of", lambda sweep: arms[tuple(sweep)])
    drawn: dict[str, set[str]] = {}
    for number in range(400):
        taken = results.sample_of(ENTRIES, f"commit {number}", results.SAMPLE_MINUTES)
        assert taken == results.sample_of(ENTRIES, f"commit {number}", results.SAMPLE_MINUTES)
        cost = 0.0
        for entry, run in taken:
            if "command" in entry:
                drawn.setdefault(entry["name"], set())
                cost += entry["seconds"] / 60
                continue
            assert set(entry["sample"]) <= set(run)
            drawn.setdefault(entry["name"], set()).add(run[0])
            cost += entry["minutes"] * len(run) / len(arms[tuple(entry["sweep"])])
        assert cost <= results.SAMPLE_MINUTES + 1e-9
    for entry in ENTRIES:
        if entry["sample"] is not False:
            every = arms[tuple(entry["sweep"])] if "sweep" in entry else set()
            assert drawn[entry["name"]] == every, entry["name"]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_an_arm_drawn_by_the_commit_gives_the_rows_of_the_docs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["git", "-C", str(results.ROOT), "rev-parse", "HEAD"]
    commit = subprocess.run(asked, capture_output=True, text=True).stdout.strip() or "no commit"
    monkeypatch.setattr(results, "RUNS", tmp_path)
    assert results.main(["--sample", commit]) == 0


def test_rows_are_the_same_whatever_the_digits_of_their_table() -> None:
    stated = "| grep_labels | 0.00 .00–.26 | 1,340 |"
    assert results.same(stated, stated)
    assert results.same("| grep_labels | 0.000 .000–.265 | 1,340 |", stated)
    assert not results.same("| grep_labels | 0.000 .000–.275 | 1,340 |", stated)
    assert not results.same("| grep_labels | 0.01 .00–.26 | 1,340 |", stated)
    assert not results.same("| grep_names | 0.00 .00–.26 | 1,340 |", stated)


def test_a_column_that_is_of_all_arms_together_is_left_out_where_some_are_run() -> None:
    some = "| arm | recall | p |\n| --- | --- | --- |\n| bm25 | 0.53 | <.0001 |\n"
    every = some.replace("<.0001", ".0009")
    assert results.rows(some) == ["| bm25 | 0.53 | <.0001 |"]
    assert results.rows(some, ["p"]) == results.rows(every, ["p"]) == ["| bm25 | 0.53 |"]
    assert results.rows(some.replace("0.53", "0.54"), ["p"]) != results.rows(every, ["p"])
