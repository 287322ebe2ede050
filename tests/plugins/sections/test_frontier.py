"""What an answer costs is what the arm takes: not what it takes to judge the answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.analysis.evidence import load
from framework.analysis.verdict import spent
from plugins.sections.frontier import cost_unit, points
from tests.launching import run


def test_a_judge_is_no_cost_of_an_arm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for judge in ("rules", "llm"):
        place = tmp_path / judge
        done = run(
            capsys,
            *("domain=loan", "arch=oracle", "budget=loose", f"judge={judge}", "n_cases=4"),
            *("tracking=none", "report=false", f"hydra.run.dir={place}"),
        )
        assert done.status == 0, done.err
        (group,) = load(place).groups
        _, (point,) = points(group)
        found.append((cost_unit(group), point.cost, spent(group.jobs[0])))
        assert ("judge" in group.jobs[0].summary["ledger"]) is (judge == "llm")
    assert found[0] == found[1]
    assert found[0][0] == "tokens"


def test_an_arm_of_several_trials_takes_no_more_for_an_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was told with ten times the tokens of an arm that shows as much."""
    found = []
    for trials in (1, 5):
        place = tmp_path / str(trials)
        done = run(
            capsys,
            *("domain=loan", "arch=random_context", f"arch.trials={trials}", "budget=tight"),
            *("n_cases=4", "tracking=none", "report=false", f"hydra.run.dir={place}"),
        )
        assert done.status == 0, done.err
        (group,) = load(place).groups
        found.append(spent(group.jobs[0]))
    assert found[1] == pytest.approx(found[0], rel=0.1)
