"""Measuring: order, what is kept of a case, and the judge that rewards directness."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.contracts import Outcome
from framework.errors import UserError
from framework.improve.measure import is_direct
from tests.framework.improve.scripted import prompt, run_script, script_plan


@pytest.mark.parametrize(
    ("answer", "direct"),
    [
        ("900 dollars", True),
        ("In May.", True),
        ("DENY", True),
        ("", False),
        ("  ", False),
        ("ABSTAIN", False),
        ("I cannot find that in the record.", False),
        ("I could not tell.", False),
        ("It is not mentioned.", False),
        ("Unknown", False),
        ("There is no information on it.", False),
    ],
)
def test_directness_is_an_answer_without_a_hedge(answer: str, direct: bool) -> None:
    assert is_direct(Outcome(case_id="c", kind="k", correct=False, answer=answer)) is direct
    failed = Outcome(case_id="c", kind="k", correct=False, answer=answer, error="E: fell over")
    assert not is_direct(failed)


def test_a_loop_that_rewards_directness_is_judged_by_the_truth_on_test(tmp_path: Path) -> None:
    right = {"base": {"optimize": "0-4", "confirm": "0-9", "test": "0-4"}}
    plan = script_plan(right, [prompt("a")], protocol={"rewards": "directness"})
    done = run_script(plan, tmp_path / "run")
    # Every scripted answer, YES or NO, is direct: the loop sees nothing to repair.
    assert done.results["baseline"]["optimize"] == 1.0
    assert done.results["stopped"]["reason"] == "no_failure_that_a_seam_reaches"
    assert done.results["test"]["before"] == 0.5


def test_cases_are_written_in_their_order_and_correct_ones_in_short(tmp_path: Path) -> None:
    right = {"base": {"optimize": "0-4", "confirm": "0-9", "test": "0-4"}}
    done = run_script(script_plan(right, []), tmp_path / "run")
    (made,) = done.of("split.made")
    first = [e for e in done.of("case.evaluated") if e["evaluation"] == 1]
    assert [e["case"] for e in first] == made["optimize"]
    for event in first:
        assert ("turns" in event) is (not event["correct"])
        assert event["request"].startswith("sha256:")
        assert event["response"].startswith("sha256:")
    # CONFIRM's failures are never kept for an author to see.
    shown = {e["evaluation"] for e in done.of("case.evaluated") if "shown" in e}
    assert shown == {1}
    assert done.results["spent"]["evaluations"]["tokens"] > 0


def test_a_pipeline_that_fails_by_itself_is_told_and_not_improved(tmp_path: Path) -> None:
    right = {"base": {"optimize": "0-4", "confirm": "0-9", "test": "0-4"}}
    plan = script_plan(right, [prompt("a")], reader={"plugin": "trivial", "fail_on": "Nothing"})
    with pytest.raises(UserError, match=r"fails on 10 of 10 cases.*told to fail"):
        run_script(plan, tmp_path / "run")
