"""The latest events word for word, and a running summary of all before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from framework.bounds import Bounded, at_least
from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import register
from plugins.archs._recent import Recent
from plugins.archs._summary import Summary, folded, limit_of, summary_items


@dataclass(frozen=True, slots=True, kw_only=True)
class RollingSummarySettings(Bounded):
    """Settings of `arch=rolling_summary`.

    window_share : share of the budget for the latest events in full, in [0, 1); the summary has the
        rest.
    """

    window_share: Annotated[float, at_least(0, below=1)] = 0.5


@register("arch", "rolling_summary")
class RollingSummary(Arch[RollingSummarySettings]):
    """The latest events in full, plus a rolling summary of all earlier ones.

    Depth 9.2 places such a store by a formula; this is one, as production agents have it. An event
    enters the window whole. When the window is over its share of the budget, its older half leaves
    at once and one call folds it into the summary. Recall gives the summary, then the window,
    latest first. It sees no task. `summ_only` has no window.
    """

    budget_at = "ingest"
    needs_model = True
    query = "none"

    async def ingest(self, events: Iterable[Event]) -> None:
        limit = limit_of(self.context)
        self._window = Recent(int(limit * self.settings.window_share))
        self._summary = Summary()
        for event in events:
            left = self._window.push(event)
            if left:
                self._summary = await folded(
                    self.context.client,
                    self._summary,
                    [event.text for event in left],
                    limit - self._window.limit,
                )

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        items = [*summary_items(self._summary)]
        items += self._window.items(first_rank=len(items) + 1)
        return items[: max(0, k)]

    def report(self) -> Mapping[str, float]:
        return {
            "summary_calls": self._summary.calls,
            "summaries_cut": self._summary.cut,
            "window_events": len(self._window.events),
        }
