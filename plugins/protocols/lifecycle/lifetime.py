"""An arm over its life: it goes through a script, and gives what was seen of it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import ceil
from typing import Any, ClassVar, Final

from framework.contracts import Arch, ArchContext, Mutable, Query, maybe_await
from framework.errors import NotOffered
from framework.records import Event, Item, TaskCard
from plugins.protocols.lifecycle import script
from plugins.protocols.lifecycle.script import Search, read_operation

ALL: Final = 10_000
"""Results that a search asks for: a leak at any rank is one."""
TIMED_RESULTS: Final = 10
REBUILDS: Final = 3
"""Rebuilds that are timed where a write is one."""
TIMINGS: Final = ("write_p50_s", "write_p95_s", "search_p50_s", "search_p95_s")
_DECLARED: Final = (
    "budget_at",
    "needs_model",
    "sees_task",
    "knows_schema",
    "gold_edges",
    "uses_embedder",
    "uses_extractor",
    "sees_gold",
    "unbudgeted",
    "adapted",
    "deterministic",
    "query",
)


class Store:
    """One memory. What it was told and has not forgotten, and the arm that holds it.

    A `Mutable` arm writes and forgets itself. Any other is opened again on the events that remain.
    """

    def __init__(self, open_: Callable[[], Arch[Any]]) -> None:
        self._open = open_
        self._events: list[Event] = []
        self._new: list[Event] = []
        self._arm: Arch[Any] | None = None
        self.hidden: set[str] = set()
        self.rebuilds = 0

    def write(self, event: Event) -> None:
        """Tell it an event, before it is asked again."""
        self._new.append(event)

    async def settled(self) -> Arch[Any]:
        """The arm with all that it was told."""
        arm, living = self._arm, _mutable(self._arm)
        if arm is None or (self._new and living is None):
            return await self._rebuilt()
        if living is not None and self._new:
            new, self._new = self._new, []
            self._events += new
            await asyncio.to_thread(living.write, new)
        return arm

    async def _rebuilt(self) -> Arch[Any]:
        self.rebuilds += self._arm is not None
        self._events += self._new
        self._new = []
        there = {event.id for event in self._events}
        arm = self._open()
        await maybe_await(arm.ingest(iter([_linked(event, there) for event in self._events])))
        self._arm = arm
        return arm

    async def forget(self, ids: Sequence[str]) -> None:
        """Delete events in the arm's own way. Raises NotOffered where it has none."""
        arm = _mutable(await self.settled())
        self._events = [event for event in self._events if event.id not in ids]
        if arm is None:
            await self._rebuilt()
        elif arm.forgets:
            await asyncio.to_thread(arm.forget, list(ids))
        else:
            raise NotOffered("declares no deletion")

    async def write_at_once(self, events: Sequence[Event], writers: int) -> None:
        """Several threads write at once, an event a call. Raises NotOffered for an arm of one."""
        arm = _mutable(await self.settled())
        if arm is None:
            raise NotOffered("takes a history whole: no writers at once")
        if not arm.concurrent:
            raise NotOffered("takes one writer at a time")
        self._events += events
        start = threading.Barrier(writers)

        def write(own: Sequence[Event]) -> None:
            start.wait(60)
            for event in own:
                arm.write([event])

        with ThreadPoolExecutor(writers) as pool:
            loop = asyncio.get_running_loop()
            shares = [events[i::writers] for i in range(writers)]
            await asyncio.gather(*(loop.run_in_executor(pool, write, share) for share in shares))

    async def time_writes(self, events: Sequence[Event]) -> list[float]:
        """Seconds of each single write: a call, or, by rebuild, of an event and all before it."""
        by_rebuild = _mutable(await self.settled()) is None
        found = []
        for event in events[:REBUILDS] if by_rebuild else events:
            self.write(event)
            begun = time.perf_counter()
            await self.settled()
            found.append(time.perf_counter() - begun)
        return found

    async def recall(self, query: Query, k: int) -> list[Item]:
        """What the arm gives, without what is hidden by its id."""
        assert self._arm is not None
        items = await maybe_await(self._arm.recall(query, k))
        return [item for item in items if not self._is_hidden(item)]

    def _is_hidden(self, item: Item) -> bool:
        return bool(item.source_ids) and self.hidden.issuperset(item.source_ids)

    def report(self) -> Mapping[str, float]:
        """What the arm says of itself."""
        return {} if self._arm is None else self._arm.report()


def _mutable(arm: object) -> Mutable | None:
    return arm if isinstance(arm, Mutable) else None


def _linked(event: Event, there: set[str]) -> Event:
    """The event without links to what is not there any more."""
    if all(target in there for _, target in event.edges):
        return event
    return replace(event, edges=tuple(edge for edge in event.edges if edge[1] in there))


class Lifetime(Arch[Any]):
    """An arm that is taken through the script that a history is; see `script`.

    Where the script searches, `recall` gives the searches, an item each: how many results there
    were (signal `results`), and how many told the value (`told`). Elsewhere, what the arm gives.
    """

    inner: ClassVar[type[Arch[Any]]]

    def __init__(self, settings: Any, context: ArchContext) -> None:
        super().__init__(settings, context)
        self._stores: dict[str, Store] = {}
        self._at = ""
        self._searches: list[Item] = []
        self._timings: dict[str, float] = {}

    @property
    def trials(self) -> int:
        return self._opened().trials

    def _opened(self) -> Arch[Any]:
        return self.inner(self.settings, self.context)

    @property
    def _store(self) -> Store:
        return self._stores.setdefault(self._at, Store(self._opened))

    async def ingest(self, events: Iterable[Event]) -> None:
        if self.inner.sees_gold:
            raise NotOffered("sees the gold: it holds nothing of its own")
        for event in events:
            if event.kind == script.OPERATION:
                given = dict(read_operation(event))
                await self._do(given.pop("do"), given)
            else:
                self._store.write(event)
        self._at = ""
        await self._store.settled()

    async def _do(self, name: str, given: Mapping[str, Any]) -> None:
        if name == script.OPEN:
            self._at = given["name"]
        elif name == script.WRITE:
            self._store.write(Event(**given["event"]))
        elif name == script.FORGET and given["way"] == "by_id":
            self._store.hidden |= set(given["ids"])
        elif name == script.FORGET:
            await self._store.forget(given["ids"])
        elif name == script.AT_ONCE:
            events = [Event(**event) for event in given["events"]]
            await self._store.write_at_once(events, given["writers"])
        elif name == script.SEARCH:
            await self._store.settled()
            self._searches += [await self._search(Search(**search)) for search in given["searches"]]
        elif name == script.TIME:
            await self._time(given)

    async def _search(self, search: Search) -> Item:
        found = await self._store.recall(self._query(search.query), ALL)
        told = sum(search.value in item.text for item in found)
        asked = f"{search.moment}, asked {search.query!r}"
        text = f"{asked}: {len(found)} results, {told} tell {search.value}"
        return Item(id=search.id, text=text, signals={"results": len(found), "told": told})

    def _query(self, text: str) -> Query:
        card = TaskCard(instruction="Find what the notes say.", query=text)
        return Query(
            text="" if self.inner.query == "none" else text,
            task=card if self.inner.sees_task else None,
            seed=self.context.seed,
        )

    async def _time(self, given: Mapping[str, Any]) -> None:
        sought = []
        for text in given["queries"]:
            begun = time.perf_counter()
            await self._store.recall(self._query(text), TIMED_RESULTS)
            sought.append(time.perf_counter() - begun)
        writes = await self._store.time_writes([Event(**event) for event in given["writes"]])
        shares = [(seconds, share) for seconds in (writes, sought) for share in (0.5, 0.95)]
        found = [percentile(seconds, share) for seconds, share in shares]
        self._timings = dict(zip(TIMINGS, found, strict=True))

    async def recall(self, query: Query, k: int) -> Sequence[Item]:
        return self._searches if self._gives_searches else await self._stores[""].recall(query, k)

    @property
    def _gives_searches(self) -> bool:
        """Whether the probe is about what was searched for: it may only have come before it."""
        return any(script.read_id(item.id)[0] != script.ASKED for item in self._searches)

    def report(self) -> Mapping[str, float]:
        store = self._stores[""]
        return {**store.report(), "rebuilds": float(store.rebuilds), **self._timings}


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that this share of the values does not exceed (nearest rank)."""
    return sorted(values)[max(0, ceil(share * len(values)) - 1)]


def over_its_life(arch: type[Arch[Any]]) -> type[Arch[Any]]:
    """The arch as one that goes through scripts, with the same declarations."""
    declared = {name: getattr(arch, name) for name in _DECLARED}
    return type("Lifetime", (Lifetime,), {**declared, "inner": arch, "__doc__": arch.__doc__})
