"""Two stores and a router: typed routing, and its ablation with the routes swapped."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from framework.bounds import above, at_least
from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import register
from plugins.archs._bm25 import BM25Index, BM25Settings
from plugins.archs._items import event_item, recency
from plugins.archs._router import Route, route
from plugins.archs._summary import limit_of, summarize, summary_items


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutedSettings(BM25Settings):
    """Settings of `arch=typed_routing` and `arch=misrouted`, besides those of BM25.

    store : how much of the append-only store is recalled: `topk`, or `full` (all of it, ranked; the
        paper's diagnostic variant).
    top_k : events recalled with `store: topk`, at least 1; 8 in the published code.
    summary_share : share of the budget for the summary, in (0, 1); 0.5 in the published code. The
        store gets what the summary leaves free.
    chunk_events : events integrated into the summary per call, at least 1.
    """

    store: Literal["topk", "full"] = "topk"
    top_k: Annotated[int, at_least(1)] = 8
    summary_share: Annotated[float, above(0, below=1)] = 0.5
    chunk_events: Annotated[int, at_least(1)] = 1


class Routed(Arch[RoutedSettings]):
    """Routes every event to a store kept word for word or to a running summary.

    `stored` is the route that goes to the store; the other goes to the summary. The store keeps
    everything (the published code evicts its oldest half-budget first). The summary is recalled
    first, being held to its share, so that packing fills the rest of the budget from the store.
    """

    stored: ClassVar[Route]
    budget_at = "ingest"
    needs_model = True

    async def ingest(self, events: Iterable[Event]) -> None:
        arrived = list(events)
        routes = [route(event.text) for event in arrived]
        self._store = tuple(
            (position, event)
            for position, (event, kind) in enumerate(zip(arrived, routes, strict=True))
            if kind == self.stored
        )
        self._arrived = len(arrived)
        self._facts = routes.count("fact")
        self._index = BM25Index([event.text for _, event in self._store], self.settings)
        other = [e.text for e, kind in zip(arrived, routes, strict=True) if kind != self.stored]
        limit = max(1, math.floor(self.settings.summary_share * limit_of(self.context)))
        self._summary = await summarize(
            self.context.client, other, limit, self.settings.chunk_events
        )

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        items = summary_items(self._summary)
        most = self._index.size if self.settings.store == "full" else self.settings.top_k
        for i, score in self._index.rank(query.text, min(most, k - len(items))):
            position, event = self._store[i]
            signals = {
                "bm25": score,
                "rank": len(items) + 1,
                "recency": recency(position, self._arrived),
            }
            items.append(event_item(event, signals))
        return items[: max(0, k)]

    def report(self) -> Mapping[str, float]:
        total = max(1, self._arrived)
        return {
            "routed_fact": self._facts / total,
            "routed_reasoning": (self._arrived - self._facts) / total,
            "to_store": len(self._store) / total,
            "to_summary": (self._arrived - len(self._store)) / total,
            "summary_calls": self._summary.calls,
            "summaries_cut": self._summary.cut,
        }


@register("arch", "typed_routing")
class TypedRouting(Routed):
    """Facts go to an append-only store, reasoning to a running summary (LongHorizon 5).

    A regex classifier decides event by event. Recalled are the reasoning summary and the top-k
    facts, or the full fact store (`store: full`, LongHorizon 6.1). How events were routed is in the
    report of each history.
    """

    stored = "fact"


@register("arch", "misrouted")
class Misrouted(Routed):
    """`typed_routing` with the routes swapped: facts are summarized, reasoning is retrieved.

    The ablation of LongHorizon 5: does the typing of content carry the result, or the mechanism?
    """

    stored = "reasoning"
