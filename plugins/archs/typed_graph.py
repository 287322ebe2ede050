"""Seeds by a score, then typed edges, with supersession resolved."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypeVar

from framework.bounds import Bounded, at_least
from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import register
from plugins.archs._edges import Edges, with_edges
from plugins.archs._graph import SUPERSEDES, TypedGraph
from plugins.archs._items import event_item, recency

if TYPE_CHECKING:  # every command starts with the default arm, and most need no numpy
    import numpy as np
    from numpy.typing import NDArray

    from plugins.archs._bm25 import BM25Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSettings(Bounded):
    """Settings of the typed graphs, however their seeds are found.

    seeds : events from which the search starts, at least 1. Depth 5.3 starts from the single most
        relevant node (`arch=typed_graph_one_seed`).
    hops : most edges between a seed and an event it leads to, at least 0; 3 in Depth 5.3. Null
        follows edges until nothing is left to reach or the budget is full.
    relations : weight of each relation, in [0, 1]: the share of a node's score that its neighbour
        inherits. An edge is followed both ways. `supersedes` has no weight: it is resolved.
    other : weight of a relation that `relations` does not name, in [0, 1].
    fan_out : most edges followed from one node, at least 1.
    prune : dependency pruning (Depth 11.7, table 55): follow `constrains`, `implements`,
        `requires`, `derived_from` and `part_of` alone, and only from what depends to what it
        depends on.
    decay : recency weight of edges, at least 0 (Depth 11.7, figure 27): an edge to the oldest event
        weighs exp(-decay) of one to the newest. 0: no decay.
    superseded : what to do with a replaced event after its newest version has taken its place:
        `demote` puts it behind everything current (it may hold what was not revised), `drop` leaves
        it out.
    edges : `intact`, or a control: `removed`, `relabelled` (every edge has another relation) or
        `rewired` (every edge has another target); see `plugins.archs._edges`.
    trials : independent trials of a random control, at least 1; use at least 10 for a result.
    """

    seeds: Annotated[int, at_least(1)] = 5
    hops: Annotated[int | None, at_least(0)] = 3
    relations: Annotated[Mapping[str, float], at_least(0, most=1)] = field(
        default_factory=lambda: {
            "part_of": 1.0,
            "constrains": 1.0,
            "implements": 0.9,
            "requires": 0.9,
            "derived_from": 0.8,
            "supports": 0.8,
            "cites": 0.6,
        }
    )
    other: Annotated[float, at_least(0, most=1)] = 0.4
    fan_out: Annotated[int, at_least(1)] = 16
    prune: bool = False
    decay: Annotated[float, at_least(0)] = 0.0
    superseded: Literal["demote", "drop"] = "demote"
    edges: Edges = "intact"
    trials: Annotated[int, at_least(1)] = field(
        default=10, metadata={"alias": "draws", "identity": "draws"}
    )


S = TypeVar("S", bound=GraphSettings)


class TypedArm(Arch[S]):
    """An arm that seeds on what scores best and follows typed edges from there.

    A subclass keeps what `_keep` was given, finds the score of every event for a query, and says in
    `signal` what it is.
    """

    gold_edges = True
    uses_extractor = True
    signal: ClassVar[str]

    @property
    def trials(self) -> int:
        """More than one only for a control that is random."""
        return self.settings.trials if self.settings.edges in ("relabelled", "rewired") else 1

    def _keep(self, events: Sequence[Event]) -> None:
        """Build the graph, once for all queries where it is not drawn at random."""
        self._events = tuple(events)
        self._graph = self._built(0) if self.trials == 1 else None
        # Counted here: it is told with every case, and a random graph is built again each time.
        counted = self._graph or self._built(0)
        self._counted = {
            "edges": counted.edges,
            "dangling_edges": counted.dangling,
            "superseded": counted.superseded,
        }

    def _built(self, case_seed: int) -> TypedGraph:
        """The graph of the events under the settings' treatment of edges.

        A random control is drawn again for every case: with one for all cases of a history their
        results would be a single sample, however many they are.
        """
        settings = self.settings
        # A digest, so that neighbouring seeds and trials are unrelated.
        words = f"{self.context.seed}:{case_seed}:{self.context.trial}"
        rng = random.Random(int.from_bytes(hashlib.sha256(words.encode()).digest()))
        labels = (SUPERSEDES, *settings.relations)
        return TypedGraph(
            with_edges(self._events, settings.edges, labels, rng),
            settings.relations,
            settings.other,
            settings.fan_out,
            prune=settings.prune,
            decay=settings.decay,
        )

    def _recalled(self, query: Query, scores: NDArray[np.float64], k: int) -> list[Item]:
        """At most `k` items, given the score of every event in order of arrival."""
        from plugins.archs._bm25 import top

        graph = self._graph or self._built(query.seed)
        reached = graph.search(self._seeds(graph, scores), self.settings.hops).reached
        order = sorted(
            reached,
            key=lambda n: (-reached[n].score, reached[n].hop, -scores[graph.position[n]]),
        )
        if len(order) < k:
            # So many that k of them are current and not reached, if there are as many.
            places = top(scores, k + len(reached) + graph.superseded)
            rest = [self._events[int(i)].id for i in places]
            order += [n for n in rest if n not in reached and not graph.is_superseded(n)]
            if self.settings.superseded == "demote":
                order += [n for n in rest if graph.is_superseded(n)]
        items = []
        for rank, node in enumerate(order[: max(0, k)], start=1):
            i = graph.position[node]
            signals: dict[str, float] = {
                self.signal: float(scores[i]),
                "rank": rank,
                "recency": recency(i, len(self._events)),
            }
            if node in reached:
                signals |= {"graph": reached[node].score, "hop": reached[node].hop}
            if graph.is_superseded(node):
                signals["superseded"] = 1.0
            items.append(event_item(self._events[i], signals))
        return items

    def _seeds(self, graph: TypedGraph, scores: NDArray[np.float64]) -> dict[str, float]:
        """The current events that the best-scoring ones stand for, with their relative scores."""
        from plugins.archs._bm25 import top

        best = [int(i) for i in top(scores, self.settings.seeds)]
        highest = max((float(scores[i]) for i in best), default=0.0)
        seeds: dict[str, float] = {}
        for i in best:
            share = max(0.0, float(scores[i]) / highest) if highest > 0 else 1.0
            for head in graph.heads(self._events[i].id):
                seeds[head] = max(share, seeds.get(head, 0.0))
        return seeds

    def report(self) -> Mapping[str, float]:
        return self._counted


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedGraphSettings(GraphSettings):
    """Settings of `arch=typed_graph`: those of the graph, and those of BM25 (`BM25Settings`).

    cache : a folder for indexes of words, those of `arch=bm25`; None keeps none. It changes no row.
    """

    k1: float = 1.5
    b: float = 0.75
    epsilon: float = 0.25
    tokenizer: Literal["words", "content", "split"] = "words"
    cache: str | None = field(default=None, metadata={"operational": True})

    def __post_init__(self) -> None:
        GraphSettings.__post_init__(self)
        self.bm25()

    def bm25(self) -> BM25Settings:
        """Those of BM25. Raises ValueError for one out of range."""
        from plugins.archs._bm25 import BM25Settings

        return BM25Settings(k1=self.k1, b=self.b, epsilon=self.epsilon, tokenizer=self.tokenizer)


@register("arch", "typed_graph")
class TypedGraphMemory(TypedArm[TypedGraphSettings]):
    """BM25 seeds, then typed edges; `supersedes` edges lead to the current event (Depth 5.3).

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

    def ingest(self, events: Iterable[Event]) -> None:
        from plugins.archs._bm25 import BM25Index

        self._keep(tuple(events))
        texts = [event.text for event in self._events]
        self._index = BM25Index(texts, self.settings.bm25(), self.settings.cache)

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        return self._recalled(query, self._index.scores(query.text), k)


@register("arch", "typed_graph_dense")
class TypedGraphDense(TypedArm[GraphSettings]):
    """`typed_graph` with dense seeds: the events nearest to the query by the run's embedder.

    Depth 5.3 and table 56 seed on similarity of embeddings. Everything but the score is as in
    `typed_graph`; what `arch=dense` says of embedders holds here. Without any edge it is `dense`.
    """

    uses_embedder = True
    signal = "dense"

    async def ingest(self, events: Iterable[Event]) -> None:
        from plugins.archs._dense import embed

        self._keep(tuple(events))
        self._vectors = await embed(self.context, [event.text for event in self._events])

    async def recall(self, query: Query, k: int) -> Sequence[Item]:
        from plugins.archs._dense import embed_query

        vector = await embed_query(self.context, query.text or "")
        scores = self._vectors @ vector
        return self._recalled(query, scores.astype("float64"), k)
