"""Which of the rules in a record governs what a ticket is about.

A record is read as decisions under headers (`DATE | Decision N: TITLE | AUTHOR`) and their links as
they are stated (`implements decision N`). The decision most like the ticket is where the reading
starts; a rule is near when few links lead up to it. Sentences under no header are rules by
themselves, as are comments that stand above the function.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from framework.text.sentences import sentences
from plugins.models.rule_based.patching.rules import CodeRule, rule_in
from plugins.models.rule_based.rarity import rarity

_HEADER: Final = re.compile(r"^\d{4}-\d\d-\d\d \| (?P<title>[^|\n]*) \| [^|\n]*$", re.MULTILINE)
_NUMBER: Final = re.compile(r"\bdecision (\d+)", re.IGNORECASE)
_LINK: Final = re.compile(
    r"\b(implements|is derived from|follows from|constrains|replaces|supersedes) decision (\d+)",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[a-z]{3,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A rule and how far it is from the ticket: links from the nearest decision, similarity."""

    rule: CodeRule
    links: float
    similarity: float


@dataclass(slots=True)
class _Document:
    """What stands under one header. `number` is None for what is no decision."""

    number: str | None
    text: str
    up: set[str] = field(default_factory=set)


def commented(text: str, function: str) -> Iterator[CodeRule]:
    """The rules in the comments right above a function."""
    lines = text.splitlines()
    for index, line in enumerate(lines):
        if line.startswith(f"def {function}("):
            start = index
            while start and lines[start - 1].startswith("#"):
                start -= 1
            words = " ".join(above.lstrip("# ") for above in lines[start:index])
            yield from (rule for s in sentences(words) if (rule := rule_in(s)))


def in_record(record: str, ticket: str, skip: Sequence[str] = ()) -> list[Found]:
    """The rules in force that a record states, the one that most likely governs first.

    skip : sentences that are passed over.
    """
    documents = list(_documents(record))
    by_number = {d.number: d for d in documents if d.number}
    retired = _link(documents, by_number)
    similarity = _similarity(ticket, [d.text for d in documents])
    links: Mapping[str, int] = {}
    known = [(like, d.number) for like, d in zip(similarity, documents, strict=True) if d.number]
    if known:
        links = _distances(max(known, key=lambda pair: pair[0])[1], by_number)
    found: list[Found] = []
    for like, document in zip(similarity, documents, strict=True):
        if document.number in retired:
            continue
        for sentence in sentences(document.text):
            rule = None if sentence in skip else rule_in(sentence)
            if rule is not None:
                away = 0 if document.number is None else links.get(document.number, math.inf)
                found.append(Found(rule=rule, links=away, similarity=like))
    return sorted(found, key=lambda f: (f.links, -f.similarity))


def _documents(record: str) -> Iterator[_Document]:
    headers = list(_HEADER.finditer(record))
    first = headers[0].start() if headers else len(record)
    if record[:first].strip():
        yield _Document(number=None, text=record[:first])
    ends = [*(header.start() for header in headers[1:]), len(record)]
    for header, end in zip(headers, ends, strict=False):
        number = _NUMBER.match(header["title"])
        text = f"{header['title']}.\n{record[header.end() : end]}"
        yield _Document(number=number[1] if number else None, text=text)


def _link(documents: Iterable[_Document], by_number: Mapping[str, _Document]) -> set[str]:
    """Fill in what stands above each decision; the numbers of those that were replaced."""
    retired = set()
    for document in documents:
        for relation, number in _LINK.findall(document.text) if document.number else ():
            if relation.lower() in ("replaces", "supersedes"):
                retired.add(number)
            elif relation.lower() == "constrains":
                if number in by_number and document.number:
                    by_number[number].up.add(document.number)
            else:
                document.up.add(number)
    return retired


def _distances(start: str, by_number: Mapping[str, _Document]) -> dict[str, int]:
    """How many links lead up from one decision to each that is above it."""
    found, waiting = {start: 0}, deque([start])
    while waiting:
        number = waiting.popleft()
        for above in by_number[number].up if number in by_number else ():
            if above not in found:
                found[above] = found[number] + 1
                waiting.append(above)
    return found


def _similarity(ticket: str, texts: Sequence[str]) -> list[float]:
    """The rarity of the ticket's words in each text, over the root of the text's length."""
    found = rarity(_WORD.findall(ticket.lower()), [_WORD.findall(t.lower()) for t in texts])
    lengths = (max(1, len(text.split())) for text in texts)
    return [shared / math.sqrt(length) for shared, length in zip(found, lengths, strict=True)]
