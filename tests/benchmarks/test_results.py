"""The manifest of the docs' tables: whole, and true of an arm drawn by the commit."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks import results
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
            assert (results.ROOT / value).exists()
    assert entry["minutes"] > 0
    assert ("sweep" in entry) != ("command" in entry)


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
    entry = {"name": "x", "sweep": ["-m", "+experiment=readers"], "tables": {str(page): []}}
    monkeypatch.setattr(results, "RUNS", tmp_path)
    monkeypatch.setattr(results, "call", lambda *words: table)
    assert results.differing(entry, "a commit") == []
    monkeypatch.setattr(results, "call", lambda *words: table.replace("0.67", "0.64"))
    assert results.differing(entry, "a commit") == [f"{page}: | bm25 | 0.64 |"]


@pytest.mark.slow
@pytest.mark.timeout(900)
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
