"""Which operator acted, and whether it was wrong."""

from __future__ import annotations

from framework.records import Answer
from plugins.axes.operators import OPERATORS
from tests.plugins.axes.helpers import DENIAL, values

NAME = OPERATORS[0]


def test_where_none_acted_nothing_is_wrong_or_right() -> None:
    found = values("operators", Answer(decision=DENIAL.decision, provisions=("UP-1",)))
    assert found["fired"] == found[f"fired_{NAME}"] == 0.0
    assert found["fired_wrong"] is None
    assert found[f"wrong_{NAME}"] is None


def test_what_acted_is_counted_right_or_wrong() -> None:
    mark = (f"operator:{NAME}",)
    right = values("operators", Answer(decision=DENIAL.decision, provisions=mark))
    wrong = values("operators", Answer(decision="APPROVE", provisions=mark))
    assert right["fired"] == right[f"fired_{NAME}"] == 1.0
    assert (right["fired_wrong"], wrong["fired_wrong"]) == (0.0, 1.0)
    assert (right[f"wrong_{NAME}"], wrong[f"wrong_{NAME}"]) == (0.0, 1.0)
    assert wrong[f"fired_{OPERATORS[1]}"] == 0.0


def test_without_an_answer_there_is_no_value() -> None:
    assert set(values("operators", None).values()) == {None}
