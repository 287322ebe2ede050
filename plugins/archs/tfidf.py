"""TF-IDF cosine over events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import register
from plugins.archs._bm25 import Tokenizer, top
from plugins.archs._items import ranked_items
from plugins.archs._tfidf import TfidfIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class TfidfSettings:
    """Settings of `arch=tfidf`.

    tokenizer : see `arch=bm25`.
    """

    tokenizer: Tokenizer = "words"


@register("arch", "tfidf")
class Tfidf(Arch[TfidfSettings]):
    """All events, ranked by TF-IDF cosine similarity to the task's query (Depth 5.1).

    Scores are those of scikit-learn's `TfidfVectorizer` with its defaults; ties stay in order of
    arrival. The whole store is ranked, and packing alone decides how much of it is seen.
    """

    def ingest(self, events: Iterable[Event]) -> None:
        self._events = tuple(events)
        self._index = TfidfIndex([event.text for event in self._events], self.settings.tokenizer)

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        scores = self._index.scores(query.text)
        order = top(scores, k)
        return ranked_items(self._events, order, {"tfidf": scores[order]})
