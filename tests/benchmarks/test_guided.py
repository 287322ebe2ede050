"""Inputs guided by coverage: what is found is told, and what is missing."""

from __future__ import annotations

import subprocess

import pytest

from benchmarks import guided


def test_what_is_missing_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(guided, "find_spec", lambda _: None)
    assert guided.main(["json"]) == 2
    assert capsys.readouterr().err.startswith("error: pip install atheris")


def test_a_fault_is_told_with_what_raised_it(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "INFO: Instrumenting json\n=== Uncaught Python exception: ===\nKeyError: 'text'\n"
    ended = subprocess.CompletedProcess[str]([], 77, stdout=said, stderr="")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: ended)
    assert guided.fault_of("json", 1) == "=== Uncaught Python exception: === | KeyError: 'text'"
