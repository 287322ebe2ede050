"""Embedded events, nearest to a passage that would answer the query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from framework.bounds import Bounded, at_least
from framework.contracts import Arch, Query
from framework.operations.hypothetical_document import (
    HypotheticalDocument,
    HypotheticalDocumentRequest,
)
from framework.records import Event, Item
from framework.registry import register
from plugins.archs._dense import DenseIndex, embed, embed_query
from plugins.archs._items import ranked_items


@dataclass(frozen=True, slots=True, kw_only=True)
class HydeSettings(Bounded):
    """Settings of `arch=hyde`.

    passage_tokens : greatest length of the drafted passage in tokens, at least 1.
    """

    passage_tokens: Annotated[int, at_least(1)] = 120


@register("arch", "hyde")
class Hyde(Arch[HydeSettings]):
    """Hypothetical document embeddings (Gao et al., ACL 2023): `dense` with a drafted passage.

    At recall a model writes one passage such as a record would hold; the mean of its vector and the
    query's is what the store is searched with. The passage is embedded as the store's texts are,
    the query as what is asked, where an encoder tells them apart. The passage is shown to nobody.
    The rule-based model knows no more than the query says, so with it the arm is close to `dense`.
    What `arch=dense` says of embedders holds here.
    """

    needs_model = True
    uses_embedder = True

    async def ingest(self, events: Iterable[Event]) -> None:
        self._events = tuple(events)
        self._index = DenseIndex(await embed(self.context, [e.text for e in self._events]))

    async def recall(self, query: Query, k: int) -> Sequence[Item]:
        if not self._events or k < 1:
            return []
        asked = query.text or ""
        request = HypotheticalDocumentRequest(
            query=asked, limit_tokens=self.settings.passage_tokens
        )
        answer = await self.context.client.ask(HypotheticalDocument(), request)
        query_vector = await embed_query(self.context, asked)
        (passage,) = await embed(self.context, [answer.passage])
        order, scores = self._index.rank((query_vector + passage) / 2, k)
        return ranked_items(self._events, order, {"dense": scores})
