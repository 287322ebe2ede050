"""The whole history."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import NoSettings, register
from plugins.archs._items import event_item, recency


@register("arch", "full_context")
class FullContext(Arch[NoSettings]):
    """The whole history in order of arrival, without a budget.

    What a reader makes of everything: the reference for what any memory loses. Being unbudgeted, it
    does not compete with arms that keep to a budget.
    """

    unbudgeted = True
    query = "none"

    def ingest(self, events: Iterable[Event]) -> None:
        self._events = tuple(events)

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        n = len(self._events)
        return [
            event_item(event, {"rank": i + 1, "recency": recency(i, n)})
            for i, event in enumerate(self._events[: max(0, k)])
        ]
