"""Walks over the edges of a corpus: what replaced a document, and what it requires."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from plugins.domains.corpus.schema import Corpus

Links = Mapping[str, Sequence[str]]
"""By document, the documents one step further, in order of the file."""


TRANSITIVE: Final = frozenset({"supersedes", "requires", "derived_from", "implements"})
"""Relations that say something of what lies behind a document's neighbour too."""


def links_by(corpus: Corpus, relation: str) -> Links:
    """By document, those that it bears the relation to; of `supersedes`, those that bear it to it.

    A task starts from the document asked of: for `supersedes` from the retired one.
    """
    edges = (edge for edge in corpus.edges if edge.relation == relation)
    if relation == "supersedes":
        return _links((edge.target, edge.source) for edge in edges)
    return _links((edge.source, edge.target) for edge in edges)


def hops_from(start: str, links: Links, most: int | None = None) -> dict[str, int]:
    """Every document that can be reached, `start` included, by its fewest steps, nearest first.

    most : steps that are taken; None for as many as there are.
    """
    hops, frontier = {start: 0}, [start]
    while frontier and (most is None or hops[frontier[0]] < most):
        found = dict.fromkeys(n for name in frontier for n in links.get(name, ()) if n not in hops)
        hops.update(dict.fromkeys(found, hops[frontier[0]] + 1))
        frontier = list(found)
    return hops


def shortest_path(start: str, goal: str, links: Links) -> list[str]:
    """The documents of a shortest path, both ends included; the first of several in the file."""
    hops = hops_from(start, links)
    path = [goal]
    while path[-1] != start:
        here = path[-1]
        path.append(next(n for n in hops if hops[n] == hops[here] - 1 and here in links.get(n, ())))
    return path[::-1]


def components(corpus: Corpus, relations: Collection[str]) -> dict[str, str]:
    """By document, the first document of the file that edges of these relations tie it to.

    Tasks about documents of one component are not independent.
    """
    near: dict[str, list[str]] = {}
    for edge in corpus.edges:
        if edge.relation in relations:
            near.setdefault(edge.source, []).append(edge.target)
            near.setdefault(edge.target, []).append(edge.source)
    found: dict[str, str] = {}
    for name in corpus.nodes:
        if name not in found:
            found.update(dict.fromkeys(hops_from(name, near), name))
    return found


def _links(pairs: Iterable[tuple[str, str]]) -> Links:
    links: dict[str, list[str]] = {}
    for a, b in pairs:
        links.setdefault(a, []).append(b)
    return links
