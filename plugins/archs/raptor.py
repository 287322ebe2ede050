"""A recursive tree of summaries over clusters of similar events."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from framework.bounds import Bounded, at_least
from framework.contracts import Arch, ArchContext, Query
from framework.operations.summarize import Summarize, SummarizeRequest
from framework.records import Event, Item
from framework.registry import register
from framework.text.tokens import count_tokens, truncate
from plugins.archs._clusters import Clustering, clusters
from plugins.archs._communities import check_networkx, communities
from plugins.archs._dense import DenseIndex, embed, embed_query
from plugins.archs._gaussian import DIMENSIONS, MOST_TOKENS, check_umap, gaussian_clusters
from plugins.archs._items import event_item, recency


@dataclass(frozen=True, slots=True, kw_only=True)
class RaptorSettings(Bounded):
    """Settings of `arch=raptor`.

    cluster_size : most members of a cluster, at least 2, not counting those whose first cluster is
        another.
    clustering : `soft`: a member may belong to a second cluster. `hard`: it may not. `gaussian`:
        the source's own, which sets its own sizes and needs the extra `umap`. `communities`: of a
        graph of events and their phrases, GraphRAG-style; needs the extra `communities`.
    summary_tokens : length of a summary in tokens, at least 1; about 130 in the source.
    levels : most levels of summaries above the events, at least 1.
    search : `collapsed` ranks all nodes of the tree together; `traversal` goes from the top down to
        the children of the best nodes of each level.
    beam : nodes followed on each level of a traversal, at least 1.
    """

    cluster_size: Annotated[int, at_least(2)] = 8
    clustering: Clustering | Literal["gaussian", "communities"] = "soft"
    summary_tokens: Annotated[int, at_least(1)] = 130
    levels: Annotated[int, at_least(1)] = 5
    search: Literal["collapsed", "traversal"] = "collapsed"
    beam: Annotated[int, at_least(1)] = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    """An event or a summary; `children` are places of nodes, empty for an event."""

    id: str
    level: int
    text: str
    children: tuple[int, ...] = ()


@register("arch", "raptor")
class Raptor(Arch[RaptorSettings]):
    """RAPTOR-style: summaries of clusters of events, then of clusters of summaries, and so on.

    Source: Sarthi et al., "RAPTOR: Recursive Abstractive Processing for Tree-Organized Retrieval",
    ICLR 2024. Events are embedded and clustered, a model writes a summary of each cluster, the
    summaries are embedded and clustered in turn, until one node or `levels` is reached. Recall
    ranks all nodes, or goes down from the top. `-style`: clusters come from recursive spherical
    k-means with memberships by a von Mises-Fisher mixture, where the source has UMAP and Gaussian
    mixtures chosen by BIC (`clustering=gaussian`, by which a level of up to 11 nodes is the last);
    events are not cut into chunks of 100 tokens. What `arch=dense` says of embedders holds here. A
    summary names no sources, as what it keeps of them is not recorded.

    `clustering=communities` is GraphRAG-style (Edge et al. 2024, arXiv 2404.16130): the clusters
    are the communities of a graph, which lie within each other, and a larger one is summarised from
    the summaries of those in it. `-style`: entities are phrases found by rule, where the source has
    a model extract them and relations between them; communities come from the Louvain method, where
    the source has Leiden's; a summary is as long as RAPTOR's, of the first 3,500 tokens of what it
    is made of; a community of one event has none. Recall ranks summaries and events, where the
    source asks a model about every summary (global search) or starts from entities (local search).
    """

    needs_model = True
    uses_embedder = True

    def __init__(self, settings: RaptorSettings, context: ArchContext) -> None:
        super().__init__(settings, context)
        if settings.clustering == "gaussian":
            check_umap()  # a mistake shows before anything runs
        if settings.clustering == "communities":
            check_networkx()

    async def ingest(self, events: Iterable[Event]) -> None:
        self._events = tuple(events)
        self._nodes = [_Node(id=e.id, level=0, text=e.text) for e in self._events]
        self._calls = 0
        graphed = self.settings.clustering == "communities"
        self._levels = communities([e.text for e in self._events]) if graphed else []
        vectors = await embed(self.context, [node.text for node in self._nodes])
        below = np.arange(len(self._nodes))
        for level in range(1, self.settings.levels + 1):
            if len(below) < 2:
                break
            groups = self._groups(vectors, below, level)
            if len(groups) >= len(below):  # as many summaries as there were nodes: no tree
                break
            first = len(self._nodes)
            alone = [int(below[group[0]]) for group in groups if graphed and len(group) == 1]
            for group in (group for group in groups if not graphed or len(group) > 1):
                children = tuple(int(below[place]) for place in group)
                text = await self._summary([self._nodes[place].text for place in children])
                if text:
                    name = f"summary:{level}.{len(self._nodes) - first + 1}"
                    node = _Node(id=name, level=level, text=text, children=children)
                    self._nodes.append(node)
                elif graphed:
                    alone += children
            added = [node.text for node in self._nodes[first:]]
            if not added:
                break
            vectors = np.concatenate([vectors, await embed(self.context, added)])
            below = np.array([*alone, *range(first, len(self._nodes))])
        self._index = DenseIndex(vectors)

    def _groups(
        self, vectors: NDArray[np.float32], below: NDArray[np.int64], level: int
    ) -> Sequence[tuple[int, ...]]:
        """The clusters of the nodes `below`, by their places in it; none where there is no more."""
        own = self.settings
        if own.clustering == "communities":
            return self._communities(below, level)
        if own.clustering != "gaussian":
            return clusters(vectors[below], own.cluster_size, own.clustering)
        tokens = [count_tokens(self._nodes[place].text) for place in below]
        return gaussian_clusters(vectors[below], tokens) if len(below) > DIMENSIONS + 1 else []

    def _communities(self, below: NDArray[np.int64], level: int) -> Sequence[tuple[int, ...]]:
        """The nodes by the community of the first event below them, on this level of the graph."""
        if level > len(self._levels):
            return []
        found: defaultdict[int, list[int]] = defaultdict(list)
        for place, node in enumerate(below.tolist()):
            while self._nodes[node].children:
                node = self._nodes[node].children[0]
            found[self._levels[level - 1][node]].append(place)
        return [tuple(places) for places in found.values()]

    async def _summary(self, texts: Sequence[str]) -> str:
        """A summary of the texts. A longer answer than was asked for is cut."""
        limit = self.settings.summary_tokens
        if self.settings.clustering == "communities":
            sizes = np.cumsum([count_tokens(text) for text in texts])
            texts = texts[: max(1, int(np.searchsorted(sizes, MOST_TOKENS, side="right")))]
        request = SummarizeRequest(summary="", chunks=tuple(texts), limit_tokens=limit)
        self._calls += 1
        return truncate((await self.context.client.ask(Summarize(), request)).summary, limit)

    async def recall(self, query: Query, k: int) -> Sequence[Item]:
        vector = await embed_query(self.context, query.text or "")
        places, scores = self._index.rank(vector, len(self._nodes))
        order = places.tolist()
        if self.settings.search == "traversal":
            order = self._downwards(order)
        score = dict(zip(places.tolist(), scores.tolist(), strict=True))
        return [
            self._item(place, {"dense": score[place], "rank": rank})
            for rank, place in enumerate(order[: max(0, k)], start=1)
        ]

    def _downwards(self, ranked: list[int]) -> list[int]:
        """The best nodes of each level among the children of the level above, then the rest.

        What no summary is made of, as an event alone in its community, is of the level above, too.
        """
        top = max((node.level for node in self._nodes), default=0)
        below = {child for node in self._nodes for child in node.children}
        allowed = {place for place in ranked if place not in below}
        chosen: dict[int, None] = {}
        for _ in range(top + 1):
            best = [place for place in ranked if place in allowed][: self.settings.beam]
            chosen.update(dict.fromkeys(best))
            allowed = {child for place in best for child in self._nodes[place].children}
        return [*chosen, *(place for place in ranked if place not in chosen)]

    def _item(self, place: int, signals: Mapping[str, float]) -> Item:
        node = self._nodes[place]
        own = {**signals, "level": node.level}
        if place < len(self._events):
            own["recency"] = recency(place, len(self._events))
            return event_item(self._events[place], own)
        return Item(id=node.id, text=node.text, signals=own)

    def report(self) -> Mapping[str, float]:
        return {
            "levels": max((node.level for node in self._nodes), default=0),
            "summaries": len(self._nodes) - len(self._events),
            "summary_calls": self._calls,
        }
