"""Typed graph of events: chains of supersession, and breadth-first search over other edges."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Final, Literal, NamedTuple

from framework.records import Event

SUPERSEDES: Final = "supersedes"
"""The relation from a newer event to the one it replaces. It is never walked, only resolved."""

DEPENDS: Final[Mapping[str, Literal["along", "against", "both"]]] = {
    "constrains": "against",
    "implements": "along",
    "requires": "along",
    "derived_from": "along",
    "part_of": "both",
}
"""Relations of dependency, and which way of the edge leads to what the other end depends on: the
source of `constrains` governs its target, and parts of one whole need each other. Every other
relation is an association."""


class Reached(NamedTuple):
    """How a node was reached: the product of weights along the way, and the number of edges."""

    score: float
    hop: int


class Walk(NamedTuple):
    """What a search reached, and how many edges it looked at on the way."""

    reached: dict[str, Reached]
    edges_touched: int


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
    prune : whether edges are followed towards dependencies alone (`DEPENDS`), not both ways, and
        associations not at all.
    decay : an edge's weight is multiplied by exp(-decay * age) of the event it leads to, where the
        age is 0 for the latest date of the corpus and 1 for the earliest (Depth 11.7, figure 27).

    Counted: edges and dangling (given, and dropped), superseded (events with a newer one in their
    place).
    """

    def __init__(
        self,
        events: Sequence[Event],
        weights: Mapping[str, float],
        other: float,
        fan_out: int,
        *,
        prune: bool = False,
        decay: float = 0.0,
    ) -> None:
        self.position = {event.id: i for i, event in enumerate(events)}
        self.edges = sum(len(event.edges) for event in events)
        self._times = [event.time for event in events]
        known = [
            (event.id, relation, target)
            for event in events
            for relation, target in event.edges
            if target in self.position and target != event.id
        ]
        self.dangling = self.edges - len(known)
        self._successors = self._newest_first((s, t) for s, r, t in known if r == SUPERSEDES)
        self._heads = {old: self._ends(old) for old in self._successors}
        self.superseded = sum(self.is_superseded(old) for old in self._heads)
        fresh = _freshness(self._times, decay) if decay else None
        best: dict[str, dict[str, float]] = {}
        for source, relation, target in known:
            weight = weights.get(relation, other)
            a, b = self.head(source), self.head(target)
            if relation == SUPERSEDES or weight <= 0 or a == b:
                continue
            for one, two in _ways(a, b, relation, prune):
                carried = weight * fresh[self.position[two]] if fresh else weight
                near = best.setdefault(one, {})
                near[two] = max(carried, near.get(two, 0.0))
        self._links = {
            node: sorted(near.items(), key=lambda link: (-link[1], self.position[link[0]]))[
                :fan_out
            ]
            for node, near in best.items()
        }

    def is_superseded(self, node: str) -> bool:
        """Whether a newer event stands in the node's place."""
        return self.head(node) != node

    def head(self, node: str) -> str:
        """The current event at the end of the node's chain: the node itself when nothing follows.

        Where two events supersede the same one, the chain goes on with the later-dated, and of two
        of one date with the later to arrive; in a ring of events that supersede each other it ends
        with the last of them by the same order.
        """
        return self._heads.get(node, (node,))[0]

    def heads(self, node: str) -> tuple[str, ...]:
        """Every current event that any way up from the node ends at, `head` first."""
        return self._heads.get(node, (node,))

    def search(self, seeds: Mapping[str, float], hops: int | None) -> Walk:
        """Everything within `hops` edges of the seeds, breadth first.

        A node's score is the best product of a seed's score and the weights of the edges on a
        shortest way to it. Without `hops` the search goes on until there is nothing more to reach.
        """
        reached = {node: Reached(score, 0) for node, score in seeds.items()}
        frontier, touched, hop = dict(reached), 0, 0
        while frontier and (hops is None or hop < hops):
            hop += 1
            found: dict[str, Reached] = {}
            for node, (score, _) in frontier.items():
                links = self._links.get(node, ())
                touched += len(links)
                for neighbour, weight in links:
                    if neighbour in reached:
                        continue
                    if neighbour not in found or score * weight > found[neighbour].score:
                        found[neighbour] = Reached(score * weight, hop)
            reached.update(found)
            frontier = found
        return Walk(reached, touched)

    def _newest_first(self, pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
        """By superseded event, what supersedes it, the latest first."""
        successors: dict[str, list[str]] = {}
        for new, old in pairs:
            if new not in successors.setdefault(old, []):
                successors[old].append(new)
        for found in successors.values():
            found.sort(key=self._age, reverse=True)
        return successors

    def _age(self, node: str) -> tuple[str, int]:
        position = self.position[node]
        return self._times[position], position

    def _ends(self, node: str) -> tuple[str, ...]:
        """The heads above a superseded node, found depth first by the latest successor."""
        first = self._first_end(node)
        ends, seen, stack = {first: None}, {node}, [node]
        while stack:
            after = self._successors.get(stack.pop(), [])
            for successor in reversed(after):
                if successor not in seen:
                    seen.add(successor)
                    stack.append(successor)
                    if successor not in self._successors:
                        ends[successor] = None
        return tuple(ends)

    def _first_end(self, node: str) -> str:
        path, on_path = [node], {node: 0}
        while after := self._successors.get(path[-1]):
            if after[0] in on_path:
                return max(path[on_path[after[0]] :], key=self._age)
            on_path[after[0]] = len(path)
            path.append(after[0])
        return path[-1]


def _ways(a: str, b: str, relation: str, prune: bool) -> tuple[tuple[str, str], ...]:
    """The ways in which an edge from `a` to `b` may be followed."""
    direction = DEPENDS.get(relation) if prune else "both"
    if direction is None:
        return ()
    if direction == "both":
        return (a, b), (b, a)
    return ((a, b),) if direction == "along" else ((b, a),)


def _freshness(times: Sequence[str], decay: float) -> list[float]:
    """exp(-decay * age) of each event; 1 for all where all are of one date."""
    days = [date.fromisoformat(time[:10]).toordinal() for time in times]
    latest, span = max(days, default=0), max(days, default=0) - min(days, default=0)
    return [math.exp(-decay * (latest - day) / span) if span else 1.0 for day in days]
