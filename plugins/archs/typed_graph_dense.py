"""Seeds by the embedder, then typed edges, with supersession resolved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from framework.contracts import Query
from framework.records import Event, Item
from framework.registry import register
from plugins.archs._dense import embed
from plugins.archs._typed import GraphSettings, TypedArm


@register("arch", "typed_graph_dense")
class TypedGraphDense(TypedArm[GraphSettings]):
    """`typed_graph` with dense seeds: what is nearest to the query by the run's embedder.

    Depth 5.3 and table 56 seed on similarity of embeddings. Everything but the score is as in
    `typed_graph`; what `arch=dense` says of embedders holds here. Without any edge it is `dense`.
    """

    uses_embedder = True
    signal = "dense"
    Settings = GraphSettings

    async def ingest(self, events: Iterable[Event]) -> None:
        self._keep(tuple(events))
        self._vectors = await embed(self.context, [event.text for event in self._events])

    async def recall(self, query: Query, k: int) -> Sequence[Item]:
        (vector,) = await embed(self.context, [query.text or ""])
        scores = self._vectors @ vector
        return self._recalled(query, scores.astype(np.float64), k)
