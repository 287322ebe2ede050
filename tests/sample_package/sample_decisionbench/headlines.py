"""An arm: remembers one sentence of each document, in the words of the model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import register
from sample_decisionbench.headline import Headline, HeadlineRequest


@dataclass(frozen=True)
class HeadlinesSettings:
    """`newest_first`: order of recall; otherwise the order of arrival."""

    newest_first: bool = True


@register("arch", "sample_headlines")
class Headlines(Arch[HeadlinesSettings]):
    """One sentence an event, written by the model as the event arrives."""

    needs_model = True
    query = "none"

    async def ingest(self, events: Iterable[Event]) -> None:
        operation = Headline()
        self._items = [
            Item(
                id=event.id,
                text=await self.context.client.ask(operation, HeadlineRequest(text=event.text)),
                source_ids=(event.id,),
            )
            for event in events
        ]
        if self.settings.newest_first:
            self._items.reverse()

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        return self._items[:k]
