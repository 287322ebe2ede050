"""A first stage by BM25 whose best are put in order anew: what the rerankers share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from framework.contracts import Arch, Query
from framework.records import Event, Item
from plugins.archs._bm25 import BM25Index, BM25Settings, top
from plugins.archs._items import ranked_items


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankSettings(BM25Settings):
    """Settings of every reranking arm, besides those of BM25.

    candidates : best events of the first stage that are put in order anew, at least 1; the rest
        follow in the order of the first stage.
    """

    candidates: int = 50

    def __post_init__(self) -> None:
        BM25Settings.__post_init__(self)
        if self.candidates < 1:
            raise ValueError(f"candidates must be at least 1, {self.candidates} given")


S = TypeVar("S", bound=RerankSettings)


class Reranked(Arch[S]):
    """BM25, then another order of its best."""

    def ingest(self, events: Iterable[Event]) -> None:
        self._events = tuple(events)
        self._index = BM25Index([event.text for event in self._events], self.settings)

    @abstractmethod
    async def order(self, query: str, passages: Sequence[str]) -> Sequence[int]:
        """Places of all the passages, the best first."""

    async def recall(self, query: Query, k: int) -> Sequence[Item]:
        if not self._events or k < 1:
            return []
        scores = self._index.scores(query.text)
        first = top(scores, max(k, self.settings.candidates))
        best = first[: self.settings.candidates]
        again = await self.order(query.text or "", [self._events[int(i)].text for i in best])
        order = np.concatenate((best[np.asarray(again, dtype=np.int64)], first[len(best) :]))[:k]
        ranks = {int(i): rank for rank, i in enumerate(first, start=1)}
        signals = {
            "bm25": scores[order],
            "bm25_rank": np.array([ranks[int(i)] for i in order], dtype=np.int64),
        }
        return ranked_items(self._events, order, signals)
