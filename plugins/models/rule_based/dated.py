"""A view's text as dated statements: sentences and form lines, each with the date that governs it.

A header line (`2026-03-12 | Appraisal report | Hollis Appraisals`) dates what follows it up to the
next header; a line that opens with a date and a colon (`2026-03-12: ...`) is dated by itself. A
line of indented JSON reads as the form line (`"label": "value",`) or sentence (`"...",`) in it, and
its value may open with a date and a colon.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_HEADER: Final = re.compile(r"(\d{4}-\d\d-\d\d) \| [^|]+(?:\|.*)?\Z")
_DATED: Final = re.compile(r"\[?(\d{4}-\d\d-\d\d)\]?:\s+(?=\S)")
_JSON_LINE: Final = re.compile(r'"(?:([^"]+)": ")?(.*)",?\Z')
_BREAK: Final = re.compile(r"(?<=[.!?])[\"')\]]?\s+(?=[\"'(\[]?[A-Z0-9$])")
# What may precede a full stop that does not end a sentence: a provision's code at its start, a
# title or another usual abbreviation.
_NO_BREAK: Final = re.compile(
    r"(?:^\s*(?:[-*•]\s+)?[A-Z][\w-]*(?:\s+[A-Z]?-?\d[\w.()-]*)?(?:\s+\(amended [^)]*\))?"
    r"|\b(?:Mr|Mrs|Ms|Dr|Prof|St|No|Nos|Jr|Sr|vs|cf|approx|Sec|Art|e\.g|i\.e|[A-Z]))\.\Z"
)
_DIGIT: Final = re.compile(r"\d")
_TITLES: Final = frozenset({"Mr", "Mrs", "Ms", "Dr", "Prof", "St", "No", "Nos", "Jr", "Sr"})


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence or form line; `date` is ISO 8601, empty when nothing dates it."""

    text: str
    date: str = ""


def is_header(line: str) -> bool:
    """Whether a line opens a document."""
    return _HEADER.match(line) is not None


def statements(view: str) -> list[Statement]:
    """The statements of a view, in order, header lines left out."""
    found: list[Statement] = []
    date = ""
    for raw in view.splitlines():
        line = raw.strip()
        if not line:
            continue
        header = _HEADER.match(line)
        if header:
            date = header[1]
            continue
        label = ""
        if line[0] == '"' and (entry := _JSON_LINE.match(line)):
            label = f"{entry[1]}: " if entry[1] else ""
            line = entry[2].replace('\\"', '"')
        own = _DATED.match(line)
        governing = own[1] if own else date
        body = label + (line[own.end() :] if own else line)
        found.extend(Statement(sentence, governing) for sentence in sentences_of(body))
    return found


@lru_cache(maxsize=1 << 15)
def sentences_of(line: str) -> tuple[str, ...]:
    """The sentences of one line. A provision stays whole: neither its code nor a `;` ends it."""
    parts: list[str] = []
    start = 0
    for cut in _BREAK.finditer(line):
        head = line[start : cut.start()]
        if not _is_unfinished(head):
            parts.append(line[start : cut.end()].strip())
            start = cut.end()
    parts.append(line[start:].strip())
    return tuple(part for part in parts if part)


def _is_unfinished(head: str) -> bool:
    match = _NO_BREAK.search(head)
    if match is None:
        return False
    # A lone capitalised word before a full stop is a sentence ("Approved."); a code has a digit.
    return match.start() > 0 or bool(_DIGIT.search(match[0])) or match[0][:-1] in _TITLES
