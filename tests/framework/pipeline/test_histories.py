"""Histories are made once, as lazily as their domain gives them, and only the last are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from framework.pipeline import histories
from framework.pipeline.histories import events_of
from framework.records import Event


class Counted:
    """Gives ten events a history and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.given = 0

    def history(self, history_id: str) -> Iterator[Event]:
        self.asked[history_id] += 1
        for number in range(10):
            self.given += 1
            yield Event(id=f"{number}", text=f"{history_id} {number}", time="", kind="note")


def test_a_history_is_made_once_for_a_domain() -> None:
    one: Any = Counted()
    other: Any = Counted()
    first = list(events_of(one, "a"))
    assert list(events_of(one, "a")) == first
    assert list(events_of(other, "a")) == first
    assert one.asked == other.asked == {"a": 1}


def test_a_history_is_taken_lazily_and_kept_only_whole() -> None:
    domain: Any = Counted()
    assert [e.id for e in islice(events_of(domain, "a"), 3)] == ["0", "1", "2"]
    assert domain.given == 3
    assert len(list(events_of(domain, "a"))) == 10
    assert domain.asked == {"a": 2}


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    domain: Any = Counted()
    monkeypatch.setattr(histories, "MOST_KEPT", 12_000)  # two histories of ten events
    for history_id in ("a", "b", "a", "c", "a", "b"):
        assert len(list(events_of(domain, history_id))) == 10
    assert domain.asked == {"a": 1, "b": 2, "c": 1}
    monkeypatch.setattr(histories, "MOST_KEPT", 100)
    assert [e.id for e in events_of(domain, "long")] == [str(n) for n in range(10)]
    assert len(list(events_of(domain, "long"))) == 10
    assert domain.asked["long"] == 2
