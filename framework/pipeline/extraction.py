"""Running an extractor on a history, and what it found beside what the domain knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from framework.contracts import Client, Extractor, maybe_await
from framework.records import EMPTY, Event

Counts = Mapping[str, Mapping[str, int]]
"""By type: how many the domain has (`given`), the extractor named (`found`), and both (`right`)."""


async def extracted(
    extractor: Extractor[Any], events: Iterable[Event], client: Client
) -> tuple[list[Event], dict[str, Counts]]:
    """The events as the extractor read them; counts of `nodes` by kind and `edges` by relation.

    Precision of a type is right / found, recall right / given. The extractor gets id, text and time
    alone. Raises ValueError when it breaks its contract.
    """
    given = list(events)
    bare = [replace(event, kind="", metadata=EMPTY, edges=()) for event in given]
    found = list(await maybe_await(extractor.extract(bare, client)))
    _check(extractor.name, bare, found)
    nodes = counted([(e.kind, e.id) for e in given], [(e.kind, e.id) for e in found])
    return found, {"nodes": nodes, "edges": counted(_edges(given), _edges(found))}


def counted(
    given: Sequence[tuple[str, Hashable]], found: Sequence[tuple[str, Hashable]]
) -> dict[str, dict[str, int]]:
    """Counts of distinct (type, thing) pairs by type, in the order of the types' names."""
    sides = {"given": set(given), "found": set(found), "right": set(given) & set(found)}
    of = {side: Counter(type_ for type_, _ in pairs) for side, pairs in sides.items()}
    types = sorted({*of["given"], *of["found"]} - {""})
    return {type_: {side: of[side][type_] for side in sides} for type_ in types}


def summed(
    extractions: Iterable[Mapping[str, Counts]],
) -> dict[str, dict[str, dict[str, float | None]]]:
    """Counts of several histories added up, with `precision` and `recall` by type.

    Precision is None where nothing of the type was named, recall where there is nothing of it.
    """
    totals: dict[str, dict[str, Counter[str]]] = {}
    for extraction in extractions:
        for what, types in extraction.items():
            for type_, counts in types.items():
                totals.setdefault(what, {}).setdefault(type_, Counter()).update(counts)
    return {
        what: {
            type_: {
                **counts,
                "precision": counts["right"] / counts["found"] if counts["found"] else None,
                "recall": counts["right"] / counts["given"] if counts["given"] else None,
            }
            for type_, counts in sorted(types.items())
        }
        for what, types in totals.items()
    }


def _edges(events: Iterable[Event]) -> list[tuple[str, Hashable]]:
    return [(relation, (e.id, target)) for e in events for relation, target in e.edges]


def _check(name: str, bare: Sequence[Event], found: Sequence[Event]) -> None:
    if [replace(e, kind="", edges=()) for e in found] != list(bare):
        raise ValueError(f"extractor={name} changed more of the events than kind and edges")
    known = {event.id for event in bare}
    for event in found:
        for relation, target in event.edges:
            if target not in known:
                raise ValueError(
                    f"extractor={name}: {event.id} {relation} {target}, which never arrived"
                )
