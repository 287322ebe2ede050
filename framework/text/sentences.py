"""Where sentences end: one splitter for packing, memories and the rule-based reading.

A line break ends a sentence; a full stop, question or exclamation mark does so before white space
and what can begin another. Neither a provision's code at the start of its sentence (`UP-2. Deny
if ...`), nor a title or usual abbreviation, nor a figure (`$8,500.25`) is an end.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_BREAK: Final = re.compile(r"(?<=[.!?])[\"')\]]?\s+(?=[\"'(\[]?[A-Z0-9$])|\s*\n\s*")
# What may precede a full stop that does not end a sentence: a provision's code at its start, a
# title or another usual abbreviation.
_NO_BREAK: Final = re.compile(
    r"(?:^\s*(?:[-*•]\s+)?[A-Z][\w-]*(?:\s+[A-Z]?-?\d[\w.()-]*)?(?:\s+\(amended [^)]*\))?"
    r"|\b(?:Mr|Mrs|Ms|Dr|Prof|St|No|Nos|Jr|Sr|vs|cf|approx|Sec|Art|e\.g|i\.e|[A-Z]))\.\Z"
)
_DIGIT: Final = re.compile(r"\d")
_TITLES: Final = frozenset({"Mr", "Mrs", "Ms", "Dr", "Prof", "St", "No", "Nos", "Jr", "Sr"})


@lru_cache(maxsize=1 << 11)
def sentence_ends(text: str) -> tuple[tuple[int, int], ...]:
    """(end of a sentence, start of the next) for every boundary inside `text`, in order."""
    ends: list[tuple[int, int]] = []
    start = 0
    for cut in _BREAK.finditer(text):
        if "\n" in cut.group() or not _is_unfinished(text[start : cut.start()]):
            ends.append((_end(text, cut), cut.end()))
            start = cut.end()
    return tuple(ends)


def sentences(text: str) -> list[str]:
    """The sentences of `text`, in order, without surrounding white space."""
    starts = [0, *(start for _, start in sentence_ends(text))]
    ends = [*(end for end, _ in sentence_ends(text)), len(text)]
    parts = (text[a:b].strip() for a, b in zip(starts, ends, strict=True))
    return [part for part in parts if part]


def _end(text: str, cut: re.Match[str]) -> int:
    """The end of the sentence before a cut: a closing quote or bracket still belongs to it."""
    return cut.end() - len(cut.group().lstrip("\"')]")) if "\n" not in cut.group() else cut.start()


def _is_unfinished(head: str) -> bool:
    match = _NO_BREAK.search(head)
    if match is None:
        return False
    # A lone capitalised word before a full stop is a sentence ("Approved."); a code has a digit.
    return match.start() > 0 or bool(_DIGIT.search(match[0])) or match[0][:-1] in _TITLES
