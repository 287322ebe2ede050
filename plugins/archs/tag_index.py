"""Events filed under a few tags each, and looked up by tag."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np

from framework.bounds import Bounded, at_least
from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import register
from plugins.archs._bm25 import words
from plugins.archs._items import ranked_items
from plugins.archs._postings import Postings

_SHORTEST: Final = 3
"""Letters of the shortest tag; figures may be shorter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TagIndexSettings(Bounded):
    """Settings of `arch=tag_index`.

    tags : tags per event, at least 1.
    """

    tags: Annotated[int, at_least(1)] = 6


@register("arch", "tag_index")
class TagIndex(Arch[TagIndexSettings]):
    """Tags each event with its few highest-TF-IDF words and searches by these tags.

    A tag index as teams keep one over decisions (Depth 9.2), with the tags chosen by TF-IDF in the
    place of a person: what an event says beside its tags can't be found. Events are ranked by the
    sum of the inverse document frequencies of the tags that the query names; ties and what bears
    none of them come newest first. It is a real arm, where the source places tag indexes by a
    formula.
    """

    def ingest(self, events: Iterable[Event]) -> None:
        self._events = tuple(events)
        found = Postings([event.text for event in self._events], _candidates)
        self._idf = np.log((1 + found.size) / (1 + found.documents)) + 1
        weights = found.counts * self._idf[found.columns]
        # Cells by event, its heaviest first, ties in order of the word's first appearance.
        order = np.lexsort((found.columns, -weights, found.rows))
        rows = found.rows[order]
        place = np.arange(len(order)) - np.searchsorted(rows, rows)
        self._is_tag = np.zeros(len(order), dtype=np.bool_)
        self._is_tag[order[place < self.settings.tags]] = True
        self._found = found

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        found = self._found
        scores = np.zeros(found.size)
        for cells in found.of(dict.fromkeys(_candidates(query.text or ""))):
            rows = found.rows[cells][self._is_tag[cells]]
            scores[rows] += self._idf[found.columns[cells.start]]
        order = np.lexsort((-np.arange(found.size), -scores))[: max(0, k)].astype(np.int64)
        return ranked_items(self._events, order, {"tags": scores[order]})


def _candidates(text: str) -> list[str]:
    return [word for word in words(text) if len(word) >= _SHORTEST or word[0].isdigit()]
