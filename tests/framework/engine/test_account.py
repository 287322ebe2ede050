"""The line on what a run spent."""

from __future__ import annotations

from framework.engine.account import told
from framework.models.spending import Spent


def test_dollars_are_told_where_something_had_a_price() -> None:
    spent = Spent(usd=0.5, calls=3, tokens=40, lost_calls=1, lost_usd=0.25)
    assert told(spent, "run") == (
        "spent by the run: $0.5000, 3 calls, 40 tokens; 1 call whose answer never came may have "
        "been billed as well, at most $0.2500"
    )


def test_without_a_price_no_dollars_are_told() -> None:
    spent = Spent(calls=3, tokens=40, lost_calls=1)
    assert told(spent, "run") == (
        "spent by the run: 3 calls, 40 tokens; 1 call whose answer never came may have been "
        "billed as well"
    )
