"""Typed traversal, depth 3, from 10^3 to 10^6 items: edges touched and time a query.

Corpora of decisions in chains of five, each constraining the next, the last superseding the first,
and each with an association to the decision half a corpus away. Items have no text, since seeds are
found before the walk. The work must not grow with the corpus: edges touched must be the same at
every size. The peer walks the same graph both ways without types or scores: the search of networkx
where it is installed, else one over a plain dict of sets.
"""

from __future__ import annotations

import json
import random
import statistics
import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from _measure import result, timed

from framework.records import Event
from plugins.archs._graph import SUPERSEDES, TypedGraph
from plugins.archs.typed_graph import TypedGraphSettings

SIZES: Final = (1_000, 10_000, 100_000, 1_000_000)
HOPS: Final = 3
CHAIN: Final = 5
QUERIES: Final = 200
SEED: Final = 20
LIMIT_MS: Final = 0.2


def corpus(n: int) -> list[Event]:
    """`n` decisions, a multiple of twice the chain's length."""
    return [
        Event(id=f"d{i}", text="", time="2026-01-01", kind="", edges=_edges(i, n)) for i in range(n)
    ]


def _edges(i: int, n: int) -> tuple[tuple[str, str], ...]:
    edges = [("relates_to", f"d{(i + n // 2) % n}")]
    place = i % CHAIN
    if place < CHAIN - 1:
        edges.append(("constrains", f"d{i + 1}"))
    if place == CHAIN - 1:
        edges.append((SUPERSEDES, f"d{i - CHAIN + 1}"))
    return tuple(edges)


def walker(graph: TypedGraph) -> Callable[[str], int]:
    """Our walk from one seed: the number of edges touched."""
    return lambda seed: graph.search({seed: 1.0}, HOPS).edges_touched


def peer_of(events: list[Event]) -> tuple[str, Callable[[str], int]]:
    """Name of the peer, and its walk from one node: the number of nodes within `HOPS` edges."""
    pairs = [(event.id, target) for event in events for _, target in event.edges]
    try:
        import networkx as nx  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        near: dict[str, set[str]] = {}
        for a, b in pairs:
            near.setdefault(a, set()).add(b)
            near.setdefault(b, set()).add(a)
        return "breadth-first search over a dict", lambda node: sum(1 for _ in _walk(near, node))
    graph = nx.Graph(pairs)
    return f"networkx {nx.__version__}", lambda node: len(
        nx.single_source_shortest_path_length(graph, node, cutoff=HOPS)
    )


def _walk(near: dict[str, set[str]], node: str) -> Iterator[str]:
    seen, queue = {node}, deque([(node, 0)])
    while queue:
        current, hop = queue.popleft()
        yield current
        if hop < HOPS:
            for neighbour in near.get(current, ()):
                if neighbour not in seen:
                    seen.add(neighbour)
                    queue.append((neighbour, hop + 1))


def main() -> None:
    settings = TypedGraphSettings()
    results = []
    touched_at = {}
    print(f"Typed traversal over {HOPS} edges, {QUERIES} queries, a seed each")
    print(f"{'items':>10}{'edges touched':>15}{'ours, ms':>11}{'peer, ms':>11}{'build, s':>10}")
    for n in SIZES:
        events = corpus(n)
        start = time.perf_counter()
        graph = TypedGraph(events, settings.relations, settings.other, settings.fan_out)
        built = time.perf_counter() - start
        name, peer = peer_of(events)
        # Seeds at the same places of their chains at every size, wherever in the corpus.
        rng = random.Random(SEED)
        places = [(rng.random(), place % CHAIN) for place in range(QUERIES)]
        seeds = [graph.head(f"d{int(u * n) // CHAIN * CHAIN + place}") for u, place in places]
        walk = walker(graph)
        touched = sum(walk(seed) for seed in seeds)
        touched_at[n] = touched
        ours = [1000 * timed(partial(walk, seed))[0] for seed in seeds]
        theirs = [1000 * timed(partial(peer, seed))[0] for seed in seeds]
        mine, other = statistics.median(ours), statistics.median(theirs)
        print(f"{n:>10,}{touched / QUERIES:>15.1f}{mine:>11.4f}{other:>11.4f}{built:>10.1f}")
        results.append(
            result(f"typed_traversal_{n}", mine, other, name, "ms per query", n, ratio=other / mine,
                   edges_touched=touched / QUERIES, p99=sorted(ours)[int(0.99 * len(ours))])
        )  # fmt: skip
    if len(set(touched_at.values())) > 1:
        raise SystemExit(f"the edges touched depend on the size of the corpus: {touched_at}")
    if any(float(str(result["p99"])) > LIMIT_MS for result in results):
        raise SystemExit(f"a query takes more than {LIMIT_MS} ms")
    print(json.dumps(results))


if __name__ == "__main__":
    main()
