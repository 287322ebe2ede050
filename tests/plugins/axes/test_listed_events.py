"""What was listed and what of it nothing supports, where the operator acted."""

from __future__ import annotations

from framework.records import Answer
from tests.plugins.axes.helpers import values

TALLIES = ("count_listed_events:listed=3", "count_listed_events:unsupported=1")


def test_the_tallies_are_counts_and_without_them_there_is_no_value() -> None:
    found = values("listed_events", Answer(provisions=("UP-1", *TALLIES)))
    assert found == {"events_listed": 3.0, "events_unsupported": 1.0}
    nothing = {"events_listed": None, "events_unsupported": None}
    assert values("listed_events", Answer(provisions=("UP-1",))) == nothing
    assert values("listed_events", Answer(provisions=("another:listed=3",))) == nothing
    assert values("listed_events", None) == nothing


def test_two_that_acted_add_up() -> None:
    """A loop may install it under two guards that both fire."""
    found = values("listed_events", Answer(provisions=(*TALLIES, *TALLIES)))
    assert found == {"events_listed": 6.0, "events_unsupported": 2.0}
