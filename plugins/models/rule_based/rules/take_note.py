"""How a note is written and linked: by the most frequent words."""

from __future__ import annotations

from collections import Counter
from typing import Final

from framework.contracts import Profile, Rule
from framework.operations.take_note import (
    Revision,
    TakeNoteRequest,
    TakeNoteResponse,
)
from framework.registry import register
from framework.text.sentences import sentences
from plugins.models.rule_based.memory.lexical import words_of
from plugins.models.rule_based.noise import is_missed

_KEYWORDS: Final = 8
_SHARED: Final = 2
"""Keywords of a document that a note must hold for the rules to link the two."""


@register("rule", "take_note")
class TakeNoteRule(Rule[TakeNoteRequest, TakeNoteResponse]):
    """Keywords: the most frequent content words; context: the first sentence.

    It links to every note that holds two of these words or more, and to the context of a linked
    note it adds the words that both hold.
    """

    def answer(self, request: TakeNoteRequest, profile: Profile) -> TakeNoteResponse:
        told = [
            sentence
            for sentence in sentences(request.document)
            if not is_missed(f"{self.name}: {sentence}", profile)
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
