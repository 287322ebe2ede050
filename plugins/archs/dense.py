"""Embedded events, nearest to the embedded query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import NoSettings, register
from plugins.archs._dense import DenseIndex, embed, embed_query
from plugins.archs._items import ranked_items


@register("arch", "dense")
class Dense(Arch[NoSettings]):
    """Every event ranked by inner product with the query, both embedded (Depth 5.1).

    The embedder is the run's: with `embedder=hashing` similarity is overlap of words and the arm no
    bi-encoder; `embedder=minilm` or `embedder=openai` make it one. Search is exact (faiss
    `IndexFlatIP`), ties stay in order of arrival, and the whole store is ranked.
    """

    uses_embedder = True

    async def ingest(self, events: Iterable[Event]) -> None:
        self._events = tuple(events)
        self._index = DenseIndex(await embed(self.context, [e.text for e in self._events]))

    async def recall(self, query: Query, k: int) -> Sequence[Item]:
        vector = await embed_query(self.context, query.text or "")
        order, scores = self._index.rank(vector, k)
        return ranked_items(self._events, order, {"dense": scores})
