"""The installed wheel, in an empty folder: one command, with all that it needs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.installing import install, python

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("framework", "plugins", "hydra_plugins", "conf", "decisionbench", "decisionbench_gate")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the built wheel was installed, with no network; its dependencies are this Python's."""
    source = tmp_path_factory.mktemp("source")
    for name in PACKAGES:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, source / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    return install(source, tmp_path_factory.mktemp("installed"))


def call(installed: Path, cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return python(cwd, [installed], *words)


@pytest.mark.slow
def test_a_wheel_holds_every_file_of_the_packages(installed: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    missing = [name for name in listed.stdout.split() if not (installed / name).is_file()]
    assert missing == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_decisionbench_works_from_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    command = str(installed / "bin" / "decisionbench")
    (tmp_path / "plugins").mkdir()  # as a user's own folder may be called
    (tmp_path / "plugins/__init__.py").write_text("raise ImportError('not this one')\n")
    common = ("n_cases=2", "tracking=none")
    for words, last in (
        (("domain=loan", "arch=bm25", *common, "run_name=one"), "run: runs/one"),
        (("run", "domain=text_to_sql", "arch=bm25", *common, "run_name=sql"), "run: runs/sql"),
        (("-m", "domain=loan", "arch=bm25,none", *common, "run_name=many"), "sweep: runs/many"),
        (("report", "runs/one"), "runs/one/report.html"),
        (("verify", "runs/many"), ""),
        (("list", "axis"), ""),
        (("show", "domain=loan", "case=0"), ""),
    ):
        done = call(installed, tmp_path, command, *words)
        assert done.returncode == 0, (words, done.stderr)
        assert done.stdout.splitlines()[-1].endswith(last), done.stdout
    given = ("domain=loan", "arch=none", *common, "gate.baseline=runs/one", "run_name=gated")
    gated = call(installed, tmp_path, command, *given)
    assert gated.returncode == 3, gated.stderr
    hidden = call(installed, tmp_path, "-m", "framework", "list", "gate")
    assert hidden.returncode == 2
    assert hidden.stderr.startswith("error: the package plugins is ")
    assert hidden.stderr.count("\n") == 1


@pytest.mark.slow
def test_one_parser_runs_and_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from framework import cli
    from tests.launching import HOTPOT

    monkeypatch.chdir(tmp_path)
    for words in (("hydra.run.dir=a",), ("run", "hydra.run.dir=b")):
        first, *rest = words
        given = [first, *HOTPOT, *rest] if first == "run" else [*HOTPOT, *words]
        assert cli.main([*given, "arch=bm25"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "run: b"
    assert cli.main(["arch=bm52"]) == 2
    assert capsys.readouterr().err.startswith("error: arch: no option 'bm52'")
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    assert capsys.readouterr().out.startswith("usage: decisionbench")
