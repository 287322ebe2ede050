"""The last histories of a domain, made once for all runs of a process that share the domain."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, Final
from weakref import WeakKeyDictionary

from framework.contracts import Domain
from framework.records import Event

MOST_KEPT: Final = 32_000_000
"""Characters of events that are kept of one domain; a longer history is made again each time."""
_EVENT: Final = 500
"""What an event takes beside its text, in characters."""


class _Kept:
    """The histories of one domain that were asked for last, within `MOST_KEPT`."""

    def __init__(self) -> None:
        self._made: OrderedDict[str, tuple[tuple[Event, ...], int]] = OrderedDict()
        self._size = 0

    def get(self, history_id: str) -> tuple[Event, ...] | None:
        if history_id not in self._made:
            return None
        self._made.move_to_end(history_id)
        return self._made[history_id][0]

    def keep(self, history_id: str, events: tuple[Event, ...], size: int) -> None:
        if history_id in self._made:  # two made it at once
            return
        self._made[history_id] = events, size
        self._size += size
        while self._size > MOST_KEPT:
            self._size -= self._made.popitem(last=False)[1][1]


_kept: WeakKeyDictionary[Domain[Any], _Kept] = WeakKeyDictionary()


def events_of(domain: Domain[Any], history_id: str) -> Iterator[Event]:
    """The events of a history, as lazily as the domain gives them.

    A history that was read to its end before is not made again while it is kept.
    """
    kept = _kept.setdefault(domain, _Kept())
    known = kept.get(history_id)
    if known is not None:
        yield from known
        return
    events: list[Event] = []
    size = 0
    for event in domain.history(history_id):
        size += len(event.text) + _EVENT
        if size <= MOST_KEPT:
            events.append(event)
        else:
            events.clear()
        yield event
    if size <= MOST_KEPT:
        kept.keep(history_id, tuple(events), size)
