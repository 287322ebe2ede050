"""BM25-indexed buffer with top-k retrieval at decision time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from framework.bounds import at_least
from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import register
from plugins.archs._bm25 import BM25Index, BM25Settings
from plugins.archs._items import pieces, recency


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrOnlySettings(BM25Settings):
    """Settings of `arch=retr_only`, besides those of BM25.

    top_k : chunks retrieved at decision time, at least 1. The paper names no number and its code
        takes 8 out of a buffer cut to the budget; 20 fills the paper's primary budget.
    chunk_tokens : longest chunk, at least 1. The paper's chunks average 84 tokens (6,890 over 82 in
        its appendix A), so an event of ordinary length is one chunk and only a long one is cut.
    """

    top_k: Annotated[int, at_least(1)] = 20
    chunk_tokens: Annotated[int, at_least(1)] = 128


@register("arch", "retr_only")
class RetrOnly(Arch[RetrOnlySettings]):
    """A buffer of chunks, indexed by BM25, top-k at decision time (LongHorizon 5, Retr-only).

    The whole history stays in the buffer and the task's own query is asked, as retrieval does; the
    published code evicts down to the budget first (`retr_only_fifo`). It differs from `bm25` in two
    ways: long events are indexed as chunks, each recalled on its own, and at most `top_k` chunks
    are recalled, so at a loose budget the view may stay short of it.
    """

    def ingest(self, events: Iterable[Event]) -> None:
        chunks: list[tuple[str, str, str, int]] = []
        for position, event in enumerate(events):
            texts = list(pieces(event.text, self.settings.chunk_tokens))
            for number, text in enumerate(texts, start=1):
                name = event.id if len(texts) == 1 else f"{event.id}#{number}"
                chunks.append((name, text, event.id, position))
        self._chunks = tuple(chunks)
        self._arrived = 1 + max((position for *_, position in chunks), default=-1)
        self._index = BM25Index([text for _, text, _, _ in chunks], self.settings)

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        items = []
        best = self._index.rank(query.text, min(k, self.settings.top_k))
        for rank, (i, score) in enumerate(best, start=1):
            name, text, source_id, position = self._chunks[i]
            late = recency(position, self._arrived)
            signals = {"bm25": score, "rank": rank, "recency": late}
            items.append(Item(id=name, text=text, signals=signals, source_ids=(source_id,)))
        return items
