"""The in-sample gate and the tables of paired outcomes."""

from __future__ import annotations

from typing import Any

import pytest

from framework.contracts import Evidence, Outcome
from plugins.protocols.improve.gates import judge_optimize
from plugins.protocols.improve.results import PairedOutcomes, paired
from plugins.targets.retrieval import retrieval_taxonomy

TAXONOMY = retrieval_taxonomy()
READER = "assemble-internal"


def outcome(i: int, correct: bool, *, rank: int = 1, **more: Any) -> Outcome:
    turns = (Evidence(id="e", rank=rank, in_view=True),)
    return Outcome(**{"case_id": f"c{i}", "kind": "k", "correct": correct, "turns": turns, **more})


def side(text: str, **more: Any) -> list[Outcome]:
    """`+` right, `-` wrong by the reader, `g` wrong by a signal gap."""
    return [outcome(i, c == "+", rank=99 if c == "g" else 1, **more) for i, c in enumerate(text)]


def judged(before: str, after: str, regime: str = READER, **more: Any) -> dict[str, Any]:
    pairs = PairedOutcomes(
        side(before, request="old"), side(after, request=more.pop("request", "new"))
    )
    return judge_optimize(pairs, TAXONOMY, regime, more.pop("floor", None))


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("+--", "++-", ""),
        ("+--", "+gg", f"no failure of {READER} became correct"),  # relabelled, not correct
        ("+-g", "+-+", f"no failure of {READER} became correct"),  # another regime's failure
        ("+++-", "---+", "overall loss: 1 fixed, 3 broken"),
        ("+-", "-+", ""),  # no loss overall
    ],
)
def test_failures_of_the_routed_regime_must_become_correct(
    before: str, after: str, reason: str
) -> None:
    found = judged(before, after)
    assert found["reason"] == reason
    assert found["passed"] is (not reason)


def test_without_a_regime_any_failure_counts() -> None:
    assert judged("+-g", "+-+", regime="")["passed"]


def test_an_edit_that_changes_no_request_is_inert() -> None:
    assert judged("+-", "++", request="old")["reason"].startswith("inert")


def test_no_type_and_no_abstention_may_lose_beyond_the_floor() -> None:
    before = [outcome(0, True, kind="rare", request="old"), *side("+----", request="old")[1:]]
    after = [outcome(0, False, kind="rare", request="new"), *side("+++++", request="new")[1:]]
    pairs = PairedOutcomes(before, after)
    assert judge_optimize(pairs, TAXONOMY, READER, None)["passed"]
    assert judge_optimize(pairs, TAXONOMY, READER, 1.0)["passed"]
    assert judge_optimize(pairs, TAXONOMY, READER, 0.5)["reason"] == (
        "loss beyond the floor in rare"
    )
    before[0] = outcome(0, True, abstention=True, request="old")
    after[0] = outcome(0, False, abstention=True, request="new")
    assert judge_optimize(PairedOutcomes(before, after), TAXONOMY, READER, 0.5)["reason"] == (
        "loss beyond the floor in abstention"
    )


def test_pairs_are_the_same_cases() -> None:
    with pytest.raises(ValueError, match="not the same cases"):
        PairedOutcomes(side("++"), side("+"))


def test_the_tables_of_two_stacks() -> None:
    before = [*(outcome(i, False) for i in range(10)), *(outcome(i, True) for i in range(10, 100))]
    after = [outcome(i, i not in (98, 99)) for i in range(100)]
    alone = dict.fromkeys((o.case_id for o in before), None)
    found = paired(PairedOutcomes(before, after), alone, TAXONOMY, 7, "test")
    assert (found["wrong_to_right"], found["right_to_wrong"]) == (10, 2)
    assert found["mcnemar_p"] == pytest.approx(0.0386, abs=1e-4)
    assert found["delta"] == pytest.approx(0.08)
    low, high = found["interval"]
    assert low < 0.08 < high
    assert found["clusters"] is None
    assert found["permutation_p"] == pytest.approx(found["mcnemar_p"], rel=0.1)
    assert found["by_regime"][READER]["fixed"] == 10
    assert found["by_regime"]["correct"]["broken"] == 2


def test_what_was_gained_in_one_cluster_is_one_observation() -> None:
    before = [outcome(i, i >= 10) for i in range(100)]
    after = [outcome(i, True) for i in range(100)]
    pairs = PairedOutcomes(before, after)
    alone = dict.fromkeys((o.case_id for o in before), None)
    tens = {o.case_id: f"g{i // 10}" for i, o in enumerate(before)}
    found, clustered = (paired(pairs, of, TAXONOMY, 7, "test") for of in (alone, tens))
    assert found["interval"][0] > 0
    assert found["permutation_p"] < 0.01
    assert clustered["clusters"] == 10
    assert clustered["delta"] == found["delta"] == pytest.approx(0.1)
    assert clustered["interval"] != found["interval"]
    assert clustered["permutation_p"] == 1.0
