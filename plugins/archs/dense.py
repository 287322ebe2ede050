"""Embedded events, nearest to the embedded query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import register
from plugins.archs._dense import DenseIndex, embed, embed_query
from plugins.archs._items import ranked_items


@dataclass(frozen=True, slots=True, kw_only=True)
class DenseSettings:
    """Settings of `arch=dense`.

    cache : a folder for the vectors of histories with 1,000 or more events. Runs share it, by the
        content of a history; None stores none. It changes no row. Only vectors of an embedder that
        declares how they are made are stored (`embedder=hashing`): encoders in the process store
        theirs by text, and requests to a provider are paid, and counted, in every run.
    """

    cache: str | None = field(default=None, metadata={"operational": True})


@register("arch", "dense")
class Dense(Arch[DenseSettings]):
    """All events, ranked by the inner product of their embedding and the query's (Depth 5.1).

    The embedder is the run's: with `embedder=hashing` similarity is overlap of words and the arm no
    bi-encoder; `embedder=e5`, `minilm` or `openai` make it one. Search is exact (faiss
    `IndexFlatIP`), ties stay in order of arrival, and the whole store is ranked.
    """

    uses_embedder = True

    async def ingest(self, events: Iterable[Event]) -> None:
        self._events = tuple(events)
        texts = [event.text for event in self._events]
        self._index = DenseIndex(await embed(self.context, texts, self.settings.cache))

    async def recall(self, query: Query, k: int) -> Sequence[Item]:
        vector = await embed_query(self.context, query.text or "")
        order, scores = self._index.rank(vector, k)
        return ranked_items(self._events, order, {"dense": scores})
