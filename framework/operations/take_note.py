"""Write a note about a document and link it to earlier notes (A-Mem)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from framework.contracts import Profile
from framework.operations import _json
from framework.operations._lexical import words_of
from framework.operations.prompted import PromptedOperation
from framework.operations.reading.noise import mishap
from framework.registry import register
from framework.text.sentences import sentences

__all__ = ["Note", "Revision", "TakeNote", "TakeNoteRequest", "TakeNoteResponse"]

_KEYWORDS: Final = 8
_SHARED: Final = 2
"""Keywords of a document that a note must hold for the rules to link the two."""


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

    The source makes a call for each (Xu et al., "A-MEM", 2025, sections 3.1-3.3). The rule-based
    answer is lexical: the most frequent words that are no function words, the first sentence, a
    link to every note that holds two of these words or more, and to the context of a linked note it
    adds the words that both hold.
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

    def offline(self, request: TakeNoteRequest, profile: Profile) -> TakeNoteResponse:
        told = [
            sentence
            for sentence in sentences(request.document)
            if mishap(f"{self.name}: {sentence}", profile) != "miss"
        ]
        counts = Counter(word for sentence in told for word in words_of(sentence))
        keywords = tuple(word for word, _ in counts.most_common(_KEYWORDS))
        links, revised = [], []
        for number, note in enumerate(request.notes, 1):
            held = frozenset(words_of(f"{note.text} {note.context}"))
            shared = [word for word in keywords if word in held]
            if len(shared) >= _SHARED:
                links.append(number)
                new = [word for word in shared if word not in words_of(note.context)]
                if new:
                    context = f"{note.context} {' '.join(new)}"
                    revised.append(Revision(number=number, context=context.strip()))
        return TakeNoteResponse(
            keywords=keywords,
            context=told[0] if told else "",
            links=tuple(links),
            revised=tuple(revised),
        )


def _number(value: object, notes: int) -> int:
    if not _json.whole_within(value, 1, notes):
        raise ValueError(f"a number from 1 to {notes} expected, got {value!r}")
    return value
