"""Regimes' recipes from loops measured here: seeds beside each other, and said to be measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from framework.errors import UserError
from plugins.recipes.regimes._measured import measured, shown
from plugins.recipes.regimes.loop_figures import OUTCOMES
from tests.launching import framework

NAMES = ["table1b", "table1c", "figure3", "figure4", "figure5"]


def _results(seed: int, fixed: int, broken: int, deltas: tuple[float, ...]) -> dict[str, Any]:
    pairs = {
        "n": 100, "before": 0.5, "after": 0.5 + (fixed - broken) / 100,
        "delta": (fixed - broken) / 100, "wrong_to_right": fixed, "right_to_wrong": broken,
        "mcnemar_p": 0.04, "interval": [0.0, 0.1], "by_kind": {}, "by_regime": {},
    }  # fmt: skip
    return {
        "loop": {"seed": seed, "target": "mine", "author": "rules", "routing": "regime",
                 "gate": "heldout"},
        "stopped": {"reason": "plateau", "exhausted": [], "walls": [], "analyses": 4,
                    "promotions": len(deltas)},
        "baseline": {"optimize": 0.5, "confirm": 0.5, "failures": {}},
        "funnel": {"authored": 9, "static": 1, "sandbox": 1, "best_of": 0, "optimize": 3,
                   "confirm": 2, "plateau": 1, "promoted": len(deltas)},
        "trajectory": [{"delta": delta} for delta in deltas],
        "confirm": pairs,
        "test": pairs,
    }  # fmt: skip


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    place = tmp_path / "sweep"
    for seed, fixed, broken, deltas in ((7, 10, 2, (0.08,)), (11, 0, 0, ())):
        run = place / f"run-{seed}"
        run.mkdir(parents=True)
        (run / "improve.json").write_text(json.dumps(_results(seed, fixed, broken, deltas)))
    (place / "improve.json").write_text(json.dumps({"caveat": "", "arms": {}}))
    return place


@pytest.mark.parametrize("name", NAMES)
def test_a_sweep_of_loops_is_shown_and_said_to_be_measured(
    name: str, sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = ["--to", str(tmp_path / "page")]
    done = framework(capsys, "report", "--recipe", f"regimes/{name}", str(sweep), *target)
    assert done.status == 0, done.err
    page = (tmp_path / "page" / "report.html").read_text()
    assert "Measured here: 2 loops; target mine" in page
    assert "that the authors recorded" not in page
    assert "printed" not in page
    assert "seed 11" in page
    if name.startswith("figure"):
        assert list((tmp_path / "page" / "figures").glob("*.svg"))
    if name == "table1b":
        assert "seeds as the unit" in page


def test_every_candidate_of_a_measured_loop_ends_in_one_place(sweep: Path) -> None:
    loops, _ = shown([sweep])
    first = loops[0]
    assert [first.outcomes[label] for label in OUTCOMES] == [2, 3, 3, 1]
    assert first.deltas == (0.08,)
    assert first.flips["seed 7, TEST"] == (10, 2, 0.08)


def test_repeated_seeds_are_told_apart_and_kinds_are_not_mixed(sweep: Path, tmp_path: Path) -> None:
    other = tmp_path / "again"
    other.mkdir()
    (other / "improve.json").write_text(json.dumps(_results(7, 1, 0, (0.01,))))
    found = measured([sweep, other])
    assert found is not None
    assert [name for name, _ in found] == ["seed 7, run-7", "seed 11", "seed 7, again"]
    assert measured([tmp_path / "nothing"]) is None
    with pytest.raises(UserError, match="holds no finished loop"):
        measured([sweep, tmp_path / "nothing"])
