"""An example's query with the values of another question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from plugins.models.rule_based.querying.lexicon import Example, Mention

SIMILAR: Final = 0.5
"""Share of the words of two questions, values aside, from which an example is followed."""

_WORD: Final = re.compile(r"[a-z]+")
_LITERAL: Final = re.compile(r"'((?:[^']|'')*)'")
_FILLERS: Final = frozenset({"the", "a", "of", "is", "are", "there", "what", "which", "in", "for"})


def followed(question: str, found: Sequence[Mention], examples: Sequence[Example]) -> str:
    """The query of the most similar example with this question's values; empty when none is."""
    values = [m.text for m in found if m.kind in ("value", "name")]
    asked = _words(question, values)
    best, share = None, SIMILAR
    for example in examples:
        literals = [m.replace("''", "'") for m in _LITERAL.findall(example.sql)]
        words = _words(example.question, literals)
        overlap = len(asked & words) / max(1, len(asked | words))
        if overlap >= share:
            best, share = example, overlap
    if best is None:
        return ""
    sql, rest = best.sql, list(values)
    for literal in dict.fromkeys(_LITERAL.findall(best.sql)):
        if literal.replace("''", "'") in best.question and rest:
            value = rest.pop(0).replace("'", "''")
            sql = sql.replace(f"'{literal}'", f"'{value}'")
    return sql


def _words(text: str, values: Sequence[str]) -> frozenset[str]:
    for value in values:
        text = text.replace(value, " ")
    return frozenset(_WORD.findall(text.casefold())) - _FILLERS
