"""An append-only log, projected for the task when it is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from framework.contracts import Arch, Query
from framework.operations.project import Project, ProjectRequest
from framework.records import Event, Item
from framework.registry import NoSettings, register
from plugins.archs._summary import limit_of


@register("arch", "dpm")
class DPM(Arch[NoSettings]):
    """An append-only log, projected for the task by one model call at recall (LongHorizon 5).

    Nothing is condensed while events arrive. Each recall makes exactly one call, from the whole log
    and the task card to a view within the budget, and keeps nothing of it. It is the only arm of
    its paper that sees the task before it chooses, which is declared (`sees_task`) and to be read
    beside its result. With the rule-based model the projection is lexical (`Project`).
    """

    budget_at = "recall"
    needs_model = True
    sees_task = True

    def ingest(self, events: Iterable[Event]) -> None:
        self._log = tuple(event.text for event in events)

    async def recall(self, query: Query, k: int) -> Sequence[Item]:
        if query.task is None:
            raise ValueError("dpm projects for a task, and the query holds none")
        if not self._log or k < 1:
            return []
        request = ProjectRequest(
            task=query.task, events=self._log, limit_tokens=limit_of(self.context)
        )
        view = (await self.context.client.ask(Project(), request)).view
        return [Item(id="projection", text=view, signals={"rank": 1})] if view.strip() else []

    def report(self) -> Mapping[str, float]:
        return {"log_events": len(self._log)}
