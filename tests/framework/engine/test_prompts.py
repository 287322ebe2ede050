"""The prompts of a run: chosen by a key, part of its identity, told before anything is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from framework.engine.compose import compose_plan, composer
from tests.launching import Done, run

SHORT = ("domain=loan", "arch=bm25", "n_cases=2", "tracking=none", "gate=open")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    folder = tmp_path / "mine" / "decide"
    folder.mkdir(parents=True)
    (folder / "system.md").write_text("Decide, briefly.\n")
    return folder.parent


def read(done: Done, name: str) -> Any:
    assert done.status == 0, done.err
    return json.loads((done.directory / name).read_text())


def test_a_run_is_asked_with_the_prompts_chosen(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, mine: Path
) -> None:
    done = [
        run(capsys, *SHORT, f"prompt_set={chosen}", f"hydra.run.dir={runs_dir / name}")
        for name, chosen in (("own", "null"), ("other", mine))
    ]
    manifests = [read(d, "manifest.json") for d in done]
    own, other = (m["prompts"] for m in manifests)
    assert {name for name in own if own[name] != other[name]} == {"decide"}
    assert manifests[0]["identity"] != manifests[1]["identity"]
    runs = [read(d, "summary.json")["run"] for d in done]
    assert runs[0]["prompts"].startswith("default@")
    assert runs[1]["prompts"].startswith("mine@")
    for directory, begins in ((done[0], "You decide one case"), (done[1], "Decide, briefly.")):
        lines = (directory.directory / "answers.jsonl").read_text().splitlines()
        asked = [p["system"] for line in lines for p in json.loads(line)["prompts"]]
        assert asked
        assert all(system.startswith(begins) for system in asked)


def test_where_prompts_lie_is_no_matter_and_what_they_say_is(mine: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere"

    def identity(folder: Path) -> str:
        with composer():
            return compose_plan([*SHORT, f"prompt_set={folder}"]).digest

    before = identity(mine)
    mine.rename(moved)
    assert identity(moved) == before
    (moved / "decide" / "system.md").write_text("Decide at length.\n")
    assert identity(moved) != before


def test_a_folder_of_something_else_is_not_told_of(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "own" / "secret-name.txt").parent.mkdir()
    (tmp_path / "own" / "secret-name.txt").write_text("secret-content")
    (tmp_path / "own" / "secret-folder").mkdir()
    said = run(capsys, *SHORT, f"prompt_set={tmp_path / 'own' / '..' / 'own'}").mistake
    assert "holds no operation's folder" in said
    assert "secret" not in said
    assert not any(tmp_path.glob("runs*"))


@pytest.mark.slow
def test_a_run_is_not_gone_on_with_under_other_prompts(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, mine: Path
) -> None:
    place = runs_dir / "r"
    run(capsys, *SHORT, f"prompt_set={mine}", f"hydra.run.dir={place}")
    said = run(capsys, f"resume={place}", "prompt_set=paraphrase").mistake
    assert "prompt_set=paraphrase would change the run" in said
    (mine / "decide" / "system.md").write_text("Decide at length.\n")
    assert run(capsys, f"resume={place}").status == 2


@pytest.mark.slow
def test_two_prompt_sets_are_two_settings_of_a_sweep(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, mine: Path
) -> None:
    done = run(capsys, "-m", *SHORT, f"prompt_set=null,{mine}", f"hydra.sweep.dir={runs_dir / 's'}")
    summary = read(done, "sweep.json")
    assert len({job["run"]["prompts"] for job in summary["jobs"]}) == 2
    assert summary["comparisons"] == [], "arms are compared under the same prompts only"


def test_a_mistake_is_told_before_anything_is_written(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, mine: Path
) -> None:
    place = f"hydra.run.dir={runs_dir / 'r'}"
    (mine / "decide" / "user.md").write_text("{task} {record} {decisions} {notise}")
    said = run(capsys, *SHORT, f"prompt_set={mine}", place).mistake
    assert "decide/user.md: no slot {notise}" in said
    assert "did you mean 'notice'" in said
    assert "did you mean" in run(capsys, *SHORT, "prompt_set=paraphrased", place).mistake
    assert list(runs_dir.iterdir()) == []
