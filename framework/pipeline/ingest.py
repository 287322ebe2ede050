"""An arm opened on one history: what it took in, what that cost, and where each event stood."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from framework.contracts import Arch, Client, Extractor, maybe_await
from framework.errors import StopRun
from framework.models.client import Ledger, track_usage
from framework.pipeline.extraction import extracted
from framework.records import Event, Item, Usage
from framework.text.tokens import count_tokens


def _counter() -> Callable[[str], int]:
    return lru_cache(maxsize=1 << 14)(count_tokens)


@dataclass(slots=True, kw_only=True)
class Memory:
    """An arm opened on one history: after ingest it only recalls.

    usage, seconds : what the ingest took. extraction : counts of what an extractor found.
    sources : by event, its `source_*` signals, where they were traced. error : what ended the
    ingest, for each case of the history. count : tokens of a text, which it counts once.
    """

    arch: Arch[Any]
    usage: Mapping[str, Usage]
    seconds: float
    extraction: Mapping[str, Any] = field(default_factory=dict)
    sources: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    error: BaseException | None = None
    count: Callable[[str], int] = field(default_factory=_counter)

    def sourced(self, item: Item) -> Item:
        """The item with the `source_*` signals of the first of its events that has any."""
        known = next((self.sources[id_] for id_ in item.source_ids if id_ in self.sources), None)
        return item if known is None else replace(item, signals={**item.signals, **known})


class Memories:
    """The memories that a run has made, the last few kept for the next case of their history.

    least : so many are kept at the least.
    """

    def __init__(self, least: int = 8) -> None:
        self._least = least
        self._made: OrderedDict[tuple[str, int, int], asyncio.Task[Memory]] = OrderedDict()

    async def get(
        self,
        key: tuple[str, int, int],
        make: Callable[[], Coroutine[Any, Any, Memory]],
        places: int,
    ) -> Memory:
        """The memory under a key, made once; `places` cases may be waiting for theirs."""
        task = self._made.get(key)
        if task is None:
            task = self._made[key] = asyncio.create_task(make())
            while len(self._made) > max(self._least, 2 * places):
                self._made.popitem(last=False)
        else:
            self._made.move_to_end(key)
        return await task


async def ingested(
    arch: Arch[Any],
    events: Iterable[Event],
    *,
    repeat: int,
    client: Client,
    extractor: Extractor[Any] | None,
    traces_sources: bool,
) -> Memory:
    """The memory that `arch` makes of a history, booked on the phase `ingest`.

    Events have edges where the extractor found them or the arm declares that it gets them. Raises
    StopRun; whatever else a plugin raises is kept in the memory.
    """
    ledger = Ledger()
    start = time.perf_counter()
    error: BaseException | None = None
    extraction: Mapping[str, Any] = {}
    sources: dict[str, Mapping[str, float]] = {}
    if traces_sources:
        events = _traced(events, sources)
    try:
        with track_usage(ledger, "ingest", repeat):
            if extractor is not None:
                events, extraction = await extracted(extractor, events, client)
            elif not arch.gold_edges:
                events = (replace(e, edges=()) if e.edges else e for e in events)
            await maybe_await(arch.ingest(iter(events)))
    except StopRun:
        raise
    except (Exception, SystemExit) as failed:
        error = failed  # kept with what it cost, for each of the history's cases
    return Memory(
        arch=arch,
        usage=ledger.usage(),
        seconds=time.perf_counter() - start,
        extraction=extraction,
        sources=sources,
        error=error,
    )


def _traced(events: Iterable[Event], sources: dict[str, Mapping[str, float]]) -> Iterator[Event]:
    """The events as they come, with what a seam may know of each written into `sources`."""
    sessions: dict[str, int] = {}
    for position, event in enumerate(events):
        known = {"source_position": float(position)}
        session = event.metadata.get("session")
        if session is not None:
            known["source_session"] = float(sessions.setdefault(session, len(sessions)))
        speaker = event.metadata.get("speaker") or event.metadata.get("role")
        if speaker is not None:
            known["source_speaker"] = float(speaker == "user")
        try:
            moment = datetime.fromisoformat(event.time)
        except ValueError:  # a domain whose events bear no date
            pass
        else:
            known["source_time"] = moment.replace(tzinfo=UTC).timestamp()
        sources[event.id] = known
        yield event
