"""EDA, FRP, RCS, CRR and CAR on hand-made answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from framework.records import ABSTAIN, Answer, Gold, Retired, Row
from framework.registry import plugins
from tests.plugins.axes.helpers import (
    DENIAL,
    INCOME,
    RULE,
    SCORE,
    STANDARD,
    score,
    scored,
    values,
    view,
)

NOTICE = (
    "We deny your request because: credit score too low. "
    "UP-1. Deny if the credit score is below 640."
)
RIGHT = Answer(
    decision="DENY",
    facts={"income": "147500", "credit_score": "601"},
    rationale="The credit score is 601, which is below the 640 of UP-1. Income is $147,500.",
    notice=NOTICE,
    reasons=("Credit score too low",),
)
ABSTAINED = Answer(decision=ABSTAIN)
REFERRED = Gold(items=DENIAL.items, decision=ABSTAIN, adverse=("DENY",), standard=STANDARD)


# ------------------------------------------------------------------------------------- every axis


def test_every_axis_declares_all_its_names() -> None:
    seen: set[str] = set()
    for plugin in plugins("axis"):
        names = plugin.cls.names
        assert set(plugin.cls.higher_is_better) == set(names), plugin.name
        assert plugin.cls.model_free <= set(names), plugin.name
        assert not (plugin.cls.needs_answer and plugin.cls.model_free), plugin.name
        assert not seen & set(names), plugin.name
        seen |= set(names)


@pytest.mark.parametrize("axis", ["eda", "frp", "rcs", "crr", "car", "use", "robustness"])
def test_without_an_answer_or_without_gold_nothing_is_zero(axis: str) -> None:
    assert set(values(axis, None).values()) == {None}
    assert set(values(axis, RIGHT, Gold()).values()) == {None}
    assert set(values(axis, RIGHT, Gold())) == set(
        next(p.cls.names for p in plugins("axis") if p.name == axis)
    )


# --------------------------------------------------------------------------------------------- EDA


def labels(answer: Answer, gold: Gold = DENIAL) -> dict[str, float | None]:
    found = values("eda", answer, gold)
    assert found["eda_determined"] == (None if answer.defaulted else found["eda"])
    assert found["eda_undetermined"] == (found["eda"] if answer.defaulted else None)
    return {name: found[name] for name in ("eda", "decision_accuracy")}


def test_eda_wants_the_very_label_and_the_amount() -> None:
    gold = replace(DENIAL, decision="PAY", amount=8500.0, amount_tolerance=1.0)
    paid = Answer(decision="PAY", amount=8500.5)
    assert labels(paid, gold) == {"eda": 1.0, "decision_accuracy": 1.0}
    for amount in (8502.0, None):
        wrong = replace(paid, amount=amount)
        assert labels(wrong, gold) == {"eda": 0.0, "decision_accuracy": 1.0}
    for label in ("PARTIAL PAY", "", "pay", ABSTAIN):
        wrong = replace(paid, decision=label)
        assert labels(wrong, gold) == {"eda": 0.0, "decision_accuracy": 0.0}


# --------------------------------------------------------------------------------------------- FRP


def test_frp_compares_typed_values_by_key() -> None:
    found = score("frp", scored(RIGHT))
    assert found.values == {
        "frp": 1.0,
        "frp_precision": 1.0,
        "frp_critical": 1.0,
        "frp_prose": 1.0,
        "frp_guessed": 0.0,
    }
    assert "in prose: income, credit_score" in found.evidence
    assert "credit_score: gold 601, claimed 601: right" in found.evidence


@pytest.mark.parametrize("claim", ["602", "601 or 640", "about six hundred", "", "1601"])
def test_a_wrong_double_or_paraphrased_claim_is_wrong(claim: str) -> None:
    answer = replace(RIGHT, facts={"income": "$147,500", "credit_score": claim})
    assert values("frp", answer) == {
        "frp": 0.5,
        "frp_precision": 0.5,
        "frp_critical": 0.0,
        "frp_prose": 1.0,
        "frp_guessed": 0.0,
    }


@pytest.mark.parametrize(
    ("rationale", "notice", "share"),
    [
        ("", "", 0.0),
        ("", "Your credit score of 601 is too low.", 0.5),
        ("Credit score 601; income of $147,500.00.", "", 1.0),
        ("601 is too low.", "", 0.0),  # of what?
        ("The credit score is about six hundred.", "", 0.0),
        ("The credit score was formerly 601.", "", 0.0),
        ("The credit score is 602.", "Deny if the credit score is below 601.", 0.0),
        ("The credit score is 601.", "The credit score is 655.", 0.0),  # retired, as current
        ("The credit score is 601.", "", 0.0),  # copied from the view
        ("Your credit score is 601.", "The credit score, formerly 655, rules it out.", 0.5),
        ("The credit score of 601 is below the 620 of UP-1.", "", 0.5),
        ("Credit score: 601, 620, 655.", "", 0.0),  # which?
        ("The credit score is 601 and the income $147,500.", "", 1.0),
        ("The credit score of 601 is too low.", "The credit score of 601 is not too low.", 0.0),
        ("It is not true that the credit score of 601 is too low.", "", 0.5),
        ("The credit score of 601 is or is not too low.", "", 0.0),
        ("The credit score of 601 is too low.", "the  credit score of 601 is too low", 0.5),
        ("The credit score of 601 is too low.", "The credit score of 601 is too low.", 0.5),
    ],
)
def test_prose_states_a_fact_with_its_name_and_without_its_retired_value(
    rationale: str, notice: str, share: float
) -> None:
    gold = replace(DENIAL, retired=(Retired(key="credit_score", value="655", type="score"),))
    answer = replace(RIGHT, rationale=rationale, notice=notice)
    assert values("frp", answer, gold)["frp_prose"] == share
    assert values("frp", answer, gold)["frp"] == 1.0


def test_an_omitted_fact_lowers_recall_alone_and_values_are_not_exchangeable() -> None:
    one = replace(RIGHT, facts={"credit_score": "601"})
    assert values("frp", one)["frp"] == 0.5
    assert values("frp", one)["frp_precision"] == 1.0
    assert values("frp", replace(RIGHT, facts={"income": "601"}))["frp"] == 0.0
    assert values("frp", replace(RIGHT, facts={}))["frp_precision"] is None


def test_abstaining_scores_no_facts_but_where_it_is_the_decision() -> None:
    answer = replace(ABSTAINED, facts=RIGHT.facts)
    assert values("frp", answer)["frp"] == 0.0
    assert values("frp", answer)["frp_critical"] == 0.0
    told = replace(answer, rationale=RIGHT.rationale)
    assert values("frp", told)["frp_prose"] == 0.0
    assert values("frp", told, REFERRED)["frp_prose"] == 1.0
    assert values("frp", answer, REFERRED)["frp"] == 1.0


def test_right_facts_that_the_view_did_not_hold_are_guessed() -> None:
    assert values("frp", RIGHT, seen=view())["frp_guessed"] == 1.0
    assert values("frp", RIGHT, seen=view(SCORE.spans[0].text))["frp_guessed"] == 0.5


# --------------------------------------------------------------------------------------------- RCS


def test_rcs_is_the_share_of_points_entailed() -> None:
    assert values("rcs", RIGHT) == {"rcs": 1.0}
    partly = replace(RIGHT, rationale="The credit score is 601. It is below 640. Income: $147,500")
    assert values("rcs", partly) == {"rcs": 0.5}
    assert values("rcs", replace(RIGHT, rationale="")) == {"rcs": 0.0}


def test_what_is_copied_from_the_view_is_no_reasoning() -> None:
    seen = view("The file shows this. The credit score of 601 is below the minimum of 640.")
    copied = replace(RIGHT, rationale=seen.text)
    assert values("rcs", copied, seen=seen) == {"rcs": 0.0}
    own = replace(RIGHT, rationale=f"{seen.text} So the score of 601 is under the minimum.")
    assert values("rcs", own, seen=seen) == {"rcs": 0.5}


# --------------------------------------------------------------------------------------------- CRR


def test_a_right_denial_with_a_full_notice_complies() -> None:
    assert values("crr", RIGHT) == {
        "crr": 1.0,
        "crr_published": 1.0,
        "crr_quote": 1.0,
        "crr_fcra": None,
        "audited": 1.0,
        "wrongful_adverse": None,
        "reason_score": 1.0,
        "reason_precision": 1.0,
        "reason_recall": 1.0,
    }


def test_wrong_approvals_and_abstentions_comply_only_by_the_published_convention() -> None:
    for decision in ("APPROVE", ABSTAIN):
        found = values("crr", Answer(decision=decision))
        assert (found["crr"], found["crr_quote"], found["crr_published"]) == (0.0, 0.0, 1.0)
        assert (found["reason_recall"], found["reason_precision"]) == (0.0, None)


def test_a_missing_demand_or_a_forbidden_word_fails() -> None:
    unquoted = values("crr", replace(RIGHT, notice="We deny it because: credit score too low."))
    assert (unquoted["crr"], unquoted["crr_quote"]) == (1.0, 0.0)
    for notice in ("", NOTICE + " It fails our internal standards."):
        found = values("crr", replace(RIGHT, notice=notice))
        assert (found["crr"], found["crr_published"]) == (0.0, 0.0)


def test_listing_every_reason_loses() -> None:
    answer = replace(RIGHT, reasons=("credit score too low", "income insufficient"))
    found = values("crr", answer)
    assert (found["crr"], found["reason_precision"], found["reason_recall"]) == (0.0, 0.5, 1.0)
    assert found["reason_score"] == 0.5, "one of the two others"
    everything = replace(RIGHT, reasons=DENIAL.all_reasons)
    assert values("crr", everything)["reason_score"] == 0.0
    assert values("crr", everything)["crr_quote"] == 0.0
    no_other = replace(DENIAL, all_reasons=DENIAL.principal_reasons)
    assert values("crr", RIGHT, no_other)["reason_score"] is None
    told = replace(RIGHT, reasons=(), notice=NOTICE + " Also: income insufficient.")
    assert values("crr", told)["reason_precision"] == 0.5


@pytest.mark.parametrize(
    ("answer", "judged"),
    [
        (RIGHT, True),
        (replace(RIGHT, notice=""), True),
        (replace(RIGHT, reasons=("credit score too low", "income insufficient")), False),
        (Answer(decision="APPROVE"), False),
        (ABSTAINED, False),
    ],
)
def test_crr_rests_on_a_verdict_only_where_all_else_is_right(answer: Answer, judged: bool) -> None:
    found = values("crr", answer)
    success = float(answer.decision == DENIAL.decision)
    row = Row(case_id="c", arm="a", decision=answer.decision, success=success, axes=found)
    (of_axis,) = (p.cls for p in plugins("axis") if p.name == "crr")
    assert of_axis.has_verdict(row, "crr") is judged
    assert found["crr"] == 0.0 or judged, "what has no verdict is 0"
    assert of_axis.has_verdict(row, "crr_fcra") is (success == 1), "a false reason is no matter"
    audited = of_axis.has_verdict(row, "crr_published")
    assert audited is (answer.decision == DENIAL.decision)
    assert found["crr_published"] == 1.0 or audited, "what has no verdict is 1"


def test_each_audited_column_says_of_what_kind_its_verdicts_are() -> None:
    (of_axis,) = (p.cls for p in plugins("axis") if p.name == "crr")
    assert set(of_axis.corrected.values()) == of_axis.judged == set(of_axis.demands)
    assert of_axis.demand_of("crr_published") == of_axis.demand_of("crr") == "audit"
    assert of_axis.demand_of("crr_fcra") == "audit_fcra"


@pytest.mark.parametrize("longer", ["credit score too low", "score too low for the product"])
def test_a_reason_within_a_longer_one_is_not_stated_by_it(longer: str) -> None:
    gold = replace(
        DENIAL, principal_reasons=(longer,), all_reasons=("score too low", longer, "low income")
    )
    told = replace(RIGHT, reasons=(), notice=f"We deny it because: {longer}.")
    assert values("crr", told, gold)["reason_precision"] == 1.0


def test_a_wrong_amount_is_a_wrong_adverse_decision() -> None:
    gold = replace(DENIAL, amount=100.0)
    assert values("crr", replace(RIGHT, amount=90.0), gold)["crr"] == 0.0
    assert values("crr", replace(RIGHT, amount=100.0), gold)["crr"] == 1.0


def test_wrongful_adverse_actions_are_counted_apart() -> None:
    approve = replace(DENIAL, decision="APPROVE")
    found = values("crr", RIGHT, approve)
    assert (found["wrongful_adverse"], found["crr"], found["crr_published"]) == (1.0, None, 1.0)
    assert values("crr", RIGHT, REFERRED)["wrongful_adverse"] == 1.0
    assert values("crr", Answer(decision="APPROVE"), approve)["wrongful_adverse"] == 0.0


# --------------------------------------------------------------------------------------------- CAR


def test_car_on_a_decidable_case() -> None:
    assert values("car", RIGHT) == {
        "commit_rate": 1.0,
        "default_rate": 0.0,
        "conditional_accuracy": 1.0,
        "commit_all_accuracy": 1.0,
        "abstention_case": 1.0,
        "abstention_view": 1.0,
    }
    assert values("car", replace(RIGHT, defaulted=True))["default_rate"] == 1.0
    wrong = values("car", Answer(decision="APPROVE"))
    assert (wrong["conditional_accuracy"], wrong["commit_all_accuracy"]) == (0.0, 0.0)
    for decision in (ABSTAIN, ""):
        assert values("car", Answer(decision=decision)) == {
            "commit_rate": 0.0,
            "default_rate": 0.0,
            "conditional_accuracy": None,
            "commit_all_accuracy": 0.0,
            "abstention_case": 0.0,
            "abstention_view": 0.0,
        }


def test_undecidable_from_the_view_is_not_undecidable_from_the_case() -> None:
    seen = view(INCOME.spans[0].text, RULE.spans[0].text)
    abstained = values("car", ABSTAINED, seen=seen)
    assert (abstained["abstention_case"], abstained["abstention_view"]) == (0.0, 1.0)
    guessed = values("car", RIGHT, seen=seen)
    assert (guessed["abstention_case"], guessed["abstention_view"]) == (1.0, 0.0)


def test_abstaining_is_right_where_gold_abstains() -> None:
    found = values("car", ABSTAINED, REFERRED)
    assert (found["abstention_case"], found["commit_all_accuracy"]) == (1.0, 0.0)
    assert values("eda", ABSTAINED, REFERRED)["eda"] == 1.0
