"""A running summary of everything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from framework.bounds import Bounded, at_least
from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import register
from plugins.archs._summary import limit_of, summarize, summary_items


@dataclass(frozen=True, slots=True, kw_only=True)
class SummOnlySettings(Bounded):
    """Settings of `arch=summ_only`.

    chunk_events : events integrated per call, at least 1. The paper integrates chunk by chunk.
    """

    chunk_events: Annotated[int, at_least(1)] = 1


@register("arch", "summ_only")
class SummOnly(Arch[SummOnlySettings]):
    """A running summary, updated with each new chunk (LongHorizon 5, Summ-only).

    One call per chunk, each from the summary so far and the new events alone, under a limit equal
    to the budget: what an early call dropped no later call can bring back. It sees no task.
    """

    budget_at = "ingest"
    needs_model = True
    query = "none"

    async def ingest(self, events: Iterable[Event]) -> None:
        texts = [event.text for event in events]
        limit = limit_of(self.context)
        self._summary = await summarize(
            self.context.client, texts, limit, self.settings.chunk_events
        )

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        return summary_items(self._summary)[: max(0, k)]

    def report(self) -> Mapping[str, float]:
        return {"summary_calls": self._summary.calls, "summaries_cut": self._summary.cut}
