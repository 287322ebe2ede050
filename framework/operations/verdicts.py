"""Findings on numbered demands: how they are asked for, read and quoted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from framework.operations._json import read_as

_ELLIPSIS: Final = re.compile(r"\s*(?:\.\.\.|…|\[…\]|\[\.\.\.\])\s*")
_QUOTES: Final = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "\u00a0": " "})


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Whether one demand is met, the words of the text that it rests on, and why in a sentence.

    supported : False where it rests on words that are not in the text: then it is not met,
        whatever was said, and `why` begins with what that was.
    """

    id: str
    met: bool
    quotes: tuple[str, ...] = ()
    why: str = ""
    supported: bool = True

    @property
    def evidence(self) -> str:
        """Reason and quotes in one line."""
        quoted = ", ".join(f'"{quote}"' for quote in self.quotes)
        return ": ".join(filter(None, (self.why.rstrip("."), quoted)))

    @classmethod
    def without_support(cls, said: Finding) -> Finding:
        """Of a finding whose quotes nobody wrote."""
        told = f"said {'met' if said.met else 'not met'}, quoting what the text does not say"
        why = "; ".join(filter(None, (told, said.why)))
        return replace(said, met=False, why=why, supported=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdict:
    """A finding as a model gives it: `number` counts the demands from 1."""

    number: int
    quotes: tuple[str, ...]
    why: str
    met: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdicts:
    verdicts: tuple[_Verdict, ...]


def numbered(texts: Sequence[str]) -> str:
    """The texts, one a line, numbered from 1: no id of the gold is shown."""
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))


def written(findings: Sequence[Finding]) -> dict[str, Any]:
    """The findings as a model would answer, in the order in which the demands were listed."""
    return {
        "verdicts": [
            {"number": number, "quotes": list(f.quotes), "why": f.why, "met": f.met}
            for number, f in enumerate(findings, 1)
        ]
    }


def read_findings(data: Mapping[str, Any], ids: Sequence[str], text: str) -> tuple[Finding, ...]:
    """The findings, in the order of `ids`, as the demands were listed.

    One with a quote that is not in `text` is without support, which says nothing of the
    others. Raises ValueError unless there is exactly one for each demand.
    """
    entries: dict[int, Finding] = {}
    searched = _folded(text)
    for said in read_as(_Verdicts, data).verdicts:
        number = said.number
        if not 1 <= number <= len(ids):
            raise ValueError(f"number: {number} is none of the {len(ids)} listed")
        if number in entries:
            raise ValueError(f"two verdicts on number {number}")
        quotes = tuple(quote for quote in said.quotes if quote.strip())
        found = Finding(id=ids[number - 1], met=said.met, quotes=quotes, why=said.why)
        if not all(_stands_in(quote, searched) for quote in quotes):
            found = Finding.without_support(found)
        entries[number] = found
    missing = [number for number in range(1, len(ids) + 1) if number not in entries]
    if missing:
        raise ValueError(f"no verdict on number {', '.join(map(str, missing))}")
    return tuple(entries[number] for number in range(1, len(ids) + 1))


def _stands_in(quote: str, searched: str) -> bool:
    """Whether every part of a quote stands in the folded text; an ellipsis parts it."""
    return all(part in searched for part in _ELLIPSIS.split(_folded(quote)))


def _folded(text: str) -> str:
    """Lower case, one kind of quotation mark, white space runs as one space."""
    return " ".join(text.translate(_QUOTES).casefold().split())
