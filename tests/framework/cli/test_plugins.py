"""`list`, the parser, and output that nobody reads to its end."""

from __future__ import annotations

import subprocess
import sys

import pytest

from framework import cli, registry
from framework.registry import plugins
from tests.launching import framework


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
    with pytest.raises(SystemExit) as left:
        cli.main(["lst"])
    assert left.value.code == 2
    assert "invalid choice: 'lst'" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["list"], ["show", "domain=loan", "case=0"]])
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
