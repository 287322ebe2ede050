"""Typed graph of events: chains of supersession, and breadth-first search over other edges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from framework.records import Event

SUPERSEDES: Final = "supersedes"
"""The relation from a newer event to the one it replaces. It is never walked, only resolved."""


class Reached(NamedTuple):
    """How a node was reached: the product of weights along the way, and the number of edges."""

    score: float
    hop: int


class TypedGraph:
    """Events as nodes, edges by relation. Never changes after it is built.

    Every edge is laid between current nodes: an edge from or to a superseded event counts as one of
    the head of its chain, so that what cited the old decision leads to the new one.

    events : the nodes in order of arrival, with their edges (relation, target id). An edge to an
        event that is not there is dropped and counted.
    weights : how far each relation carries, in [0, 1]; 0 closes it.
    other : the weight of relations that `weights` does not name.
    fan_out : most edges followed from one node, heaviest first, then in order of the neighbour's
        arrival: the cost of a search then depends on seeds and hops, not on the corpus.
    """

    def __init__(
        self,
        events: Sequence[Event],
        weights: Mapping[str, float],
        other: float,
        fan_out: int,
    ) -> None:
        self.position = {event.id: i for i, event in enumerate(events)}
        self.edges = sum(len(event.edges) for event in events)
        self._age = {event.id: (event.time, i) for i, event in enumerate(events)}
        known = [
            (event.id, relation, target)
            for event in events
            for relation, target in event.edges
            if target in self.position and target != event.id
        ]
        self.dangling = self.edges - len(known)
        self._successor = self._successors((s, t) for s, r, t in known if r == SUPERSEDES)
        self._head = {old: self._walk(old) for old in self._successor}
        self._links: dict[str, list[tuple[str, float]]] = {}
        best: dict[str, dict[str, float]] = {}
        for source, relation, target in known:
            weight = weights.get(relation, other)
            a, b = self.head(source), self.head(target)
            if relation != SUPERSEDES and weight > 0 and a != b:
                for one, two in ((a, b), (b, a)):
                    near = best.setdefault(one, {})
                    near[two] = max(weight, near.get(two, 0.0))
        for node, near in best.items():
            ordered = sorted(near.items(), key=lambda link: (-link[1], self.position[link[0]]))
            self._links[node] = ordered[:fan_out]

    @property
    def superseded(self) -> int:
        """Number of events that have a newer one in their place."""
        return sum(head != old for old, head in self._head.items())

    def head(self, node: str) -> str:
        """The current event at the end of the node's chain: the node itself when nothing follows.

        Where two events supersede the same one, the later-dated holds, and of two of one date the
        later to arrive; in a ring of events that supersede each other likewise.
        """
        return self._head.get(node, node)

    def search(self, seeds: Mapping[str, float], hops: int) -> dict[str, Reached]:
        """Everything within `hops` edges of the seeds, breadth first.

        A node's score is the best product of a seed's score and the weights of the edges on a
        shortest way to it.
        """
        reached = {node: Reached(score, 0) for node, score in seeds.items()}
        frontier = reached
        for hop in range(1, hops + 1):
            found: dict[str, Reached] = {}
            for node, (score, _) in frontier.items():
                for neighbour, weight in self._links.get(node, ()):
                    if neighbour in reached:
                        continue
                    if neighbour not in found or score * weight > found[neighbour].score:
                        found[neighbour] = Reached(score * weight, hop)
            if not found:
                break
            reached = reached | found
            frontier = found
        return reached

    def _successors(self, pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
        newest: dict[str, str] = {}
        for new, old in pairs:
            if old not in newest or self._age[new] > self._age[newest[old]]:
                newest[old] = new
        return newest

    def _walk(self, node: str) -> str:
        path = [node]
        while (after := self._successor.get(path[-1])) is not None:
            if after in path:
                return max(path[path.index(after) :], key=self._age.__getitem__)
            path.append(after)
        return path[-1]
