"""Edges as they are given, and the controls that take their meaning away."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Literal

from framework.records import Event

Edges = Literal["intact", "removed", "relabelled", "rewired"]
"""removed: none. relabelled: every edge keeps its ends and bears another relation than its own.
rewired: every edge keeps its source and relation and leads to another event than it did."""


def with_edges(
    events: Sequence[Event], edges: Edges, relations: Collection[str], rng: random.Random
) -> list[Event]:
    """The events under a treatment of their edges; numbers of events and edges stay as they are.

    relations : the labels that a relabelled edge may get, besides those met in the corpus. Draws
        are independent and uniform. An edge for which there is no other label or no other event
        stays as it is.
    """
    if edges == "intact":
        return list(events)
    if edges == "removed":
        return [replace(event, edges=()) for event in events]
    labels = sorted({*relations, *(relation for event in events for relation, _ in event.edges)})
    names = [event.id for event in events]

    def treated(source: str, relation: str, target: str) -> tuple[str, str]:
        if edges == "relabelled":
            others = [label for label in labels if label != relation]
            return (rng.choice(others) if others else relation), target
        if len(names) > len({source, target}):
            old = target
            while target in (old, source):
                target = rng.choice(names)
        return relation, target

    return [
        replace(event, edges=tuple(treated(event.id, *edge) for edge in event.edges))
        if event.edges
        else event
        for event in events
    ]
