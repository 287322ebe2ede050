"""Short memories, added, updated and deleted as documents arrive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from framework.bounds import Bounded, at_least
from framework.contracts import Arch, Query
from framework.operations.consolidate import Change, Consolidate, ConsolidateRequest
from framework.records import Event, Item
from framework.registry import register
from plugins.archs._dense import embed, embed_query
from plugins.archs._vectors import Vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidateSettings(Bounded):
    """Settings of `arch=consolidate`.

    similar : number of memories that a document is compared with, at least 1; 10 in the source.
    """

    similar: Annotated[int, at_least(1)] = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class _Memory:
    """A memory, and the event that last wrote it."""

    text: str
    source: str


@register("arch", "consolidate")
class ConsolidateMemory(Arch[ConsolidateSettings]):
    """Mem0-style: extracts facts and adds, updates, deletes or keeps memories accordingly.

    Source: Chhikara et al., "Mem0: Building Production-Ready AI Agents with Scalable Long-Term
    Memory", 2025, section 2.1. One call a document gets its text and the memories most like it, and
    says what becomes of the store. Recall ranks the memories by inner product with the query. What
    `arch=dense` says of embedders holds here. A memory names the event that last wrote it as its
    source. `-style`: one call where the source makes two, and like memories are looked up for a
    document, not for a fact (see `Consolidate`). A response that can't be read leaves the store as
    it was.
    """

    needs_model = True
    uses_embedder = True

    async def ingest(self, events: Iterable[Event]) -> None:
        self._memories: dict[int, _Memory] = {}
        self._vectors: Vectors | None = None
        self._counts = Counter({"added": 0, "updated": 0, "deleted": 0, "left": 0, "unreadable": 0})
        for event in events:
            (vector,) = await embed(self.context, [event.text])
            if self._vectors is None:
                self._vectors = Vectors(len(vector))
            near = [number for number, _ in self._vectors.nearest(vector, self.settings.similar)]
            request = ConsolidateRequest(
                document=event.text,
                memories=tuple(self._memories[number].text for number in near),
            )
            try:
                response = await self.context.client.ask(Consolidate(), request)
            except ValueError:  # what `Operation.parse` raises; a failed call is not caught here
                self._counts["unreadable"] += 1
                continue
            await self._apply(response.changes, near, event.id)

    async def _apply(self, changes: Sequence[Change], near: Sequence[int], source: str) -> None:
        assert self._vectors is not None
        written = await embed(self.context, [change.text for change in changes])
        for change, vector in zip(changes, written, strict=True):
            memory = _Memory(text=change.text, source=source)
            if change.action == "ADD":
                self._memories[self._vectors.add(vector)] = memory
                self._counts["added"] += 1
            elif change.action == "UPDATE":
                number = near[change.number - 1]
                self._vectors.replace(number, vector)
                self._memories[number] = memory
                self._counts["updated"] += 1
            elif change.action == "DELETE":
                self._vectors.remove(near[change.number - 1])
                del self._memories[near[change.number - 1]]
                self._counts["deleted"] += 1
            else:
                self._counts["left"] += 1

    async def recall(self, query: Query, k: int) -> Sequence[Item]:
        if self._vectors is None:
            return []
        vector = await embed_query(self.context, query.text or "")
        return [
            Item(
                id=f"memory:{number}",
                text=self._memories[number].text,
                signals={"dense": score, "rank": rank},
                source_ids=(self._memories[number].source,),
            )
            for rank, (number, score) in enumerate(self._vectors.nearest(vector, k), start=1)
        ]

    def report(self) -> Mapping[str, float]:
        return {"memories": len(self._memories), **self._counts}
