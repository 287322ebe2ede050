"""A main context of fixed size, and storage outside of it that is searched and paged in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from framework.bounds import above, at_least
from framework.contracts import Arch, Query
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
    page_events : events of one page of search results, at least 1.
    """

    core_share: Annotated[float, above(0, below=1)] = 0.2
    queue_share: Annotated[float, above(0, below=1)] = 0.2
    page_events: Annotated[int, at_least(1)] = 5

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
    the queue, latest first, and then page after page. `-style`: one search by the task's query,
    where the source's model writes searches and edits its core by function calls.
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

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        total = len(self._archive) + len(self._queue.events)
        found = [
            event_item(self._archive[i], {"bm25": score, "recency": recency(i, total)})
            for i, score in self._index.rank(query.text, len(self._archive))
        ]
        page = self.settings.page_events
        items = [
            *summary_items(self._core),
            *found[:page],
            *self._queue.items(first_rank=1),
            *found[page:],
        ]
        return [
            replace(item, signals={**item.signals, "rank": rank})
            for rank, item in enumerate(items[: max(0, k)], start=1)
        ]

    def report(self) -> Mapping[str, float]:
        return {
            "core_calls": self._core.calls,
            "cores_cut": self._core.cut,
            "archived": len(self._archive),
            "queued": len(self._queue.events),
        }
