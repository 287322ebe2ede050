"""A single typed schema, synthesised again on overflow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from framework.contracts import Arch, Query
from framework.operations.synthesize_schema import (
    SynthesizeSchema,
    SynthesizeSchemaRequest,
    SynthesizeSchemaResponse,
)
from framework.records import Event, Item
from framework.registry import NoSettings, register
from framework.text.tokens import count_tokens
from plugins.archs._items import event_item, recency
from plugins.archs._summary import limit_of


@register("arch", "sam")
class SAM(Arch[NoSettings]):
    """One typed JSON schema for everything, rewritten as a whole on overflow (LongHorizon 5).

    Events are staged word for word until store and staged events together exceed the budget; one
    call then folds all of them into the store, and a second call shortens a store that came out too
    long. What is staged when the history ends is folded in too. A response that cannot be parsed
    leaves the store and the staged events as they were: the next overflow tries them all again, and
    what was never folded in is recalled behind the store (the published code lost it). It is told
    the answer form's fields, never their values. With the rule-based model sentences are filed by
    their words (`SynthesizeSchema`).
    """

    budget_at = "ingest"
    needs_model = True
    knows_schema = True
    query = "none"

    async def ingest(self, events: Iterable[Event]) -> None:
        self._limit = limit_of(self.context)
        self._store = SynthesizeSchemaResponse()
        self._staged: list[tuple[int, Event]] = []
        self._arrived = self._calls = self._failures = 0
        staged_tokens = 0
        for event in events:
            self._staged.append((self._arrived, event))
            self._arrived += 1
            staged_tokens += count_tokens(event.text)
            if count_tokens(self._store.text) + staged_tokens > self._limit:
                await self._fold()
                staged_tokens = sum(count_tokens(event.text) for _, event in self._staged)
        if self._staged:
            await self._fold()

    async def _fold(self) -> None:
        """Fold the staged events into the store, and shorten it when it is too long."""
        chunks = tuple(event.text for _, event in self._staged)
        if await self._synthesize(chunks):
            self._staged = []
            if count_tokens(self._store.text) > self._limit:
                await self._synthesize(())

    async def _synthesize(self, chunks: tuple[str, ...]) -> bool:
        """Whether the model's answer could be read, and so has become the store."""
        request = SynthesizeSchemaRequest(
            store=self._store,
            chunks=chunks,
            fields=self.context.fields,
            limit_tokens=self._limit,
        )
        self._calls += 1
        try:
            self._store = await self.context.client.ask(SynthesizeSchema(), request)
        except ValueError:  # what `Operation.parse` raises; a call that failed is not caught here
            self._failures += 1
            return False
        return True

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        items = []
        if self._store.text:
            items.append(Item(id="schema", text=self._store.text, signals={"rank": 1}))
        for position, event in self._staged:
            late = recency(position, self._arrived)
            items.append(event_item(event, {"rank": len(items) + 1, "recency": late}))
        return items[: max(0, k)]

    def report(self) -> Mapping[str, float]:
        return {
            "schema_calls": self._calls,
            "unreadable_responses": self._failures,
            "left_staged": len(self._staged),
        }
