"""Where events stand in what an arm recalled, and what of its ranking is kept on disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from framework.records import Gold, MemoryView, TraceEntry

BEYOND: Final = 50
"""Ranks beyond the view that are kept, beside those of gold; and sessions whose place is kept."""


def event_ranks(view: MemoryView) -> Mapping[str, int]:
    """By event, its rank from 1 by the best-ranked item that came from it, each event once.

    An item made of several events lists them in its own order. One that names no source (a summary)
    takes up a rank: whoever reads down the list passes it.
    """
    if view.ranks:
        return view.ranks
    ranks: dict[str, int] = {}
    passed = 0
    for entry in sorted(view.trace, key=lambda entry: entry.rank):
        for event in entry.source_ids or (None,):
            if event is None or event not in ranks:
                passed += 1
                if event is not None:
                    ranks[event] = passed
    return ranks


def kept_trace(view: MemoryView, gold: Gold) -> dict[str, Any]:
    """What a record keeps of a view's trace: enough to show it and to score it again.

    trace : the view, the first 50 items beyond it, and every item that carries what gold names.
    ranks : of the events that gold names, and of those with which the first 50 sessions begin where
    no trace without a gap gives them. recalled : items of the whole ranking.
    """
    named = {source for item in gold.items for source in item.source_ids}
    named |= {source for value in gold.retired for source in value.source_ids}
    named |= {*gold.evidence, *gold.governing, *gold.chain, gold.entry}
    beyond = islice((entry.rank for entry in view.trace if entry.placed == "out"), BEYOND)
    shown = {*beyond, *(entry.rank for entry in view.trace if entry.placed != "out")}
    gap = next((e.rank for e in view.trace if e.rank not in shown), len(view.trace) + 1)
    later = {event: rank for event, rank in _openings(view) if rank >= gap}
    ranked = named | later.keys()
    return {
        "trace": [e for e in view.trace if e.rank in shown or not named.isdisjoint(e.source_ids)],
        "ranks": {event: rank for event, rank in event_ranks(view).items() if event in ranked},
        "recalled": len(view.trace),
    }


def known_ranks(trace: tuple[TraceEntry, ...], ranks: Mapping[str, int]) -> Mapping[str, int]:
    """The ranks that a record gives: those it names, and of its trace those before any gap."""
    whole = tuple(entry for at, entry in enumerate(trace, start=1) if entry.rank == at)
    view = MemoryView(items=(), tokens=0, budget_tokens=None, trace=whole)
    return {**event_ranks(view), **ranks}


def session_of(event: str) -> str:
    """The session of an event: its id up to the first full stop."""
    return event.partition(".")[0]


def _openings(view: MemoryView) -> Iterator[tuple[str, int]]:
    """The first event of each of the first 50 sessions, with the rank of its item."""
    seen: set[str] = set()
    for entry in view.trace:
        for event in entry.source_ids:
            if (session := session_of(event)) not in seen:
                seen.add(session)
                yield event, entry.rank
                if len(seen) == BEYOND:
                    return
