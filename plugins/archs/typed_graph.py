"""Seeds by BM25, then typed edges, with supersession resolved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from framework.contracts import Query
from framework.records import Event, Item
from framework.registry import register
from plugins.archs._bm25 import BM25Index, BM25Settings, Tokenizer
from plugins.archs._typed import GraphSettings, TypedArm


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedGraphSettings(GraphSettings):
    """Settings of `arch=typed_graph`: those of the graph, and those of BM25 (`BM25Settings`)."""

    k1: float = 1.5
    b: float = 0.75
    epsilon: float = 0.25
    tokenizer: Tokenizer = "words"

    def __post_init__(self) -> None:
        GraphSettings.__post_init__(self)
        self.bm25()

    def bm25(self) -> BM25Settings:
        """Those of BM25. Raises ValueError for one out of range."""
        return BM25Settings(k1=self.k1, b=self.b, epsilon=self.epsilon, tokenizer=self.tokenizer)


@register("arch", "typed_graph")
class TypedGraphMemory(TypedArm[TypedGraphSettings]):
    """BM25 seeds, then typed edges; `supersedes` leads to the current event (Depth 5.3).

    Recall takes the best-scoring events as seeds, puts the heads of its chain in the place of each
    superseded one, follows typed edges breadth first, and orders what it reached by the seed's
    relative score times the weights along the way. Everything else current follows in BM25 order,
    so that the arm fills its budget, and superseded events come last, marked, or not at all. Edges
    are given with the events (`gold_edges`): extracting them is not measured here. Without any edge
    it is `bm25`.

    The published store never reads `supersedes` and treats all relations alike, so that relabelling
    its edges changes nothing; here that is a control (`edges=relabelled`).
    """

    signal = "bm25"
    Settings = TypedGraphSettings

    def ingest(self, events: Iterable[Event]) -> None:
        self._keep(tuple(events))
        self._index = BM25Index([event.text for event in self._events], self.settings.bm25())

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        return self._recalled(query, self._index.scores(query.text), k)
