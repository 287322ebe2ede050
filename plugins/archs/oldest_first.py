"""The beginning of the history."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import NoSettings, register
from plugins.archs._items import ranked_items


@register("arch", "oldest_first")
class OldestFirst(Arch[NoSettings]):
    """The raw log, oldest event first, for every query. Control: where in it the gold is.

    `arch=newest_first` is its counterpart. A claim about an arm is a claim beside the better of
    the two (validity.md section 2).
    """

    query = "none"

    def ingest(self, events: Iterable[Event]) -> None:
        self._events = tuple(events)

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        order = np.arange(min(len(self._events), max(0, k)), dtype=np.int64)
        return ranked_items(self._events, order, {})
