"""`python -m decisionbench_gate` on a branch of a git repository, and the Action's file."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from decisionbench_gate.__main__ import main
from tests.launching import QUESTIONS

ROOT = Path(__file__).resolve().parents[2]
WORDS = (
    *("--axes", "p_ret", "--margin", "0.05", "--"),
    *("--config-dir=conf", "arch=mine", "domain=hotpotqa", f"domain.path={QUESTIONS}"),
    "domain.unknown_file=true",
    *("protocol=retrieve", "budget=loose"),
)


def git(folder: Path, *words: str) -> None:
    name = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", *name, *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_branch_is_compared_with_its_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    option = tmp_path / "conf" / "arch" / "mine.yaml"
    option.parent.mkdir(parents=True)
    option.write_text("plugin: oracle\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "conf")
    git(tmp_path, "commit", "-qm", "A memory that keeps all")
    option.write_text("plugin: none\n")
    monkeypatch.chdir(tmp_path)
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    install = ("--install", "cat conf/arch/mine.yaml >> " + str(tmp_path / "installed"))
    assert main(["--base", "HEAD", *install, *WORDS]) == 3
    assert capsys.readouterr().out.startswith("memory gate: worse. p_ret: failed")
    assert summary.read_text().startswith("memory gate: worse.")
    assert (tmp_path / "installed").read_text() == "plugin: oracle\nplugin: none\n"
    listed = subprocess.run(["git", "worktree", "list"], capture_output=True, text=True, check=True)
    assert listed.stdout.count("\n") == 1, "the checkout of the base is gone"
    assert main(["--base", "no-such-commit", *WORDS]) == 2
    assert main(["--base", "HEAD", "--install", "exit 7", *WORDS]) == 2
    assert "`exit 7`" in capsys.readouterr().out


PLUGIN = """
from framework.contracts import Arch
from framework.contracts.configured import NoSettings
from framework.records import Item
from framework.registry import register

@register("arch", "mine_by_path")
class Mine(Arch[NoSettings]):
    unbudgeted = True

    def ingest(self, events):
        self.events = list(events)

    def recall(self, query, k):
        kept = self.events[:KEPT]
        return [Item(id=e.id, text=e.text, source_ids=(e.id,)) for e in kept]
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_base_is_measured_with_its_own_code_where_pythonpath_names_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = tmp_path / "src" / "mine_by_path.py", tmp_path / "src" / "mine-1.dist-info"
    told.mkdir(parents=True)
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1\n")
    (told / "entry_points.txt").write_text("[decisionbench.plugins]\nmine = mine_by_path\n")
    code.write_text(PLUGIN.replace("KEPT", "1000"))
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "src")
    git(tmp_path, "commit", "-qm", "A memory that keeps all")
    code.write_text(PLUGIN.replace("KEPT", "0"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "src"))
    words = [word for word in WORDS if not word.startswith(("--config-dir", "arch="))]
    assert main(["--base", "HEAD", *words, "arch=mine_by_path"]) == 3
    assert capsys.readouterr().out.startswith("memory gate: worse. p_ret: failed")


@pytest.mark.parametrize("name", ["mine", "mine-base"])
def test_a_directory_that_is_no_run_is_refused_before_anything_is_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    file = tmp_path / name / "thesis.md"
    file.parent.mkdir()
    file.write_text("three years")
    out = ("--out", str(tmp_path / "mine"), "--install", f"touch {tmp_path / 'installed'}")
    assert main(["--base", "HEAD", *out, *WORDS]) == 2
    told = f"{tmp_path / name} exists already and holds no run; choose another directory"
    assert capsys.readouterr().out == f"memory gate: no verdict. error: {told}\n"
    assert file.read_text() == "three years"
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_the_action_gives_every_input_through_the_environment() -> None:
    """An input that stood in the script itself would be read as a part of it."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    *_, last = steps = action["runs"]["steps"]
    assert not any("${{" in step.get("run", "") for step in steps)
    used = {value.removeprefix("${{ inputs.").removesuffix(" }}") for value in last["env"].values()}
    assert action["inputs"].keys() - used == {"python-version"}
    assert all(f"${name}" in last["run"] or f"${{{name}" in last["run"] for name in last["env"])
    assert subprocess.run(["bash", "-n"], input=last["run"], text=True, check=False).returncode == 0
