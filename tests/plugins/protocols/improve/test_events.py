"""The event log: what it takes from a journal, what it compares, and what an event costs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import pytest

from framework.contracts import ProtocolContext
from framework.errors import UserError
from plugins.protocols.improve.events import EventLog

Event = tuple[str, Mapping[str, Any]]


def log_of(recorded: list[Event], **more: Any) -> tuple[EventLog, list[Event]]:
    written: list[Event] = []
    context = ProtocolContext(
        write=lambda type_, payload: written.append((type_, payload)), recorded=recorded, **more
    )
    return EventLog(context), written


def test_what_is_recorded_is_compared_and_not_written_again() -> None:
    log, written = log_of([("a.b", {"x": 1})])
    assert log.emit("a.b", {"x": 1}) == {"x": 1}
    assert written == []
    log.emit("c.d", {"y": (1, 2)})
    assert written == [("c.d", {"y": (1, 2)})]


def test_another_payload_or_type_is_told() -> None:
    log, _ = log_of([("a.b", {"x": 1})])
    with pytest.raises(UserError, match=r"a\.b .* is not what the loop comes to"):
        log.emit("a.b", {"x": 2})
    log, _ = log_of([("a.b", {})])
    with pytest.raises(UserError, match=r"the journal has a\.b where the loop comes to c\.d"):
        log.emit("c.d", {})


def test_a_forks_own_past_holds_as_it_is() -> None:
    log, written = log_of([("a.b", {"x": 1}), ("a.b", {"x": 2})], inherited=1)
    assert log.emit("a.b", {"x": 9}) == {"x": 1}
    with pytest.raises(UserError):
        log.emit("a.b", {"x": 9})
    assert written == []


def test_a_replay_makes_nothing_new() -> None:
    log, written = log_of([], live=False)
    with pytest.raises(UserError, match=r"ends where the loop comes to a\.b"):
        log.emit("a.b", {})
    with pytest.raises(UserError):
        log.take("a.b")
    assert written == []


def test_an_event_costs_the_same_however_many_came_before() -> None:
    log, written = log_of([])
    written_at: list[float] = []
    for _ in range(20):
        start = time.perf_counter()
        for i in range(2_000):
            log.emit("a.b", {"number": i})
        written_at.append(time.perf_counter() - start)
        written.clear()
    first, last = sorted(written_at[:10])[5], sorted(written_at[10:])[5]
    assert last < 3 * first


def test_what_is_opened_is_registered_once() -> None:
    asked: list[str] = []

    def register(digest: str) -> Mapping[str, Any]:
        asked.append(digest)
        return {"number": 1}

    log, written = log_of([], register=register)
    said = log.open("test.opened", {"n": 3}, "sha256:a")
    assert said == {"n": 3, "register": {"number": 1}}
    assert written == [("test.opened", said)]
    again, _ = log_of([("test.opened", said)], register=register)
    assert again.open("test.opened", {"n": 3}, "sha256:a") == said
    assert asked == ["sha256:a"]
    other, _ = log_of([("test.opened", said)], register=register)
    with pytest.raises(UserError, match="not what the loop comes to"):
        other.open("test.opened", {"n": 4}, "sha256:a")
