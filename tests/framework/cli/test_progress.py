"""Progress on the terminal."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from framework.cli.progress import Progress


class Labelled:
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
