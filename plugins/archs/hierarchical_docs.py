"""Events in documents: first the document is chosen, then what stands in it."""

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
from plugins.archs._items import ranked_items


@dataclass(frozen=True, slots=True, kw_only=True)
class HierarchicalDocsSettings(BM25Settings):
    """Settings of `arch=hierarchical_docs`, besides those of BM25.

    document_events : events per document, at least 1.
    """

    document_events: Annotated[int, at_least(1)] = 10


@register("arch", "hierarchical_docs")
class HierarchicalDocs(Arch[HierarchicalDocsSettings]):
    """One folder per kind, documents of N events: ranks documents first, then their events.

    Documents hold events of one kind in order of arrival (Depth 9.2, hierarchical docs). Recall
    ranks documents by BM25 over all that each holds, reads the best to its end, its events by BM25,
    then the next: an event that fits is missed when its document does not. It is a real arm, where
    the source places documents by a formula.
    """

    def ingest(self, events: Iterable[Event]) -> None:
        self._events = tuple(events)
        documents: list[list[str]] = []
        open_: dict[str, int] = {}
        places = []
        for event in self._events:
            place = open_.get(event.kind)
            if place is None or len(documents[place]) == self.settings.document_events:
                place = open_[event.kind] = len(documents)
                documents.append([])
            documents[place].append(event.text)
            places.append(place)
        self._document = np.array(places, dtype=np.int64)
        self._documents = BM25Index(["\n".join(texts) for texts in documents], self.settings)
        self._index = BM25Index([event.text for event in self._events], self.settings)

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        above = self._documents.scores(query.text)
        rank = np.zeros(len(above), dtype=np.int64)
        rank[top(above, len(above))] = np.arange(1, len(above) + 1)
        scores, ranks = self._index.scores(query.text), rank[self._document]
        order = np.lexsort((-scores, ranks))[: max(0, k)].astype(np.int64)
        signals = {"bm25": scores[order], "document_rank": ranks[order]}
        return ranked_items(self._events, order, signals)
