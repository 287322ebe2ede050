"""A main context of fixed size, and storage outside of it that is searched and paged in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from framework.bounds import above, at_least
from framework.contracts import Arch, Query
from framework.operations.next_query import NextQuery, NextQueryRequest
from framework.records import Event, Item
from framework.registry import register
from plugins.archs._bm25 import BM25Index, BM25Settings
from plugins.archs._items import event_item, recency
from plugins.archs._recent import Recent
from plugins.archs._summary import Summary, folded, limit_of, summary_items


@dataclass(frozen=True, slots=True, kw_only=True)
class PagedSettings(BM25Settings):
    """Settings of `arch=paged`, besides those of BM25, by which the archive is searched.

    core_share, queue_share : shares of the budget that the core and the queue of latest events may
        take, in (0, 1), together below 1; pages from the archive have the rest.
    page_events : events per page of search results, at least 1.
    searches : searches of the archive, at least 1: the first by the query, each further one by what
        the model writes after reading the pages so far, until it writes nothing.
    """

    core_share: Annotated[float, above(0, below=1)] = 0.2
    queue_share: Annotated[float, above(0, below=1)] = 0.2
    page_events: Annotated[int, at_least(1)] = 5
    searches: Annotated[int, at_least(1)] = 1

    def __post_init__(self) -> None:
        BM25Settings.__post_init__(self)
        if (share := self.core_share + self.queue_share) >= 1:
            raise ValueError(
                f"core_share and queue_share: {share:g} given, below 1 together expected"
            )


@register("arch", "paged")
class Paged(Arch[PagedSettings]):
    """MemGPT-style: core, queue and archive, paged into one context.

    Source: Packer et al., "MemGPT: Towards LLMs as Operating Systems", 2023, section 2. The main
    context holds a core, which a model writes, and a queue of the latest events. When the queue is
    full its older half goes to the archive, and one call folds it into the core (the source's
    recursive summary). Recall gives the core, the first page of what the archive's search finds,
    the queue, latest first, the first new page of each further search, and then page after page of
    the first. `-style`: the model writes queries (`searches`), where the source's also edits its
    core and pages by function calls.
    """

    budget_at = "ingest"
    needs_model = True

    async def ingest(self, events: Iterable[Event]) -> None:
        budget = limit_of(self.context)
        self._queue = Recent(int(budget * self.settings.queue_share))
        self._core = Summary()
        archive: list[Event] = []
        for event in events:
            left = self._queue.push(event)
            if left:
                archive += left
                self._core = await folded(
                    self.context.client,
                    self._core,
                    [event.text for event in left],
                    max(1, int(budget * self.settings.core_share)),
                )
        self._archive = tuple(archive)
        self._index = BM25Index([event.text for event in archive], self.settings)

    async def recall(self, query: Query, k: int) -> Sequence[Item]:
        found, size = self._found(query.text), self.settings.page_events
        first, further = found[:size], await self._further(query.text or "", found[:size])
        shown = {item.id for item in (*first, *further)}
        items = [
            *summary_items(self._core),
            *first,
            *self._queue.items(first_rank=1),
            *further,
            *(item for item in found if item.id not in shown),
        ]
        return [
            replace(item, signals={**item.signals, "rank": rank})
            for rank, item in enumerate(items[: max(0, k)], start=1)
        ]

    def _found(self, text: str | None) -> list[Item]:
        """The archive in the order in which it answers a query."""
        total = len(self._archive) + len(self._queue.events)
        return [
            event_item(self._archive[i], {"bm25": score, "recency": recency(i, total)})
            for i, score in self._index.rank(text, len(self._archive))
        ]

    async def _further(self, asked: str, page: Sequence[Item]) -> list[Item]:
        """The new pages of the searches that the model writes, in their order."""
        queries, pages = [asked], [*page]
        while pages and len(queries) < self.settings.searches:
            request = NextQueryRequest(
                instruction="", asked=tuple(queries), passages=tuple(item.text for item in pages)
            )
            following = (await self.context.client.ask(NextQuery(), request)).query
            if not following:
                break
            shown, search = {item.id for item in pages}, len(queries) + 1
            queries.append(following)
            new = [item for item in self._found(following) if item.id not in shown]
            pages += [
                replace(item, signals={**item.signals, "search": search})
                for item in new[: self.settings.page_events]
            ]
        return pages[len(page) :]

    def report(self) -> Mapping[str, float]:
        return {
            "core_calls": self._core.calls,
            "cores_cut": self._core.cut,
            "archived": len(self._archive),
            "queued": len(self._queue.events),
        }
