"""A note for every event, linked to the notes that it bears on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from framework.bounds import Bounded, at_least
from framework.contracts import Arch, Query
from framework.operations.take_note import Note, TakeNote, TakeNoteRequest, TakeNoteResponse
from framework.records import Event, Item
from framework.registry import register
from plugins.archs._dense import embed, embed_query
from plugins.archs._items import event_item, recency
from plugins.archs._vectors import Vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedNotesSettings(Bounded):
    """Settings of `arch=linked_notes`.

    neighbours : earlier notes that a new one is compared with, at least 1; 5 in the source.
    expanded : best notes whose linked notes are recalled right behind them, at least 0.
    """

    neighbours: Annotated[int, at_least(1)] = 5
    expanded: Annotated[int, at_least(0)] = 5


@dataclass(slots=True, kw_only=True)
class _Noted:
    """A note: its event, keywords and context, and the places of linked notes, both ways."""

    event: Event
    keywords: tuple[str, ...] = ()
    context: str = ""
    links: dict[int, None] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All of it, as it is embedded."""
        return "\n".join(filter(None, (self.event.text, " ".join(self.keywords), self.context)))


@register("arch", "linked_notes")
class LinkedNotes(Arch[LinkedNotesSettings]):
    """A-Mem-style: notes with keywords, context and links that evolve.

    Source: Xu et al., "A-MEM: Agentic Memory for LLM Agents", 2025, section 3. One call an event
    writes keywords and a context, links the note to some of the earlier notes nearest to it, and
    may revise the context of these. A note is embedded with all that was written about it, and
    again when that is revised. Recall ranks notes by inner product with the query; the notes linked
    to the best stand right behind each. The event's text alone is shown. What `arch=dense` says of
    embedders holds here. `-style`: one call where the source makes three (see `TakeNote`). A
    response that can't be read leaves a bare note.
    """

    needs_model = True
    uses_embedder = True

    async def ingest(self, events: Iterable[Event]) -> None:
        self._notes: list[_Noted] = []
        self._vectors: Vectors | None = None
        self._revised = self._unreadable = 0
        for event in events:
            (vector,) = await embed(self.context, [event.text])
            if self._vectors is None:
                self._vectors = Vectors(len(vector))
            near = [place for place, _ in self._vectors.nearest(vector, self.settings.neighbours)]
            note = _Noted(event=event)
            self._notes.append(note)
            place = self._vectors.add(vector)
            request = TakeNoteRequest(
                document=event.text,
                notes=tuple(
                    Note(text=self._notes[i].event.text, context=self._notes[i].context)
                    for i in near
                ),
            )
            try:
                response = await self.context.client.ask(TakeNote(), request)
            except ValueError:  # what `Operation.parse` raises; a failed call is not caught here
                self._unreadable += 1
                continue
            changed = self._write(place, near, response)
            vectors = await embed(self.context, [self._notes[i].text for i in changed])
            for i, vector in zip(changed, vectors, strict=True):
                self._vectors.replace(i, vector)

    def _write(self, place: int, near: Sequence[int], response: TakeNoteResponse) -> list[int]:
        """Write the note, its links and the revisions; the places of the notes that changed."""
        note = self._notes[place]
        note.keywords, note.context = response.keywords, response.context
        for number in response.links:
            note.links[near[number - 1]] = None
            self._notes[near[number - 1]].links[place] = None
        for revision in response.revised:
            self._notes[near[revision.number - 1]].context = revision.context
        self._revised += len(response.revised)
        return [place, *(near[revision.number - 1] for revision in response.revised)]

    async def recall(self, query: Query, k: int) -> Sequence[Item]:
        if self._vectors is None:
            return []
        vector = await embed_query(self.context, query.text or "")
        ranked = self._vectors.nearest(vector, len(self._notes))
        score = dict(ranked)
        order: dict[int, int] = {}
        for place, _ in ranked[: self.settings.expanded]:
            order.setdefault(place, 0)
            for linked in sorted(self._notes[place].links, key=lambda i: -score[i]):
                order.setdefault(linked, 1)
        for place, _ in ranked:
            order.setdefault(place, 0)
        n = len(self._notes)
        return [
            event_item(
                self._notes[place].event,
                {"dense": score[place], "rank": rank, "linked": hop, "recency": recency(place, n)},
            )
            for rank, (place, hop) in enumerate(list(order.items())[: max(0, k)], start=1)
        ]

    def report(self) -> Mapping[str, float]:
        return {
            "links": sum(len(note.links) for note in self._notes) / 2,
            "revised": self._revised,
            "unreadable": self._unreadable,
        }
