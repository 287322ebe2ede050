"""`list`, the parser, and output that nobody reads to its end."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import run as command
from framework import cli, registry
from framework.registry import plugins
from tests.launching import QUESTIONS, framework


def test_list_shows_every_plugin_with_its_settings(capsys: pytest.CaptureFixture[str]) -> None:
    done = framework(capsys, "list")
    assert done.status == 0
    lines = done.out.splitlines()
    for plugin in plugins():
        assert plugin.group in lines
        assert any(line.startswith(f"  {plugin.name} ") for line in lines), plugin.name
    assert "k1: float (0 or more) = 1.5" in done.out
    assert all(plugin.summary for plugin in plugins())


def test_list_of_one_group(capsys: pytest.CaptureFixture[str]) -> None:
    done = framework(capsys, "list", "gate")
    assert done.out.splitlines()[0] == "gate"
    names = [line.split()[0] for line in done.out.splitlines() if line[2:3].strip()][1:]
    assert names == [p.name for p in plugins("gate")]
    assert "baseline: str | None = None" in done.out


def test_run_py_takes_every_command_too(capsys: pytest.CaptureFixture[str]) -> None:
    """What a run prints to do next is a command, and a checkout may have nothing but run.py."""
    expected = framework(capsys, "list", "gate").out
    assert command.main(["list", "gate"]) == 0
    assert capsys.readouterr().out == expected


def test_a_group_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    message = framework(capsys, "list", "archs").mistake
    assert message.startswith("no group 'archs'; did you mean 'arch'?")


def test_a_package_that_fails_to_import_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plugins()
    monkeypatch.setitem(registry._broken, "their.plugins", "ImportError: no module named theirs")
    done = framework(capsys, "list", "gate")
    assert done.status == 1
    assert done.err == "could not import their.plugins: ImportError: no module named theirs\n"


def test_an_unknown_command_is_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert framework(capsys, "lst").mistake.startswith("no command 'lst'; did you mean 'list'?")
    assert "'report'?" in framework(capsys, "reprot", "runs/x").mistake


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("verify", "Exit status: 0 nothing changed, 1 something changed"),
        ("replay", "Exit status: 0 all are the same, 1 something differs"),
        ("submit", "usage: decisionbench submit --name NAME --key FILE [--out FILE] SWEEP|RUN"),
        ("differ", "a column, such as p_ret"),
        ("compare", "a sweep stands for all its runs"),
    ],
)
def test_the_help_of_a_command_says(
    capsys: pytest.CaptureFixture[str], name: str, said: str
) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main([name, "--help"])
    assert left.value.code == 0
    assert said in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [["list"], ["show", "domain=loan", "case=0"], ["run", "--help"], ["run", "--cfg=job"]],
    ids="_".join,
)
def test_output_to_a_closed_pipe_is_no_error(arguments: list[str]) -> None:
    """`... | head -1`: the reader leaves after a line, or before the first."""
    for lines in (1, 0):
        process = subprocess.Popen(
            [sys.executable, "-m", "framework", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        for _ in range(lines):
            assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
        process.stderr.close()
        assert process.wait(60) == 0


@pytest.mark.parametrize("given", [None, "3"])
def test_the_algebra_has_one_thread_where_none_are_chosen(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, given: str | None
) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    if given is not None:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", given)
    assert framework(capsys, "list", "gate").status == 0
    assert os.environ["OPENBLAS_NUM_THREADS"] == (given or "1")


def test_a_switch_of_hydras_begins_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--cfg", "job"], ["run", "--cfg", "job"], ["arch=bm25", "--cfg", "job"]):
        done = framework(capsys, *words)
        assert done.status == 0
        assert "n_cases: 100\n" in done.out


@pytest.mark.slow
def test_every_command_takes_a_folder_of_options(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for group, name, text in (
        ("domain", "few", f"defaults: [hotpotqa, _self_]\npath: {QUESTIONS}\nunknown_file: true\n"),
        ("arch", "sharp", "defaults: [bm25, _self_]\nk1: 3.0\n"),
    ):
        (tmp_path / "mine" / group).mkdir(parents=True)
        (tmp_path / "mine" / group / f"{name}.yaml").write_text(f"# Ours, {name}. More.\n{text}")
    folder = ("--config-dir", "mine")
    given = ("domain=few", "arch=sharp,none", "protocol=retrieve", "tracking=none", "n_cases=2")
    ran = framework(capsys, *folder, "-m", *given, "hydra.sweep.dir=s", "hydra.launcher.workers=1")
    assert ran.status == 0, ran.err
    assert ran.directory == Path("s")
    for words in (
        ("estimate", "-m", *given),
        ("show", "domain=few", "case=0"),
        ("compare", "s", "--axes", "mrr"),
        ("report", "s"),
        ("verify", "s"),
        ("table", "s"),
    ):
        for argv in ((*folder, *words), (*words, "--config-dir=mine")):
            done = framework(capsys, *argv)
            assert done.status == 0, (argv, done.err)
    listed = framework(capsys, "list", "arch", *folder).out
    _, more = listed.split("with other settings, by name\n")
    assert "\n  sharp                  Ours, sharp\n" in more
    assert re.search(r"\n  mem0_raw +mem0ai [\d.]+ with infer=False: each event is", more)
    assert "sharp" not in framework(capsys, "list", "arch").out
    experiments = framework(capsys, "list", "experiment").out
    assert "\n  quickstart             A first sweep: " in experiments
    assert "\n  depth/decay_ablation   Recency of edges (Depth 11.7, figure 27)" in experiments
    assert (
        framework(capsys, "list", "--config-dir=no").mistake
        == "--config-dir: no is not a directory"
    )
