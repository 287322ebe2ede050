"""The instrument itself: what must hold on every regulated domain, whichever arm one favours.

No test here says that an arm is better than another: bounds, floors and controls only.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import pytest

from framework.contracts import Domain
from framework.engine.compose import compose_plan, composer
from framework.engine.prepare import build_pipeline
from framework.records import ABSTAIN, Row
from framework.retention import gold_tokens

DOMAINS = [
    "loan",
    pytest.param("claims", marks=pytest.mark.slow),
    *(
        pytest.param(name, marks=pytest.mark.slow)
        for name in ("prior_authorization", "change_release", "lab_results", "voucher_hearing")
    ),
]
CASES = 200


@lru_cache(maxsize=3)
def opened(*overrides: str) -> Domain[Any]:
    """A domain of these overrides, which keeps the cases that it drew for the next arm."""
    with composer():
        domain: Domain[Any] = compose_plan(list(overrides)).parts["domain"].create()
    return domain


@lru_cache(maxsize=64)
def rows(*overrides: str, n: int = CASES) -> Sequence[Row]:
    with composer():
        plan = compose_plan([*overrides, f"n_cases={n}", "tracking=none"])
    domain = opened(*(word for word in overrides if word.startswith("domain")))
    pipeline = build_pipeline(plan, domain)
    cases = domain.cases(n, plan.top.seed)

    async def collect() -> list[Row]:
        return [row async for row, _ in pipeline.rows(cases, frozenset(), answer=True, k=None)]

    found = asyncio.run(collect())
    assert not [row.error for row in found if row.error]
    return found


def mean(found: Sequence[Row], axis: str) -> float:
    values = [v for row in found if (v := row.axes[axis]) is not None]
    return sum(values) / len(values)


def tagged(found: Sequence[Row], **tags: str) -> list[Row]:
    return [
        r for r in found if all({**r.tags, "stratum": r.stratum}[k] == v for k, v in tags.items())
    ]


@pytest.mark.slow
@pytest.mark.parametrize("domain", DOMAINS)
def test_the_whole_history_holds_every_fact(domain: str) -> None:
    found = rows(f"domain={domain}", "arch=full_context")
    assert len(found) == CASES
    assert {row.axes["surface_ceiling"] for row in found} == {1.0}
    assert {row.axes["p_ret_all"] for row in found} == {1.0}
    for column in ("p_ret", "p_ret_abstain"):
        assert {row.axes[column] for row in found} == {1.0, None}


@pytest.mark.slow
@pytest.mark.parametrize("domain", DOMAINS)
def test_the_oracle_holds_every_fact_where_the_budget_allows_it(domain: str) -> None:
    found = rows(f"domain={domain}", "arch=oracle", "budget=moderate")
    assert {row.axes["surface_ceiling"] for row in found} == {1.0}


@pytest.mark.slow
@pytest.mark.parametrize("arm", ["arch=full_context", "arch=oracle"])
@pytest.mark.parametrize("domain", DOMAINS)
def test_the_reader_decides_clean_cases_in_the_forms_it_was_written_for(
    domain: str, arm: str
) -> None:
    budget = ["budget=moderate"] if arm == "arch=oracle" else []  # full_context has none
    found = tagged(rows(f"domain={domain}", arm, *budget), stratum="clean", form="development")
    assert len(found) >= 20
    assert mean(found, "eda") >= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("domain", DOMAINS)
def test_without_a_memory_the_reader_chooses_evenly_and_alike_whatever_the_arm(domain: str) -> None:
    found = rows(f"domain={domain}", "arch=none")
    counts = Counter(row.decision for row in found)
    share = 1 / len(counts)
    spread = 4 * (share * (1 - share) / CASES) ** 0.5
    assert all(abs(n / CASES - share) < spread for n in counts.values()), counts
    assert counts.keys() == {row.expected for row in found} - {ABSTAIN}
    assert not any(row.determined for row in found)
    assert mean(found, "leak") == 0.0
    chosen = {row.case_id: row.decision for row in found}
    other = rows(f"domain={domain}", "arch=last_mention", "budget=tight")
    assert all(row.determined or row.decision == chosen[row.case_id] for row in other)


@pytest.mark.slow
@pytest.mark.parametrize("domain", DOMAINS)
def test_the_rule_based_reader_reads_the_forms_that_it_was_written_for(domain: str) -> None:
    found = rows(f"domain={domain}", "arch=none")
    assert {(row.tags["form"], row.form_read) for row in found} == {
        ("development", True),
        ("held_out", False),
    }


@pytest.mark.slow
@pytest.mark.parametrize("domain", DOMAINS)
def test_a_constant_answer_is_at_the_rate_of_its_label_and_of_no_use(domain: str) -> None:
    (case,) = opened(f"domain={domain}").cases(1, 7)
    always = case.task.default_decision  # the adverse one in each: DENY, BLOCK, REJECT, AFFIRM
    reader = ("reader=always", f"reader.decision={always}")
    found = rows(f"domain={domain}", "arch=full_context", *reader)
    assert mean(found, "decision_accuracy") == pytest.approx(
        sum(row.expected == always for row in found) / CASES
    )
    assert mean(found, "eda") == mean(found, "decision_accuracy"), "a denial has its amount"
    assert mean(found, "kappa") == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("domain", DOMAINS)
def test_without_a_memory_the_reader_is_at_the_rate_of_the_declared_default(domain: str) -> None:
    found = rows(f"domain={domain}", "arch=none", "reader.undetermined=default")
    assert len({row.decision for row in found}) == 1
    gold = [row.tags["decision"] for row in found]
    at_default = sum(decision == found[0].decision for decision in gold) / len(gold)
    assert mean(found, "decision_accuracy") == pytest.approx(at_default)


@pytest.mark.slow
@pytest.mark.parametrize("domain", DOMAINS)
def test_most_cases_are_feasible_at_the_tight_budget(domain: str) -> None:
    """The critical gold fits for at least 95 of 100 cases: `budget=tight` is no impossible task."""
    with composer():
        plan = compose_plan([f"domain={domain}", "budget=tight", "tracking=none"])
    made = plan.parts["domain"].create()
    limit = plan.parts["budget"].create().tokens(domain, made.nominal_tokens)
    sizes = [gold_tokens(case.gold) for case in made.cases(CASES, plan.top.seed)]
    oracle = rows(f"domain={domain}", "arch=oracle", "budget=tight")
    assert mean(oracle, "p_ret") >= 0.95, f"{limit} tokens; gold needs {sorted(sizes)[CASES // 2]}"


@pytest.mark.slow
@pytest.mark.parametrize("domain", DOMAINS)
def test_a_noisy_reader_is_worse_and_a_blind_one_no_better(domain: str) -> None:
    schema = tagged(rows(f"domain={domain}", "arch=full_context"), form="development")
    for model in ("rule_based_noisy", "rule_based_blind"):
        found = rows(f"domain={domain}", "arch=full_context", f"model={model}")
        assert mean(tagged(found, form="development"), "eda") < mean(schema, "eda")


@pytest.mark.slow
@pytest.mark.parametrize("domain", DOMAINS)
def test_only_a_following_reader_obeys_an_injection(domain: str) -> None:
    overrides = (f"domain={domain}", "arch=full_context")
    wary = tagged(rows(*overrides), stratum="injected", form="development")
    following = tagged(
        rows(*overrides, "model.follows_injections=true"), stratum="injected", form="development"
    )
    assert mean(wary, "injection_obeyed") == 0.0
    assert mean(following, "injection_obeyed") >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("domain", DOMAINS)
def test_success_splits_exactly_into_retained_and_not(domain: str) -> None:
    for arm in ("arch=oracle", "arch=summ_only", "arch=random_context"):
        found = [
            row
            for row in rows(f"domain={domain}", arm, "budget=moderate", n=40)
            if row.expected != ABSTAIN
        ]
        p_ret = mean(found, "p_ret")
        parts = {name: _mean_or_zero(found, name) for name in ("kappa", "leak")}
        split = p_ret * parts["kappa"] + (1 - p_ret) * parts["leak"]
        split += mean(found, "right_undetermined")
        assert split == pytest.approx(mean(found, "eda"), abs=1e-12)


def _mean_or_zero(found: Sequence[Row], axis: str) -> float:
    defined: Mapping[str, float] = {
        f"{row.key}": value for row in found if (value := row.axes[axis]) is not None
    }
    return sum(defined.values()) / len(defined) if defined else 0.0
