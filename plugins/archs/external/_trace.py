"""Results traced back to the events they came from: by id, else by their words, else not at all."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Final

from framework.records import Event, Item
from plugins.archs.external._mapping import Found

WIDTH: Final = 3
"""Words of a shingle."""
QUOTED: Final = 0.8
"""Share of an event's shingles in a result from which on the result holds that event."""
ALIGNED: Final = 0.5
"""Share of a result's shingles that its events must hold; below it, the result is a gist."""
_WORD: Final = re.compile(r"\w+")


class Tracer:
    """Traces results to events.

    The signal `traced` of an item is 1 by id, the share of its shingles (three words in a row) that
    its events hold by alignment, and 0 for a gist, which has no sources. An id is not believed if
    other events hold all shingles of the result, and those of the id do not. Two events of the same
    words can't be told apart by alignment: both are sources.
    """

    def __init__(self, events: Sequence[Event]) -> None:
        self._events: list[Event] = []
        self._places: dict[str, list[int]] = defaultdict(list)
        self._shingles: list[frozenset[tuple[str, ...]]] = []
        self._index: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for event in events:
            self.add(event)

    def add(self, event: Event) -> None:
        """Trace to this event too."""
        held = shingles(event.text)
        for shingle in held:
            self._index[shingle].append(len(self._events))
        self._places[event.id].append(len(self._events))
        self._events.append(event)
        self._shingles.append(held)

    def items(self, found: Iterable[Found], named: Mapping[str, Sequence[str]]) -> list[Item]:
        """The results as items, in order; those without text are left out.

        named : by the system's own id, the events that it was given to: several where it made one
            memory of them. Then the latest leads, since it may stand in place of the others.
        """
        items: list[Item] = []
        seen: Counter[str] = Counter()
        for result in found:
            if not result.text.strip():
                continue
            sources, traced = self.trace(result, named)
            # An id of the system's may be random, which would make rows that differ.
            name = "+".join(sources) or "gist"
            seen[name] += 1
            signals = {"rank": float(len(items) + 1), "traced": traced}
            if result.score is not None and math.isfinite(result.score):
                signals["score"] = result.score
            items.append(
                Item(
                    id=name if seen[name] == 1 else f"{name}#{seen[name]}",
                    text=result.text,
                    signals=signals,
                    source_ids=sources,
                )
            )
        return items

    def trace(
        self, found: Found, named: Mapping[str, Sequence[str]]
    ) -> tuple[tuple[str, ...], float]:
        """The events that a result came from, and how sure that is (see the class)."""
        given = (event for name in found.ids for event in reversed(named.get(name, (name,))))
        known = tuple(dict.fromkeys(name for name in given if name in self._places))
        if known and self._hold(known, found.text):
            return known, 1.0
        aligned, share = self._aligned(found.text)
        # Ids of its own may be those of events by chance, as numbers are.
        by_words = not known or (share == 1 and not set(known) & set(aligned))
        return (aligned, share) if by_words else (known, 1.0)

    def _hold(self, names: Iterable[str], text: str) -> bool:
        """Whether these events hold all shingles of a text."""
        held = (self._shingles[place] for name in names for place in self._places[name])
        return not shingles(text).difference(*held)

    def _aligned(self, text: str) -> tuple[tuple[str, ...], float]:
        wanted = shingles(text)
        shared = Counter(i for shingle in wanted for i in self._index.get(shingle, ()))
        quoted = [i for i in sorted(shared) if shared[i] >= QUOTED * len(self._shingles[i])]
        similar = defaultdict[frozenset[tuple[str, ...]], list[str]](list)
        for i in quoted or sorted(shared):
            similar[self._shingles[i]].append(self._events[i].id)
        left, sources = set(wanted), list[str]()
        # The event that holds most of what is left comes next. That share only shrinks, so one that
        # is still as large as it was is the largest; of equal ones the earlier event leads.
        most = [(-len(held & left), place, held) for place, held in enumerate(similar)]
        heapify(most)
        while most:
            before, place, held = heappop(most)
            now = len(held & left)
            if now < -before:
                if now:
                    heappush(most, (-now, place, held))
                continue
            sources += similar[held]
            left -= held
            if not quoted:  # a piece of one event, or a wording of its own
                break
        share = 1 - len(left) / len(wanted) if wanted else 0.0
        return (tuple(sources), share) if share >= ALIGNED else ((), 0.0)


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """Every `WIDTH` words in a row, lower case; all of a text that has fewer."""
    words = _WORD.findall(text.casefold())
    if not words:
        return frozenset()
    return frozenset(tuple(words[i : i + WIDTH]) for i in range(max(1, len(words) - WIDTH + 1)))
