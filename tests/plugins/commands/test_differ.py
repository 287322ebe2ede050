"""`differ`: the cases in which two arms have different values."""

from __future__ import annotations

from pathlib import Path

import pytest

import run as command
from framework.store.state import load_state
from tests.launching import HOTPOT, framework


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, `bm25` and `none`."""
    made = tmp_path_factory.mktemp("differ")
    for arm in ("bm25", "none"):
        assert command.main([*HOTPOT, f"arch={arm}", f"hydra.run.dir={made}/{arm}"]) == 0
    return made


def test_the_cases_that_differ_are_named_with_both_values(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    runs = [str(place / arm) for arm in ("bm25", "none")]
    done = framework(capsys, "differ", *runs, "--axis", "mrr")
    values = [
        {row.case_id: row.axes["mrr"] for row in load_state(Path(path)).rows} for path in runs
    ]
    apart = sorted(case for case in values[0] if values[0][case] != values[1][case])
    assert done.status == 0
    first, head, *lines = done.out.splitlines()
    assert (
        first == f"mrr, tight: bm25 and none differ in {len(apart)} of 6 cases that count for both"
    )
    assert head.split() == ["case", "bm25", "none"]
    assert [line.split() for line in lines[: len(apart)]] == [
        [case, f"{values[0][case]:.3f}", f"{values[1][case]:.3f}"] for case in apart
    ]
    assert lines[len(apart) :] == [
        f"next: decisionbench show {path} case={apart[0]}  # {Path(path).name}" for path in runs
    ]


def test_two_arms_alike_differ_nowhere_and_mistakes_are_one_line(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    runs = [str(place / arm) for arm in ("bm25", "none")]
    same = framework(capsys, "differ", *runs, "--axis", "mrr", "--arms", "none,none")
    assert same.out == "mrr, tight: none and none differ in 0 of 6 cases that count for both\n"
    for words, said in (
        (["--axis", "mr"], "--axis: the runs have no 'mr'; did you mean 'mrr'?"),
        (
            ["--axis", "mrr", "--arms", "bm25,nome"],
            "--arms: no run of 'nome'; did you mean 'none'?",
        ),
        (["--axis", "mrr", "--arms", "bm25"], "--arms: two of bm25, none"),
        (["--axis", "mrr", "--budget", "loose"], "--budget: no run has 'loose'"),
    ):
        assert framework(capsys, "differ", *runs, *words).mistake.startswith(said)
