"""The policy: comparisons, precedence, and what is determined when facts are not all known."""

from __future__ import annotations

import itertools
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.domains.regulated.policy import (
    Condition,
    Policy,
    Rule,
    Value,
    close,
    derive,
    walk,
)

KEYS = ("a", "b", "c")
values = st.integers(0, 4).map(float)
conditions = st.builds(
    lambda fact, comparator, threshold: Condition(
        fact=fact, comparator=comparator, threshold=threshold
    ),
    st.sampled_from(KEYS),
    st.sampled_from(["above", "at or above", "below", "at or below"]),
    values,
)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    rules = [
        Rule(
            id=str(i),
            code=f"UP-{i}",
            decision=draw(st.sampled_from(["DENY", "ABSTAIN"])),
            conditions=tuple(draw(st.lists(conditions, min_size=1, max_size=2))),
            reason="",
        )
        for i in range(draw(st.integers(1, 4)))
    ]
    order = draw(st.permutations(["DENY", "ABSTAIN"]))
    return Policy(rules=tuple(rules), precedence=(*order, "APPROVE"), remaining="APPROVE")


known = st.fixed_dictionaries({}, optional={k: st.frozensets(values, min_size=1) for k in KEYS})


@given(policies(), known)
def test_every_completion_ends_in_one_of_the_outcomes(
    policy: Policy, told: dict[str, frozenset[Value]]
) -> None:
    everything = [told.get(key, frozenset(map(float, range(-1, 6)))) for key in KEYS]
    found = {
        policy.decide(dict(zip(KEYS, combination, strict=True)))[0]
        for combination in itertools.product(*everything)
    }
    assert found <= policy.outcomes(told)


@given(policies(), st.tuples(values, values, values))
def test_full_knowledge_has_one_outcome(policy: Policy, facts: tuple[float, ...]) -> None:
    settled = dict(zip(KEYS, facts, strict=True))
    decision, winners = policy.decide(settled)
    assert policy.outcomes({k: frozenset({v}) for k, v in settled.items()}) == {decision}
    assert all(rule.decision == decision for rule in winners)
    assert bool(winners) == (decision != policy.remaining)


@given(policies(), known)
def test_knowing_less_never_rules_an_outcome_out(
    policy: Policy, told: dict[str, frozenset[Value]]
) -> None:
    less = dict(list(told.items())[1:])
    assert policy.outcomes(told) <= policy.outcomes(less)


def test_a_rule_with_one_false_condition_is_false_whatever_the_other_fact_is() -> None:
    low = Condition(fact="a", comparator="below", threshold=3.0)
    high = Condition(fact="b", comparator="above", threshold=3.0)
    rule = Rule(id="r", code="UP-1", decision="DENY", conditions=(low, high), reason="")
    assert rule.status({"b": frozenset({1.0})}) is False
    assert rule.status({"b": frozenset({4.0})}) is None
    assert rule.status({"a": frozenset({1.0, 2.0}), "b": frozenset({4.0})}) is True


@pytest.mark.parametrize(
    ("statuses", "outcomes"),
    [
        ([("DENY", True), ("REFER", None)], {"DENY"}),
        ([("DENY", None), ("REFER", True)], {"DENY", "REFER"}),
        ([("DENY", False), ("REFER", None)], {"REFER", "APPROVE"}),
        ([("DENY", False), ("REFER", False)], {"APPROVE"}),
    ],
)
def test_the_walk_down_the_precedence(
    statuses: list[tuple[str, bool | None]], outcomes: set[str]
) -> None:
    assert walk(statuses, ("DENY", "REFER", "APPROVE"), "APPROVE") == outcomes


def test_comparisons() -> None:
    def holds(comparator: str, threshold: float | date | tuple[str, ...], value: Value) -> bool:
        return Condition(fact="f", comparator=comparator, threshold=threshold).holds(value)

    assert holds("at or above", 3.0, 3.0)
    assert not holds("above", 3.0, 3.0)
    assert holds("before", date(2026, 3, 2), date(2026, 3, 1))
    assert not holds("after", date(2026, 3, 2), date(2026, 3, 2))
    assert holds("one of", ("hail", "fire"), "fire")
    assert holds("not one of", ("hail", "fire"), "flood")


def test_derivations_close_over_conflicts_and_stop_at_gaps() -> None:
    formulas = {"ratio": "a / b", "double": "2 * ratio"}
    told = {"a": frozenset({2.0, 4.0}), "b": frozenset({2.0})}
    closed = close(told, formulas)
    assert closed["ratio"] == {1.0, 2.0}
    assert closed["double"] == {2.0, 4.0}
    assert "ratio" not in close({"a": frozenset({2.0})}, formulas)
    assert derive({"a": 4.0, "b": 2.0, "ratio": 9.0}, formulas)["double"] == 4.0
