"""Seeds by BM25, then typed edges, with supersession resolved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import register
from plugins.archs._bm25 import BM25Index, BM25Settings, top
from plugins.archs._graph import TypedGraph
from plugins.archs._items import event_item, recency


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedGraphSettings(BM25Settings):
    """Settings of `arch=typed_graph`, besides those of BM25.

    seeds : events from which the search starts, at least 1.
    hops : most edges between a seed and what it leads to, at least 0; 3 in Depth 5.3.
    relations : weight of each relation, in [0, 1]: the share of a node's score that its neighbour
        inherits. An edge is followed both ways; `supersedes` is not among them, it is resolved.
    other : weight of a relation that `relations` does not name, in [0, 1].
    fan_out : most edges followed from one node, at least 1.
    superseded : what becomes of an event that a newer one replaces, after its head has taken its
        place: `demote` puts it behind everything current (it may hold what was not revised), `drop`
        leaves it out.
    """

    seeds: int = 5
    hops: int = 3
    relations: Mapping[str, float] = field(
        default_factory=lambda: {
            "constrains": 1.0,
            "implements": 0.9,
            "requires": 0.9,
            "supports": 0.8,
            "cites": 0.6,
        }
    )
    other: float = 0.4
    fan_out: int = 16
    superseded: Literal["demote", "drop"] = "demote"

    def __post_init__(self) -> None:
        BM25Settings.__post_init__(self)
        for name, value, least in (
            ("seeds", self.seeds, 1),
            ("hops", self.hops, 0),
            ("fan_out", self.fan_out, 1),
        ):
            if value < least:
                raise ValueError(f"{name} must be at least {least}, {value} given")
        for name, weight in (*self.relations.items(), ("other", self.other)):
            if not 0 <= weight <= 1:
                raise ValueError(f"the weight of {name} must be in [0, 1], {weight} given")


@register("arch", "typed_graph")
class TypedGraphMemory(Arch[TypedGraphSettings]):
    """BM25 seeds, then typed edges; `supersedes` leads to the current event (Depth 5.3).

    Recall takes the best-scoring events as seeds, puts the head of its chain in the place of each
    superseded one, follows typed edges breadth first, and orders what it reached by the seed's
    relative score times the weights along the way. Everything else current follows in BM25 order,
    so that the arm fills its budget, and superseded events come last or not at all. Edges are given
    with the events (`gold_edges`): extracting them is not measured here. Without any edge it is
    `bm25`.
    """

    gold_edges = True
    Settings = TypedGraphSettings

    def ingest(self, events: Iterable[Event]) -> None:
        self._events = tuple(events)
        self._index = BM25Index([event.text for event in self._events], self.settings)
        self._graph = TypedGraph(
            self._events, self.settings.relations, self.settings.other, self.settings.fan_out
        )

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        scores = self._index.scores(query.text)
        position = self._graph.position
        best = [int(i) for i in top(scores, self.settings.seeds)]
        highest = max((float(scores[i]) for i in best), default=0.0)
        seeds: dict[str, float] = {}
        for i in best:
            head = self._graph.head(self._events[i].id)
            share = max(0.0, float(scores[i]) / highest) if highest > 0 else 1.0
            seeds[head] = max(share, seeds.get(head, 0.0))
        reached = self._graph.search(seeds, self.settings.hops)
        order = sorted(
            reached,
            key=lambda node: (-reached[node].score, reached[node].hop, -scores[position[node]]),
        )
        if len(order) < k:
            rest = [self._events[int(i)].id for i in top(scores, len(scores))]
            order += [n for n in rest if n not in reached and self._graph.head(n) == n]
            if self.settings.superseded == "demote":
                order += [n for n in rest if self._graph.head(n) != n]
        items = []
        for rank, node in enumerate(order[: max(0, k)], start=1):
            i = position[node]
            signals = {
                "bm25": float(scores[i]),
                "rank": rank,
                "recency": recency(i, len(self._events)),
            }
            if node in reached:
                signals |= {"graph": reached[node].score, "hop": reached[node].hop}
            items.append(event_item(self._events[i], signals))
        return items

    def report(self) -> Mapping[str, float]:
        return {
            "edges": self._graph.edges,
            "dangling_edges": self._graph.dangling,
            "superseded": self._graph.superseded,
        }
