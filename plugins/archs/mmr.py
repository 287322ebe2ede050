"""Embedded events, near to the query and unlike each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from framework.bounds import Bounded, at_least
from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import register
from plugins.archs._dense import DenseIndex, embed, embed_query
from plugins.archs._items import ranked_items


@dataclass(frozen=True, slots=True, kw_only=True)
class MMRSettings(Bounded):
    """Settings of `arch=mmr`.

    relevance : lambda of the source, in [0, 1]: 1 is `dense`, 0 counts only novelty.
    candidates : number of nearest events to choose from, at least 1; the rest follow as in `dense`.
    """

    relevance: Annotated[float, at_least(0, most=1)] = 0.7
    candidates: Annotated[int, at_least(1)] = 200


@register("arch", "mmr")
class MMR(Arch[MMRSettings]):
    """Maximal marginal relevance over embedded events (Carbonell and Goldstein, SIGIR 1998).

    Each next event is the candidate with the highest lambda * sim(event, query) - (1 - lambda) *
    max sim(event, chosen), by inner products of the run's embedder; ties go to the nearer to the
    query, then to the earlier. What `arch=dense` says of embedders holds here.
    """

    uses_embedder = True

    async def ingest(self, events: Iterable[Event]) -> None:
        self._events = tuple(events)
        self._index = DenseIndex(await embed(self.context, [e.text for e in self._events]))

    async def recall(self, query: Query, k: int) -> Sequence[Item]:
        vector = await embed_query(self.context, query.text or "")
        order, scores = self._index.rank(vector, max(k, self.settings.candidates) if k > 0 else 0)
        few = self.settings.candidates
        chosen = self._diverse(self._index.vectors[order[:few]], scores[:few])
        places = np.concatenate((chosen, np.arange(len(chosen), len(order))))[: max(0, k)]
        return ranked_items(self._events, order[places], {"dense": scores[places]})

    def _diverse(
        self, vectors: NDArray[np.float32], scores: NDArray[np.float32]
    ) -> NDArray[np.int64]:
        """Places of all candidates, which come nearest first, in the order they are chosen in."""
        weight = self.settings.relevance
        similarity = vectors @ vectors.T
        nearest = np.full(len(scores), -np.inf)
        left = np.ones(len(scores), dtype=np.bool_)
        chosen = np.zeros(len(scores), dtype=np.int64)
        for step in range(len(scores)):
            unlike = 0.0 if step == 0 else (1 - weight) * nearest
            place = int(np.argmax(np.where(left, weight * scores - unlike, -np.inf)))
            chosen[step], left[place] = place, False
            nearest = np.maximum(nearest, similarity[place])
        return chosen
