"""Write a note about a document and link it to earlier notes (A-Mem)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
    """Note construction, link generation and memory evolution in one call.

    The source makes a call for each (Xu et al., "A-MEM", 2025, sections 3.1-3.3).
    """

    slots = frozenset({"notes", "document"})

    def fill(self, request: TakeNoteRequest) -> Mapping[str, str]:
        fenced = (
            f'<note number="{number}">\n{note.text}\nContext: {note.context}\n</note>'
            for number, note in enumerate(request.notes, 1)
        )
        return {"notes": "\n".join(fenced) or "(none)", "document": request.document}

    def parse(self, text: str, request: TakeNoteRequest) -> TakeNoteResponse:
        data = self.json_object(text)
        _json.expect_keys(data, ("keywords", "context", "links", "revised"))
        links = data["links"]
        if not isinstance(links, list):
            raise ValueError(f"links: a list of numbers expected, got {links!r}")
        revised = []
        for entry in _json.objects(data, "revised"):
            _json.expect_keys(entry, ("number", "context"))
            number = _number(entry["number"], len(request.notes))
            revised.append(Revision(number=number, context=_json.text(entry, "context")))
        return TakeNoteResponse(
            keywords=_json.texts(data, "keywords"),
            context=_json.text(data, "context"),
            links=tuple(dict.fromkeys(_number(link, len(request.notes)) for link in links)),
            revised=tuple(revised),
        )


def _number(value: object, notes: int) -> int:
    if not _json.whole_within(value, 1, notes):
        raise ValueError(f"a number from 1 to {notes} expected, got {value!r}")
    return value
