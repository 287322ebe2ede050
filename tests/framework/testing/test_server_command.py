"""The model server as a program."""

from __future__ import annotations

import pytest

from framework.testing.server import main


@pytest.mark.parametrize("asked", ["-h", "--help"])
def test_help_says_how_it_is_started(asked: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([asked]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("usage: python -m framework.testing.server ")
    assert "--port=PORT" in out
    assert err == ""
