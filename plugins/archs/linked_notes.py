"""A note for every event, linked to the notes that it bears on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

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

    neighbours : number of earlier notes that a new note is compared with, at least 1; 5 in the
        source.
    expanded : number of best notes whose linked notes are recalled right after them, at least 0.
    calls : calls per event: "one", or up to "three" as in the source (the note, its links, and the
        changes to the notes it was linked to).
    """

    neighbours: Annotated[int, at_least(1)] = 5
    expanded: Annotated[int, at_least(0)] = 5
    calls: Literal["one", "three"] = field(default="one", metadata={"later": True})


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
    """A-Mem-style: linked notes with keywords and context, updated as new ones arrive.

    Source: Xu et al., "A-MEM: Agentic Memory for LLM Agents", 2025, section 3. One call an event
    writes keywords and a context, links the note to some of the earlier notes nearest to it, and
    may revise the context of these. A note is embedded with all that was written about it, and
    again when that is revised. Recall ranks notes by inner product with the query; the notes linked
    to the best stand right behind each. The event's text alone is shown. What `arch=dense` says of
    embedders holds here. `-style`: one call where the source makes three (see `TakeNote`), or with
    `calls=three` three of that one form, of each of which a part is taken; what was written about a
    note then has a part in which earlier notes are near to it. A response that can't be read leaves
    the note as it was.
    """

    needs_model = True
    uses_embedder = True

    async def ingest(self, events: Iterable[Event]) -> None:
        self._notes: list[_Noted] = []
        self._vectors: Vectors | None = None
        self._revised = self._unreadable = 0
        take = self._in_one_call if self.settings.calls == "one" else self._in_three_calls
        for event in events:
            await self._embedded_again(await take(_Noted(event=event)))

    async def _embedded_again(self, places: Sequence[int]) -> None:
        """Embed the notes at these places with what was written about them."""
        if self._vectors is not None:
            vectors = await embed(self.context, [self._notes[i].text for i in places])
            for i, vector in zip(places, vectors, strict=True):
                self._vectors.replace(i, vector)

    async def _in_one_call(self, note: _Noted) -> list[int]:
        """Add the note and what one response says of it; the places of the notes that changed."""
        place, near = await self._placed(note)
        response = await self._asked(note.text, near)
        if response is None:
            return []
        note.keywords, note.context = response.keywords, response.context
        self._link(place, [near[number - 1] for number in response.links])
        return [place, *self._revise(near, response)]

    async def _in_three_calls(self, note: _Noted) -> list[int]:
        """The same by a call for each step, which is told what the one before wrote."""
        made = await self._asked(note.text, [])
        if made is not None:
            note.keywords, note.context = made.keywords, made.context
        place, near = await self._placed(note)
        linked = await self._asked(note.text, near) if near else None
        if linked is None:
            return []
        tied = [near[number - 1] for number in linked.links]
        self._link(place, tied)
        if tied == near:  # nothing else would be asked
            return self._revise(near, linked)
        evolved = await self._asked(note.text, tied) if tied else None
        return [] if evolved is None else self._revise(tied, evolved)

    async def _placed(self, note: _Noted) -> tuple[int, list[int]]:
        """Keep the note; its place, and those of the earlier notes nearest to it."""
        (vector,) = await embed(self.context, [note.text])
        if self._vectors is None:
            self._vectors = Vectors(len(vector))
        near = [place for place, _ in self._vectors.nearest(vector, self.settings.neighbours)]
        self._notes.append(note)
        return self._vectors.add(vector), near

    async def _asked(self, text: str, places: Sequence[int]) -> TakeNoteResponse | None:
        """What the model says of a text beside these notes; None where that can't be read."""
        notes = (self._notes[i] for i in places)
        request = TakeNoteRequest(
            document=text,
            notes=tuple(Note(text=note.event.text, context=note.context) for note in notes),
        )
        try:
            return await self.context.client.ask(TakeNote(), request)
        except ValueError:  # what `Operation.parse` raises; a failed call is not caught here
            self._unreadable += 1
            return None

    def _link(self, place: int, others: Iterable[int]) -> None:
        for other in others:
            self._notes[place].links[other] = None
            self._notes[other].links[place] = None

    def _revise(self, places: Sequence[int], response: TakeNoteResponse) -> list[int]:
        """Write the revised contexts of the notes that the model was shown; their places."""
        for revision in response.revised:
            self._notes[places[revision.number - 1]].context = revision.context
        self._revised += len(response.revised)
        return [places[revision.number - 1] for revision in response.revised]

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
