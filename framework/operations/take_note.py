"""Write a note about a document and link it to earlier notes (A-Mem)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from framework.operations import _json
from framework.operations.prompted import PromptedOperation
from framework.registry import register


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """An earlier note: the text it is of, and what was written about it."""

    text: str
    context: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeNoteRequest:
    """One document, and the earlier notes that are most like it."""

    document: str
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A new context for the note of this number, from 1 in the order of the request."""

    number: int
    context: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeNoteResponse:
    """Keywords and one sentence of context; numbers of the notes it is linked to; revised notes."""

    keywords: tuple[str, ...]
    context: str
    links: tuple[int, ...] = ()
    revised: tuple[Revision, ...] = ()


@register("operation", "take_note")
class TakeNote(PromptedOperation[TakeNoteRequest, TakeNoteResponse]):
    """Write a note, link it to earlier ones and revise those, in one call.

    The source makes a call for each (Xu et al., "A-MEM", 2025, sections 3.1-3.3).
    """

    response = TakeNoteResponse
    slots = frozenset({"notes", "document"})

    def fill(self, request: TakeNoteRequest) -> Mapping[str, str]:
        fenced = (
            f'<note number="{number}">\n{note.text}\nContext: {note.context}\n</note>'
            for number, note in enumerate(request.notes, 1)
        )
        return {"notes": "\n".join(fenced) or "(none)", "document": request.document}

    def schema(self, request: TakeNoteRequest) -> Mapping[str, Any] | None:
        """The files' form, held to the notes' numbers."""
        schema: Any = super().schema(request)
        links, revised = (schema["properties"][name] for name in ("links", "revised"))
        for array, number in (
            (links, links["items"]),
            (revised, revised["items"]["properties"]["number"]),
        ):
            number["minimum"], number["maximum"] = 1, max(1, len(request.notes))
            array["maxItems"] = min(array["maxItems"], len(request.notes))
        return schema  # type: ignore[no-any-return]

    def parse(self, text: str, request: TakeNoteRequest) -> TakeNoteResponse:
        found = super().parse(text, request)
        for number in (*found.links, *(revision.number for revision in found.revised)):
            _json.check_number(number, 1, len(request.notes))
        return replace(found, links=tuple(dict.fromkeys(found.links)))
