"""Where in a history the gold lies is not to be told from where the rest lies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.attacks.order import DOMAINS, HELD, Known, opened, places
from framework.contracts import Domain
from framework.records import Event

SEED = 31


def check(option: str, n: int) -> None:
    one = Known(opened(option), n, SEED)
    for dates in (False, True):
        place = places(one, one.cases, dates=dates)
        assert place is not None
        print(f"{'date' if dates else 'arrival'}: {place}")
        assert place.at_chance, place


@pytest.mark.slow
@pytest.mark.parametrize("option", HELD)
def test_neither_place_nor_date_tells_the_gold(option: str) -> None:
    check(option, 150)


@pytest.mark.slow
@pytest.mark.parametrize("option", DOMAINS)
def test_neither_place_nor_date_tells_the_gold_on_more_cases(option: str) -> None:
    check(option, 500)


class _Early:
    """A domain whose policy arrives first, as it did before version 5."""

    def __init__(self, domain: Domain[Any]) -> None:
        self._domain = domain

    def history(self, history_id: str) -> Iterator[Event]:
        events = list(self._domain.history(history_id))
        early = sorted(events, key=lambda event: event.kind != "policy")
        times = sorted(event.time for event in events)
        return (replace(e, time=day) for e, day in zip(early, times, strict=True))


def test_a_policy_that_comes_first_is_found() -> None:
    domain = opened("loan")
    early: Any = _Early(domain)
    for dates in (False, True):
        place = places(early, list(domain.cases(60, SEED)), dates=dates)
        assert place is not None
        assert place.auc < 0.4, place
        assert not place.at_chance
