"""BM25 and embeddings, fused by rank."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from framework.bounds import at_least
from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import register
from plugins.archs._bm25 import BM25Index, BM25Settings, top
from plugins.archs._dense import DenseIndex, embed, embed_query
from plugins.archs._items import ranked_items


@dataclass(frozen=True, slots=True, kw_only=True)
class HybridSettings(BM25Settings):
    """Settings of `arch=hybrid_rrf`, besides those of BM25.

    smoothing : constant added to every rank, at least 0; 60 in the source.
    """

    smoothing: Annotated[float, at_least(0)] = 60.0


@register("arch", "hybrid_rrf")
class HybridRRF(Arch[HybridSettings]):
    """Reciprocal rank fusion of `bm25` and `dense`: the sum of 1 / (60 + rank) (Depth 5.1).

    Reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009) over both full rankings of
    the store, so scores of different scales never meet. Ties stay in order of arrival. What
    `arch=dense` says of embedders holds here.
    """

    uses_embedder = True

    async def ingest(self, events: Iterable[Event]) -> None:
        self._events = tuple(events)
        texts = [event.text for event in self._events]
        self._sparse = BM25Index(texts, self.settings)
        self._dense = DenseIndex(await embed(self.context, texts))

    async def recall(self, query: Query, k: int) -> Sequence[Item]:
        vector = await embed_query(self.context, query.text or "")
        n = len(self._events)
        sparse, dense = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        sparse[top(self._sparse.scores(query.text), n)] = np.arange(1, n + 1)
        dense[self._dense.rank(vector, n)[0]] = np.arange(1, n + 1)
        fused = 1 / (self.settings.smoothing + sparse) + 1 / (self.settings.smoothing + dense)
        order = top(fused, k)
        signals = {"rrf": fused[order], "bm25_rank": sparse[order], "dense_rank": dense[order]}
        return ranked_items(self._events, order, signals)
