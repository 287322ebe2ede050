"""How memories are brought up to date: by the words of each sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from framework.contracts import Profile, Rule
from framework.operations.consolidate import (
    Change,
    ConsolidateRequest,
    ConsolidateResponse,
)
from framework.registry import register
from plugins.models.rule_based.dated import Statement, statements
from plugins.models.rule_based.memory.lexical import corrects, words_of
from plugins.models.rule_based.noise import is_missed

_SIMILAR: Final = 0.3
"""Share of common words from which a correction is held to be of a memory."""
_ENDS: Final = re.compile(
    r"\b(?:withdrawn|rescinded|revoked|cancell?ed|retracted|void(?:ed)?|no longer)\b", re.IGNORECASE
)
_REPLACES: Final = re.compile(r"\b(?:instead|replaced by|is now|not)\b|:", re.IGNORECASE)


@register("rule", "consolidate")
class ConsolidateRule(Rule[ConsolidateRequest, ConsolidateResponse]):
    """Takes every sentence as a fact, compared by its words alone.

    One whose words a memory has all of is no news; one worded as a correction replaces the
    memory it shares most words with, or deletes it where it withdraws and states nothing in its
    place; any other is added.
    """

    def answer(self, request: ConsolidateRequest, profile: Profile) -> ConsolidateResponse:
        told = [
            statement
            for statement in statements(request.document)
            if words_of(statement.text) and not is_missed(f"{self.name}: {statement.text}", profile)
        ]
        return ConsolidateResponse(changes=tuple(_changes(told, request.memories)))


def _changes(told: Sequence[Statement], memories: Sequence[str]) -> Iterator[Change]:
    known = [frozenset(words_of(memory)) for memory in memories]
    said: set[frozenset[str]] = set()
    changed: set[int] = set()
    for statement in told:
        words = frozenset(words_of(statement.text))
        same = next((i for i, memory in enumerate(known) if words <= memory), None)
        if same is not None:
            yield Change(action="NOOP", number=same + 1)
            continue
        if words in said:
            continue
        said.add(words)
        corrected = None
        if corrects(statement.text):
            similar = [
                (len(words & memory) / len(words | memory), -i)
                for i, memory in enumerate(known)
                if i not in changed
            ]
            share, place = max(similar, default=(0.0, 0))
            corrected = -place if share >= _SIMILAR else None
        text = statement.text
        if statement.date and corrects(text):
            text = f"{statement.date}: {text}"
        if corrected is None:
            yield Change(action="ADD", text=text)
            continue
        changed.add(corrected)
        if _ENDS.search(text) and not _REPLACES.search(statement.text):
            yield Change(action="DELETE", number=corrected + 1)
        else:
            yield Change(action="UPDATE", number=corrected + 1, text=text)
