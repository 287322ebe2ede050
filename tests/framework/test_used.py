"""Whether an answer uses a gold item."""

from __future__ import annotations

import pytest

from framework.records import Answer, FactField, GoldItem, TaskCard
from framework.retention import used

INCOME = GoldItem(id="f", kind="fact", key="income", type="money", anchors=("$84,000",))
CARD = TaskCard(
    instruction="", query="", fields=(FactField(key="income", label="income", type="money"),)
)


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        ({"income": "$84,000.00"}, True),
        ({"income": "$48,000"}, False),
        ({"debt": "$84,000"}, False),
        ({}, False),
    ],
)
def test_a_fact_is_used_when_its_value_is_stated_for_its_key(
    facts: dict[str, str], found: bool
) -> None:
    assert used(Answer(facts=facts), CARD, INCOME) is found


def test_it_is_not_known_of_what_an_answer_does_not_state() -> None:
    answer = Answer(facts={"income": "$84,000"}, provisions=("U-1",))
    rule = GoldItem(id="r", kind="rule", key="U-1", anchors=("U-1",))
    assert used(answer, CARD, rule) is None
    assert used(answer, TaskCard(instruction="", query=""), INCOME) is None
