"""A model that fails for a while: its failures are no gain of whatever is measured afterwards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from framework.contracts import Profile
from framework.contracts.improve import Outcome
from framework.operations.answering import AnswerRequest
from plugins.protocols.improve.results import PairedOutcomes
from plugins.recipes.regimes.loop_page import verdict
from tests.plugins.protocols.improve.scripted import (
    ScriptRule,
    prompt,
    run_script,
    script_plan,
)

SIZES = {"optimize": 10, "confirm": 40, "test": 40, "pool": 100, "fresh_confirm": "never"}
RIGHT = {
    "base": {"optimize": "0-4", "confirm": "0-29", "test": "0-29"},
    "a": {"optimize": "0-5", "confirm": "0-29", "test": "0-29"},
}
"""The draft gains one case of OPTIMIZE, and nothing on CONFIRM or TEST."""
BEFORE = 10 + 40 + 40 + 10
"""Answers before the interim analysis: OPTIMIZE, CONFIRM, the noise, the draft on OPTIMIZE."""


def away(monkeypatch: pytest.MonkeyPatch, fails: Callable[[int, str], bool]) -> None:
    """The model answers, but for the calls of which `fails` is true, by number and state."""
    answers, calls = ScriptRule.answer, iter(range(10_000))

    def answer(self: ScriptRule, request: AnswerRequest, profile: Profile) -> str:
        if fails(next(calls), request.task.instruction.split()[-1]):
            raise RuntimeError("nobody answers")
        return answers(self, request, profile)

    monkeypatch.setattr(ScriptRule, "answer", answer)


@pytest.mark.parametrize("rule", ["point", "lower_bound"])
def test_what_failed_before_an_edit_is_not_what_the_edit_fixed(
    rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away(monkeypatch, lambda call, _: BEFORE <= call < BEFORE + 20)
    gate = {"plugin": "heldout", "rule": rule, "threshold": 0.02, "per_type_floor": 1.0}
    done = run_script(
        script_plan(RIGHT, [prompt("a")], gate=gate, protocol=SIZES), tmp_path / "run"
    )
    (_, confirm) = done.of("transform.eval_diff")
    assert (confirm["split"], confirm["delta"], confirm["net"]) == ("confirm", 0.0, 0)
    assert confirm["passed"] is False
    assert done.results["stack"] == []


def test_what_failed_on_the_bare_pipeline_is_no_gain_on_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = iter(range(10_000))
    known = 10 + 40 + 40 + 40  # OPTIMIZE, CONFIRM, the noise, the interim analysis

    away(monkeypatch, lambda _, state: state == "base" and known <= next(bare) < known + 20)
    right = {**RIGHT, "a": {"optimize": "0-5", "confirm": "0-39", "test": "0-29"}}
    done = run_script(script_plan(right, [prompt("a")], protocol=SIZES), tmp_path / "run")
    found = done.results["test"]
    assert len(done.results["stack"]) == 1
    assert (found["wrong_to_right"], found["right_to_wrong"]) == (0, 0)
    assert (found["before"], found["after"], found["delta"]) == (0.75, 0.75, 0.0)
    assert found["failed_before"] == 20
    assert "failed_before" not in done.results["confirm"]
    assert "0 broken, 20 cases with an error before counted as unchanged" in verdict(
        done.results, "test"
    )


@pytest.mark.parametrize("failing", [0, 20])
def test_an_entry_that_failed_is_not_shown_to_be_dispensable(
    failing: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = {
        "base": {"optimize": "0-4", "confirm": "0-9", "test": "0-9"},
        "a": {"optimize": "0-5", "confirm": "0-19", "test": "0-19"},
        "b": {"optimize": "0-6", "confirm": "0-34", "test": "0-34"},
    }
    calls = iter(range(10_000))
    known = 10 + 40 + 10 + 10  # OPTIMIZE, its analysis, the diagnosis, OPTIMIZE without the first
    away(monkeypatch, lambda _, state: state == "b" and known <= next(calls) < known + failing)
    sizes = {**SIZES, "consolidate": True}
    done = run_script(
        script_plan(right, [prompt("a"), prompt("b")], protocol=sizes), tmp_path / "run"
    )
    (first, *_) = done.of("stack.consolidated")
    assert (first["confirm_net"], first["removed"]) == (0, not failing)


def test_what_fails_with_an_edit_is_wrong_and_what_failed_before_says_as_much_as_after() -> None:
    def of(*given: tuple[bool, str]) -> list[Outcome]:
        return [
            Outcome(case_id=str(i), kind="k", correct=correct, error=error)
            for i, (correct, error) in enumerate(given)
        ]

    down = (False, "nobody answers")
    pairs = PairedOutcomes(
        of(down, down, down, (True, ""), (False, "")),
        of((True, ""), (False, ""), down, down, (True, "")),
    )
    assert (pairs.fixed, pairs.broken, pairs.net) == (["4"], ["3"], 0)
    assert pairs.by_kind()["k"] == {"n": 5, "before": 2, "after": 2, "fixed": 1, "broken": 1}
