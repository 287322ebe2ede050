from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from framework.contracts import GateOutcome
from framework.errors import UserError
from framework.records import Row, Usage
from framework.registry import find, settings_of
from plugins.gates._paired import best_constant


def rows(values: Sequence[float | None], axis: str = "eda", arm: str = "a") -> list[Row]:
    return [Row(case_id=f"c{i:03}", arm=arm, axes={axis: v}) for i, v in enumerate(values)]


def gate(name: str, **values: Any) -> Any:
    plugin = find("gate", name)
    return plugin.cls(settings_of(plugin, {"baseline": "bm25", "axes": ["eda"], **values}))


def decide(
    name: str,
    candidate: Sequence[Row],
    baseline: Sequence[Row],
    floor: Sequence[Row] | None = None,
    **values: Any,
) -> GateOutcome:
    outcome: GateOutcome = gate(name, **values).decide(candidate, baseline, seed=7, floor=floor)
    return outcome


def only(outcome: GateOutcome) -> Mapping[str, Any]:
    (finding,) = outcome.findings
    return finding


def test_equal_arms_need_72_cases_for_a_margin_of_five_points() -> None:
    ones = rows([1.0] * 72)
    assert decide("noninferiority", ones, ones).passed is True
    short = decide("noninferiority", ones[:71], ones[:71])
    assert short.passed is False
    assert only(short)["conclusion"] == "cannot conclude"


def test_the_point_estimate_decides_nothing() -> None:
    baseline = rows([1.0] * 100)
    candidate = rows([0.0] * 3 + [1.0] * 97)
    outcome = decide("noninferiority", candidate, baseline)
    assert only(outcome)["delta"] == pytest.approx(-0.03)
    assert outcome.passed is False
    assert decide("noninferiority", candidate, baseline, threshold=-0.1).passed is True


def test_a_worse_arm_fails_and_the_reason_says_on_which_axis() -> None:
    outcome = decide("noninferiority", rows([0.0] * 100), rows([1.0] * 100))
    assert outcome.passed is False
    assert "eda: failed" in outcome.reason


def test_a_baseline_that_failed_shows_no_candidate_worse() -> None:
    """Two arms that are alike; the baseline's model was away for a tenth of the cases."""
    own = rows([0.0] * 400)
    its = [*own[40:], *(Row(case_id=f"c{i:03}", arm="b", error="timeout") for i in range(40))]
    outcome = decide("noninferiority", own, its)
    assert (outcome.passed, only(outcome)["conclusion"]) == (False, "undecided")
    assert "only cases at which the baseline failed show it worse" in outcome.reason
    # What the candidate itself fails at does, and so does what is worse without them.
    right = rows([1.0] * 400)
    failed = [*right[40:], *(Row(case_id=f"c{i:03}", arm="a", error="x") for i in range(40))]
    assert only(decide("noninferiority", failed, right))["conclusion"] == "failed"
    its = [*right[40:], *(Row(case_id=f"c{i:03}", arm="b", error="timeout") for i in range(40))]
    assert only(decide("noninferiority", own, its))["conclusion"] == "failed"


def test_a_failed_row_speaks_against_the_claim_on_either_side() -> None:
    ones = rows([1.0] * 100)
    failed = [*ones[10:], *(Row(case_id=f"c{i:03}", arm="a", error="timeout") for i in range(10))]
    outcome = decide("noninferiority", failed, ones)
    assert outcome.passed is False
    assert only(outcome)["errors"] == 10
    assert only(outcome)["mean"] == pytest.approx(0.9)
    zeros = rows([0.0] * 100)
    against_failures = decide("superiority", zeros, [*failed[:90], *failed[90:]])
    assert only(against_failures)["baseline_mean"] == pytest.approx(1.0)


def test_lower_is_better_turns_the_claim_and_its_worst_case() -> None:
    low, high = rows([0.0] * 100, "stale_use"), rows([1.0] * 100, "stale_use")
    assert decide("superiority", low, high, axes=["stale_use"]).passed is True
    assert decide("noninferiority", high, low, axes=["stale_use"]).passed is False
    failed = [Row(case_id=row.case_id, arm="a", error="x") for row in low]
    assert only(decide("superiority", failed, high, axes=["stale_use"]))["mean"] == 1.0


def test_no_margin_applies_to_a_difference_wherever_its_values_lie() -> None:
    high = [replace(row, axes={"use_effect": 1.0}) for row in rows([1.0] * 30)]
    with pytest.raises(UserError, match=r"use_effect is not in \[0, 1\], so no margin applies"):
        decide("noninferiority", high, high, axes=["use_effect"])


def test_cases_are_paired_by_id_and_repeats_averaged_first() -> None:
    baseline = rows([float(i % 2) for i in range(100)])
    doubled = [
        Row(case_id=row.case_id, arm="a", repeat=s, axes=row.axes)
        for s in (0, 1)
        for row in reversed(baseline)
    ]
    finding = only(decide("noninferiority", doubled, baseline))
    assert (finding["n"], finding["delta"], finding["n_discordant"]) == (100, 0.0, 0)
    assert finding["alpha"] == 0.025
    with pytest.raises(UserError, match="different cases"):
        decide("noninferiority", doubled[:50], baseline)


def test_forms_that_the_reader_was_not_made_to_read_are_not_judged() -> None:
    def read(values: Sequence[float]) -> list[Row]:
        return [replace(row, form_read=i < 80) for i, row in enumerate(rows(values))]

    ones, worse = read([1.0] * 100), read([1.0] * 80 + [0.0] * 20)
    outcome = decide("noninferiority", worse, ones)
    assert (outcome.passed, only(outcome)["n"]) == (True, 80)


def test_retention_is_judged_on_all_forms_unless_a_model_built_the_memory() -> None:
    made = [replace(row, form_read=i < 80) for i, row in enumerate(rows([1.0] * 100, "p_ret"))]
    written = [replace(row, usage={"ingest": Usage(calls=3)}) for row in made]
    for candidate, n in ((made, 100), (written, 80)):
        assert only(decide("noninferiority", candidate, made, axes=["p_ret"]))["n"] == n


def test_undefined_cases_are_left_out_and_counted() -> None:
    baseline = rows([None] * 20 + [1.0] * 80)
    finding = only(decide("noninferiority", baseline, baseline))
    assert (finding["n"], finding["n_undefined"]) == (80, 20)


@pytest.mark.parametrize(
    ("threshold", "passed"), [(-0.05, True), (0.0, True), (0.1, True), (0.3, False)]
)
def test_superiority_asks_for_more_than_the_threshold_and_than_nothing(
    threshold: float, passed: bool
) -> None:
    better, worse = rows([1.0] * 100), rows([0.0] * 25 + [1.0] * 75)
    assert decide("superiority", better, worse, threshold=threshold).passed is passed
    assert decide("superiority", worse, worse, threshold=threshold).passed is False


def test_superiority_takes_a_negative_threshold_for_none() -> None:
    better, worse = rows([1.0] * 400), rows([0.0] * 12 + [1.0] * 388)
    assert decide("superiority", better, worse, threshold=-0.05).passed is True
    assert only(decide("superiority", better, worse))["threshold"] == 0.0


def test_every_gated_axis_must_pass() -> None:
    def both(eda: float, frp: float) -> list[Row]:
        axes = {"eda": eda, "frp": frp}
        return [Row(case_id=f"c{i:03}", arm="a", axes=axes) for i in range(100)]

    outcome = decide("noninferiority", both(1.0, 0.0), both(1.0, 1.0), axes=["eda", "frp"])
    assert outcome.passed is False
    assert [finding["passed"] for finding in outcome.findings] == [True, False]


def test_a_baseline_that_hardly_beats_no_memory_carries_no_claim() -> None:
    ones, zeros = rows([1.0] * 100), rows([0.0] * 100)
    sensitive = decide("noninferiority", ones, ones, floor=zeros)
    assert sensitive.passed is True
    assert only(sensitive)["sensitive"] is True
    # The baseline is surely better than no memory, but not by two margins.
    weak = decide("noninferiority", ones, ones, floor=rows([0.0] * 12 + [1.0] * 88))
    assert weak.passed is False
    assert only(weak)["passed"] is True
    assert "does not beat arch=none" in weak.reason
    unchecked = decide("noninferiority", ones, ones)
    assert only(unchecked)["sensitivity"] == "not checked"


def test_a_baseline_that_hardly_beats_the_best_constant_answer_carries_no_claim() -> None:
    """Seven of ten cases are denials: a baseline right in eight shows next to nothing."""

    def labelled(values: Sequence[float]) -> list[Row]:
        labels = ["DENY"] * 70 + ["APPROVE"] * 30
        return [
            replace(row, expected=label) for row, label in zip(rows(values), labels, strict=True)
        ]

    weak = labelled([1.0] * 80 + [0.0] * 20)
    outcome = decide("noninferiority", weak, weak, floor=labelled([0.0] * 100))
    assert outcome.passed is False, "it beats arch=none by far"
    assert "does not beat always DENY" in outcome.reason
    strong = labelled([1.0] * 100)
    assert decide("noninferiority", strong, strong, floor=labelled([0.0] * 100)).passed is True
    assert only(decide("noninferiority", strong, strong))["sensitive"] is True, "needs no floor"


@pytest.mark.parametrize("name", ["noninferiority", "superiority"])
def test_without_a_baseline_nothing_is_judged(name: str) -> None:
    without = gate(name, baseline=None)
    assert without.baseline is None
    assert without.decide(rows([1.0]), [], seed=7).passed is None


def test_an_open_gate_passes_what_any_other_stops() -> None:
    outcome = decide("open", rows([0.0] * 100), rows([1.0] * 100))
    assert outcome.passed is True
    assert outcome.findings == ()
    assert gate("open").baseline is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: gate("noninferiority", axes=["eba"]), "eda"),
        (lambda: gate("noninferiority", axes=["commit_rate"]), "no better direction"),
        (lambda: gate("noninferiority", axes=[]), "no axis given"),
        (lambda: gate("noninferiority", axes=["eda", "eda"]), "given twice"),
        (lambda: gate("noninferiority", threshold=0.0), "gate.threshold: 0.0 given"),
        (lambda: gate("noninferiority", margin=0.0), "gate.margin: 0.0 given"),
        (lambda: gate("noninferiority", margin=0.0), "superiority"),
        (lambda: gate("superiority", threshold=2.0), "threshold"),
        (lambda: gate("superiority", alpha=0.7), "alpha"),
    ],
)
def test_a_users_mistake_is_one_line(make: Callable[[], object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        make()


def test_the_best_constant_is_judged_on_the_forms_that_were_read() -> None:
    def made(value: float, arm: str) -> list[Row]:
        return [
            replace(row, expected="DENY", form_read=i < 80)
            for i, row in enumerate(rows([value] * 100, axis="eda", arm=arm))
        ]

    outcome = decide("noninferiority", made(1.0, "a"), made(1.0, "b"), made(0.0, "none"))
    assert [finding["n"] for finding in outcome.findings] == [80] * len(outcome.findings)


def test_the_best_constant_is_the_commonest_decision_of_the_forms_that_were_read() -> None:
    baseline = [
        replace(row, expected="PAY" if i < 20 else "DENY", form_read=i < 30)
        for i, row in enumerate(rows([1.0] * 100, axis="eda", arm="b"))
    ]
    found = best_constant(baseline, "eda")
    assert found is not None
    assert found[0] == "PAY", "20 of the 30 that count, 20 of all 100"


def test_the_margin_is_given_by_its_name_or_by_the_former_threshold() -> None:
    for name, given, threshold in (
        ("noninferiority", {"margin": 0.1}, {"threshold": -0.1}),
        ("noninferiority", {}, {"threshold": -0.05}),
        ("superiority", {"margin": 0.1}, {"threshold": 0.1}),
        ("superiority", {}, {"threshold": -0.05}),
    ):
        new, old = gate(name, **given).settings, gate(name, **threshold).settings
        assert new == old
        assert new.identity() == old.identity()
    assert gate("noninferiority").settings.identity()["threshold"] == -0.05, "as of old runs"
    assert gate("superiority").settings.identity()["threshold"] == -0.05
    assert gate("superiority", margin=0.1).settings.identity()["threshold"] == 0.1


def test_how_many_cases_are_needed_is_of_the_gate_s_own_level() -> None:
    ones = rows([1.0] * 80)
    (found,) = decide("noninferiority", ones, ones, alpha=0.01).findings
    assert found["conclusion"] == "cannot conclude"
    assert "80 give -0.0559, 90 are needed" in found["reason"]


def test_a_case_that_an_arm_does_not_offer_counts_as_its_worst() -> None:
    """Else an arm passes by refusing whatever it would get wrong."""
    baseline = rows([float(i % 2) for i in range(200)])
    picky = [
        Row(case_id=r.case_id, arm="a", state="not my kind of case") if i % 2 == 0 else r
        for i, r in enumerate(baseline)
    ]
    assert only(decide("noninferiority", picky, baseline))["delta"] == 0.0
    refused = [
        Row(case_id=r.case_id, arm="a", state="not my kind of case") if i % 2 else r
        for i, r in enumerate(baseline)
    ]
    outcome = decide("noninferiority", refused, baseline)
    assert outcome.passed is False
    assert (only(outcome)["delta"], only(outcome)["errors"]) == (-0.5, 100)


def test_cases_that_the_candidate_leaves_undefined_count_as_the_worst() -> None:
    """An axis over the cases that a memory retained: it must not choose them."""
    baseline = rows([1.0] * 200, axis="kappa")
    candidate = rows([1.0] * 90 + [None] * 110, axis="kappa")
    outcome = decide("noninferiority", candidate, baseline, axes=["kappa"])
    assert outcome.passed is False
    assert (only(outcome)["n"], only(outcome)["n_lost"]) == (200, 110)
    assert "110 cases with a value for the baseline alone, counted as the worst" in outcome.reason
    # What neither defines, and what the baseline alone leaves undefined, says nothing of it.
    other = rows([1.0] * 90 + [None] * 110, axis="kappa")
    outcome = decide("noninferiority", candidate, other, axes=["kappa"])
    assert outcome.passed is True
    assert (only(outcome)["n"], only(outcome)["n_lost"]) == (90, 0)
    outcome = decide("noninferiority", baseline, other, axes=["kappa"])
    assert (only(outcome)["n"], only(outcome)["n_lost"]) == (90, 0)


def test_cases_in_forms_that_are_not_read_are_told() -> None:
    def side(value: float, asked: int) -> list[Row]:
        return [
            Row(case_id=f"c{i:03}", arm="a", axes={"p_ret": 1.0 if i % 2 else value},
                form_read=bool(i % 2), usage={"ingest": Usage(calls=int(i < asked))})
            for i in range(160)
        ]  # fmt: skip

    def judged(asked: int) -> GateOutcome:
        return decide("noninferiority", side(0.0, asked), side(1.0, 0), axes=["p_ret"])

    plain, few, all_ = judged(0), judged(2), judged(160)
    assert [only(one)["n_unread"] for one in (plain, few, all_)] == [0, 1, 80]
    assert "left out" not in plain.reason
    assert "; 1 case left out, in forms that the model does not read" in few.reason
    assert (plain.passed, few.passed) == (False, False), "a call in one case hides that one"
    assert only(all_)["n"] == 80
    assert "; 80 cases left out, in forms that the model does not read" in all_.reason


def test_no_rows_have_no_best_constant() -> None:
    assert best_constant((), "eda") is None
