"""The latest turns as they were said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import NoSettings, register
from plugins.archs._items import ranked_items


@register("arch", "chat_log")
class ChatLog(Arch[NoSettings]):
    """The raw log, newest event first, as a chat window shows it (Depth 9.2).

    Nothing is searched, merged or dropped; what is asked does not count. It is a real arm under the
    same budget, where the source places chat logs by a formula. `last_mention` with `order=newest`
    differs in dropping what is mentioned again.
    """

    query = "none"

    def ingest(self, events: Iterable[Event]) -> None:
        self._events = tuple(events)

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        newest = np.arange(len(self._events) - 1, -1, -1, dtype=np.int64)[: max(0, k)]
        return ranked_items(self._events, newest, {})
