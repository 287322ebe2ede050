"""What the tests of the generator share: small domains, and a policy evaluator of their own."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from datetime import date
from functools import cache
from typing import Any

from framework.records import Case
from plugins.domains.regulated.domain import Regulated
from plugins.domains.regulated.policy import Policy
from plugins.domains.regulated.sampled import Sampled
from plugins.domains.regulated.settings import RegulatedSettings

SPECS = (
    *("loan", "claims", "prior_authorization"),
    *("change_release", "lab_results", "voucher_hearing"),
)
SEED = 20
CASES = 200

COMPARE = {
    "above": operator.gt,
    "at or above": operator.ge,
    "below": operator.lt,
    "at or below": operator.le,
    "after": operator.gt,
    "before": operator.lt,
    "one of": lambda value, words: value in words,
    "not one of": lambda value, words: value not in words,
}


def domain(spec: str = "loan", **settings: Any) -> Regulated:
    return Regulated(RegulatedSettings(spec=spec, **settings))


@cache
def shared(spec: str) -> Regulated:
    """One domain of default settings for all tests."""
    return domain(spec)


@cache
def cases(spec: str) -> tuple[Case, ...]:
    return tuple(shared(spec).cases(CASES, SEED))


def of_stratum(spec: str, stratum: str) -> Iterator[tuple[int, Case, Sampled]]:
    for index, case in enumerate(cases(spec)):
        if case.stratum == stratum:
            yield index, case, shared(spec).sampled(SEED, index)


def only(stratum: str) -> Mapping[str, float]:
    return {stratum: 1.0}


def recomputed(policy: Policy, facts: Mapping[str, float | date | str]) -> tuple[str, list[str]]:
    """Decision and codes of the rules that gave it, computed again and not by the product."""
    for decision in policy.precedence:
        codes = []
        for rule in policy.rules:
            true = [COMPARE[c.comparator](facts[c.fact], c.threshold) for c in rule.conditions]
            if rule.decision == decision and all(true):
                codes.append(rule.code)
        if codes:
            return decision, codes
    return policy.remaining, []


def derived(spec: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The derived facts of each domain, by arithmetic written out here."""
    f = facts
    match spec:
        case "loan":
            return {
                "dti": round(12_000 * f["monthly_debt"] / f["income"]) / 10,
                "ltv": round(1_000 * f["loan_amount"] / f["appraised_value"]) / 10,
            }
        case "claims":
            covered = min(f["repair_estimate"], f["dwelling_limit"])
            return {
                "net_payment": max(0, covered - f["deductible"]),
                "report_delay": (f["report_date"] - f["date_of_loss"]).days,
                "policy_age": (f["date_of_loss"] - f["policy_start"]).days,
            }
        case "change_release":
            return {
                "interruption": f["downtime"] + f["rollback"],
                "exposed": f["active_accounts"] * f["first_wave"] / 100,
                "audit_age": (f["submitted"] - f["audit_date"]).days,
            }
        case "lab_results":
            return {
                "total_error": f["field_error"] + f["bench_error"],
                "repeat_cost": f["points"] * f["price"],
                "holding": (f["analyzed"] - f["collected"]).days,
            }
        case "voucher_hearing":
            return {
                "income": f["wages"] + f["other_income"],
                "stake": f["subsidy"] * f["term"],
                "delay": (f["asked_date"] - f["notice_date"]).days,
            }
        case _:
            return {
                "total": f["requested"] + f["used"],
                "request_cost": f["requested"] * f["cost"],
                "imaging_age": (f["request_date"] - f["imaging_date"]).days,
            }
