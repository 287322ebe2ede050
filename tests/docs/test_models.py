"""models.md, done as a new user would: every command in order, against the local server.

Where the page names a provider or an address, the test's server stands for it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from framework.engine.dry_run import dry_run_of
from framework.testing.server import ModelServer
from tests.docs.markdown import argv_of, blocks, commands, is_run

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "guide" / "models.md"
STORED = "model.cache=.cache/{name}.sqlite"
"""Runs that the page describes apart do not find each other's answers."""


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_command_of_the_page(tmp_path: Path) -> None:
    env = {**os.environ}
    asked = dry_run_of(["domain=loan", "arch=bm25", "n_cases=20", "model=openai"])
    typed = commands(PAGE)
    assert len(typed) >= 12
    with ModelServer(asked.answers) as server:
        for line in typed:
            command, _, comment = line.partition("  # ")
            if command.startswith("export "):
                name, _, _ = command.removeprefix("export ").partition("=")
                env[name] = "planted-by-the-page"
                continue
            if "framework.testing.server" in command:
                _check_server(command, tmp_path, env)
                continue
            words = _words(command, server.url)
            named = re.search(r"exit status (\d)", comment)
            done = subprocess.run(
                words,
                cwd=tmp_path,
                env=env,
                capture_output=True,
                text=True,
                check=False,
            )
            expected = int(named[1]) if named else 0
            assert done.returncode == expected, f"{command}\n{done.stdout}\n{done.stderr}"
        assert max(server.counts.requests.values()) <= 2, "asked by two models at most"
        assert any("planted-by-the-page" in key for key in server.counts.keys)
    runs = tmp_path / "runs"
    first, replayed, capped = (
        json.loads((runs / name / "summary.json").read_text())
        for name in ("first", "replayed", "capped")
    )
    assert replayed["axes"] == first["axes"]
    assert replayed["ledger"]["total"]["paid_calls"] == 0
    assert first["ledger"]["answer"]["paid_calls"] == capped["run"]["n_cases"] == 20
    stopped = (runs / "capped" / "journal.jsonl").read_text()
    assert "max_cost_usd=0.02" in stopped
    sweep = json.loads((runs / "two-models" / "sweep.json").read_text())
    assert {entry["n"] for entry in sweep["model_agreement"] if entry["axis"] == "eda"} == {3}


def _words(command: str, url: str) -> list[str]:
    """The command as a person at this machine would type it: the addresses are the server's."""
    words = argv_of(re.sub(r"http://127\.0\.0\.1:\d+", url, command))
    sent = is_run(command) and "dry_run=true" not in words
    if sent and "model=anthropic" in words:
        name = next(w for w in words if w.startswith("run_name=")).partition("=")[2]
        store = STORED.format(name="first" if name == "replayed" else name)
        words += [f"model.base_url={url}", store]
    return words


def _check_server(command: str, place: Path, env: Mapping[str, str]) -> None:
    """It starts and prints what the page shows, but for the port."""
    (shown,) = (b.text for b in blocks(PAGE) if b.language == "console" and command in b.text)
    process = subprocess.Popen(
        [sys.executable, *shlex.split(command)[1:]],
        cwd=place,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        lines = [process.stdout.readline().strip() for _ in range(2)]
    finally:
        process.terminate()
        process.communicate()
    expected = [line for line in shown.splitlines() if line.startswith("model=")]
    assert [re.sub(r":\d+", "", line) for line in lines] == [
        re.sub(r":\d+", "", line) for line in expected
    ]


def test_the_example_in_a_test_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = (b.text for b in blocks(PAGE) if b.language == "python")
    exec(compile(example, str(PAGE), "exec"), {})
