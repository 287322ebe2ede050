"""The published Retr-only: first in, first out, then top-k."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from framework.bounds import at_least
from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import register
from framework.text.tokens import count_tokens
from plugins.archs._bm25 import BM25Index, BM25Settings
from plugins.archs._items import event_item, recency


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrOnlyFifoSettings(BM25Settings):
    """Settings of `arch=retr_only_fifo`, besides those of BM25.

    top_k : events retrieved at decision time, at least 1; 8 in the published code.
    generic_query : the query used instead of the task's own: the published code asks with its
        reader's instruction, which names no document and no fact.
    """

    top_k: Annotated[int, at_least(1)] = 8
    generic_query: str = (
        "Review the file and decide the case. Give the decision, a rationale that cites specific "
        "figures from the file, and, if the decision is adverse, a notice with specific reasons."
    )


@register("arch", "retr_only_fifo")
class RetrOnlyFifo(Arch[RetrOnlyFifoSettings]):
    """Retr-only as published: evicts the oldest events at ingest, asks a generic query.

    The published code behind LongHorizon's table 2 keeps a buffer of the newest chunks that fit the
    budget (at least one), and ranks these by BM25 against the reader's instruction; chunks that
    share no word with it are not shown. At a tight budget the newest few events are therefore all
    that any reader could see. Kept to reproduce that finding, not as an instance of retrieval: for
    that see `retr_only`. It differs from the published code in that tokens are counted, not
    characters, and in rank-bm25's idf.
    """

    budget_at = "ingest"
    query = "none"

    def ingest(self, events: Iterable[Event]) -> None:
        limit = self.context.budget_tokens
        buffer: deque[tuple[int, Event, int]] = deque()
        held = arrived = 0
        for event in events:
            tokens = count_tokens(event.text)
            buffer.append((arrived, event, tokens))
            arrived += 1
            held += tokens
            while limit is not None and held > limit and len(buffer) > 1:
                held -= buffer.popleft()[2]
        self._arrived = arrived
        self._buffer = tuple((position, event) for position, event, _ in buffer)
        self._index = BM25Index([event.text for _, event in self._buffer], self.settings)

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        asked = self.settings.generic_query
        matches = self._index.matches(asked)
        ranked = [(i, s) for i, s in self._index.rank(asked, self._index.size) if matches[i]]
        items = []
        for rank, (i, score) in enumerate(ranked[: min(max(0, k), self.settings.top_k)], start=1):
            position, event = self._buffer[i]
            signals = {"bm25": score, "rank": rank, "recency": recency(position, self._arrived)}
            items.append(event_item(event, signals))
        return items

    def report(self) -> Mapping[str, float]:
        return {"events": self._arrived, "evicted": self._arrived - len(self._buffer)}
