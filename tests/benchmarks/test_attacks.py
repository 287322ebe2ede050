"""Every known shortcut on a few cases: none earns more than it may, and the table fits."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from benchmarks.attacks import Earned, kinds
from benchmarks.attacks.__main__ import main, table

CASES = "16"


LONG = ("answers", "surface")


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=pytest.mark.slow) if k in LONG else k for k in kinds()]
)
def test_no_shortcut_earns_more_than_it_may(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["--cases", CASES, "--only", kind])
    printed = capsys.readouterr().out
    assert status == 0, printed
    assert max(map(len, printed.splitlines())) <= 80
    assert len(printed.splitlines()) > 10
    figures = [line for line in printed.splitlines() if re.search(r"[\d-]( !)?$", line)]
    # Beside each stands what the best arm earns; a label may have no case in the forms read.
    bare = [line for line in figures if line.removesuffix(" !").split()[-2] == "-"]
    assert all(re.search(r"AUC, (?!mean)", line) for line in bare), bare


def test_a_shortcut_that_pays_is_marked() -> None:
    one = Earned(
        domain="loan", attack="x" * 30, figure="y" * 30, value=0.5, best=0.4, allowed=0.1, n=9
    )
    assert not one.holds
    assert replace(one, value=0.1).holds
    assert replace(one, allowed=None).holds
    lines = table([one])
    assert lines[-1].endswith("0.10 !")
    assert max(map(len, lines)) <= 80


def test_an_unknown_kind_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--only", "luck"])
    assert ended.value.code == 2
    assert "--only luck: no such kind; there are answers" in capsys.readouterr().err
