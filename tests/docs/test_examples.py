"""Every example of the docs, done as a reader would: its files written, its commands run.

They are written into a copy of the repository, so that a page names the places where a plugin goes.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.markdown import argv_of, blocks, commands, is_run

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted((ROOT / "docs" / "guide").glob("adding-*.md"))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what a user needs of the repository."""
    for name in ("framework", "plugins", "hydra_plugins", "conf"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("run.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_there_is_a_page_for_each_kind_of_plugin() -> None:
    found = [page.stem for page in PAGES]
    assert found == [
        *("adding-a-domain", "adding-a-judge", "adding-a-memory", "adding-a-reader"),
        *("adding-an-arch", "adding-an-axis", "adding-an-embedder"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(page: Path, checkout: Path) -> None:
    written = [block for block in blocks(page) if block.title]
    assert written, "a page without an example"
    for block in written:
        file = checkout / block.title
        assert not file.exists(), f"{block.title} is a file of the repository"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block.text, encoding="utf-8")
    typed = commands(page)
    assert any(map(is_run, typed))
    if any(block.language == "python" for block in written):  # a mapping has no code to test
        assert any(command.startswith("python -m pytest") for command in typed)
    for command in typed:
        done = subprocess.run(
            argv_of(command), cwd=checkout, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        if is_run(command):
            _check_run(checkout, done.stdout)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_are_in_our_own_style(page: Path, checkout: Path) -> None:
    for block in blocks(page):
        if block.language == "python":
            file = checkout / block.title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
    names = [block.title for block in blocks(page) if block.language == "python"]
    for check in (["check"], ["format", "--check", "--diff"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *check, *names],
            cwd=checkout,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_plugins_of_the_examples_are_typed(checkout: Path) -> None:
    written = [b for page in PAGES for b in blocks(page) if b.title.startswith("plugins/")]
    for block in written:
        (checkout / block.title).write_text(block.text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *(block.title for block in written)],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name}: {target}"


def _check_run(checkout: Path, stdout: str) -> None:
    kind, _, place = stdout.splitlines()[-1].partition(": ")
    directory = checkout / place
    if kind == "sweep":
        summaries = json.loads((directory / "sweep.json").read_text())["jobs"]
        assert len(summaries) > 1
    else:
        assert kind == "run"
        summaries = [json.loads((directory / "summary.json").read_text())]
    for summary in summaries:
        assert summary["errors"]["n"] == 0
        assert summary["run"]["n_cases"] > 0
        assert summary["axes"]
