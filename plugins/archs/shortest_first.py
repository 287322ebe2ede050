"""The shortest events first, whatever is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import NoSettings, register
from plugins.archs._items import ranked_items


@register("arch", "shortest_first")
class ShortestFirst(Arch[NoSettings]):
    """The shortest events (by characters), for every query; ties: oldest first. A control.

    A control: a view of short events holds the most of them, and nothing of the text is read.
    """

    query = "none"

    def ingest(self, events: Iterable[Event]) -> None:
        self._events = tuple(events)
        sizes = np.array([len(event.text) for event in self._events], dtype=np.int64)
        self._order = np.argsort(sizes, kind="stable")

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        return ranked_items(self._events, self._order[: max(0, k)], {})
