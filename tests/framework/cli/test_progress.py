"""Progress on the terminal."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from framework.cli.progress import Progress


class Labelled:
    def __init__(self, part: str | None = None) -> None:
        self.top = SimpleNamespace(part=part)

    def label(self, group: str) -> str:
        return f"{group}(path=[red] x)"


def test_a_label_with_brackets_stands_as_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    plan: Any = Labelled()
    with Progress().rows_of(plan, 3, 0) as step:
        step(1, 0)
    assert "arch(path=[red] x) budget(path=[red] x)" in capsys.readouterr().err


def test_parts_of_one_run_are_told_apart(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    shown = Progress()
    plans: list[Any] = [Labelled("shard:1/2"), Labelled("shard:2/2")]
    with shown.rows_of(plans[0], 3, 0), shown.rows_of(plans[1], 3, 0) as step:
        step(1, 0)
    said = capsys.readouterr().err
    assert all(f" shard:{number}/2 " in said for number in (1, 2))
