"""Okapi BM25 over events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import register
from plugins.archs._bm25 import BM25Index, BM25Settings
from plugins.archs._items import event_item, recency


@dataclass(frozen=True, slots=True, kw_only=True)
class BM25ArmSettings(BM25Settings):
    """Settings of `arch=bm25`: those of BM25 (`BM25Settings`).

    cache : a folder for indexes of histories with 1,000 or more events. Runs share it, by the
        content of a history; None stores none. It changes no row.
    """

    cache: str | None = field(default=None, metadata={"operational": True})


@register("arch", "bm25")
class BM25(Arch[BM25ArmSettings]):
    """All events, ranked by Okapi BM25 for the task's query (Depth 5.3).

    Scores are those of `rank_bm25.BM25Okapi`; ties stay in order of arrival, and an event that
    scores 0 or less keeps its place at the end rather than being dropped. The whole store is ranked
    and packing alone decides how much of it is seen, so the arm fills any budget; `retr_only` has
    the top-k and the chunks of LongHorizon.
    """

    def ingest(self, events: Iterable[Event]) -> None:
        self._events = tuple(events)
        texts = [event.text for event in self._events]
        self._index = BM25Index(texts, self.settings, self.settings.cache)

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        n = len(self._events)
        return [
            event_item(self._events[i], {"bm25": score, "rank": rank, "recency": recency(i, n)})
            for rank, (i, score) in enumerate(self._index.rank(query.text, k), start=1)
        ]
