"""A history as a script: events, and between them what is done to the memory that took them in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from framework.records import Event
from framework.text.canonical import canonical_json
from framework.text.reading import read_json

OPERATION: Final = "operation"
"""Kind of the events that are no part of what a memory is told."""

OPEN: Final = "open"
"""`name`: what follows goes to a memory of this name, opened where there is none."""
FORGET: Final = "forget"
"""`ids`, `way` (`own` or `by_id`): delete these events."""
SEARCH: Final = "search"
"""`searches`: ask, and count."""
WRITE: Final = "write"
"""`event`: an event that is written again, under the id that it had."""
AT_ONCE: Final = "at_once"
"""`events`, `writers`: these events, by so many writers at once."""
TIME: Final = "time"
"""`writes`, `queries`: time so many single writes, and each query once."""

ASKED: Final = "asked"
"""Of a search whose result says nothing: a memory is asked so that what is written next is late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """One question to a memory, and the value that its results are read for.

    what : the group of searches that it belongs to. moment : `before` or `after` what is probed.
    """

    what: str
    moment: str
    query: str
    value: str

    @property
    def id(self) -> str:
        """`what/moment/query`, of which `read_id` is the other way."""
        return f"{self.what}/{self.moment}/{self.query}"


def read_id(id_: str) -> tuple[str, str, str]:
    """What, moment and query of a search."""
    what, moment, query = id_.split("/", 2)
    return what, moment, query


def operation(number: int, do: str, **given: Any) -> Event:
    """The `number`-th operation of a script."""
    return Event(
        id=f"op{number}",
        text=canonical_json({"do": do, **given}),
        time="2026-06-30",
        kind=OPERATION,
    )


def read_operation(event: Event) -> Mapping[str, Any]:
    """What an operation does: `do`, and what it is given."""
    found: dict[str, Any] = read_json(event.text)
    return found


def plain_searches(searches: Iterable[Search]) -> list[dict[str, str]]:
    """Searches as an operation holds them."""
    return [asdict(search) for search in searches]


def plain_event(event: Event) -> dict[str, str]:
    """An event as an operation holds it."""
    return {"id": event.id, "text": event.text, "time": event.time, "kind": event.kind}
