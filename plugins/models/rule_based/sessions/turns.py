"""A view of conversations as dated statements: who said what in which session.

A turn begins with a line `2023/05/29 (Mon) 01:53 | user`; what stands before the first such line
has neither date nor speaker. Words are compared by their stems.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Final

from framework.text.sentences import sentences
from framework.text.sessions import HEADER, date_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One sentence of a turn. `stamp` names its session: the date line without the speaker."""

    text: str
    date: date | None
    stamp: str
    role: str
    stems: frozenset[str]


_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_STOP_WORDS: Final = """
    a about again ago all also am an and any are as at be been both but by can could currently
    day days did do does doing done earlier ever few for from get give go going got had has
    have he how i i'd i'll i'm i've if in into is it it's its just know last latest long made
    make many me month months more most much my now of off often on one or our out over pass
    passed past recent recently remind said say she so some tell than that the their them then
    there these they this those time times to today told too total until up us use used was we
    week weekend weeks were what when where which who whom whose why will with would year years
    yesterday you your
"""
_STOP: Final = frozenset(_STOP_WORDS.split())
_NAME: Final = re.compile(
    r"[\"“](?P<quoted>[^\"”]+)[\"”]"
    r"|(?<![\w'’])(?P<name>[A-Z][\w'’-]*(?: (?:of |the |de |la )?[A-Z][\w'’-]*)*)"
)
_NO_NAME_WORDS: Final = """
    i i'm i've i'd i'll monday tuesday wednesday thursday friday saturday sunday january february
    march april may june july august september october november december
"""
_NO_NAMES: Final = frozenset(_NO_NAME_WORDS.split())


@lru_cache(maxsize=1 << 10)
def statements_of(view: str) -> tuple[Statement, ...]:
    """The sentences of a view in its order, each with its session and speaker."""
    return tuple(_statements(view))


def _statements(view: str) -> Iterator[Statement]:
    stamp, role, start = "", "", 0
    for found in [*HEADER.finditer(view), None]:
        end = len(view) if found is None else found.start()
        for text in sentences(view[start:end]):
            yield Statement(
                text=text, date=date_of(stamp), stamp=stamp, role=role, stems=stems(text)
            )
        if found is not None:
            stamp, role, start = found["stamp"], found["role"], found.end()


@lru_cache(maxsize=1 << 15)
def stems(text: str) -> frozenset[str]:
    """The stems of a text's words, without function words, words of time and bare numbers."""
    words = (word.replace("’", "'").removesuffix("'s") for word in _WORD.findall(text.casefold()))
    return frozenset(_stem(word) for word in words if word not in _STOP and not word.isdigit())


def _stem(word: str) -> str:
    for suffix in ("ing", "ed", "es", "s"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3 and not word.endswith("ss"):
            word = word[: -len(suffix)]
            break
    if len(word) > 3 and word[-1] == word[-2]:
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def names(text: str) -> list[str]:
    """What bears a name in a sentence: titles in quotation marks, words with a capital within it.

    Weekdays, months and the first word of the sentence are none.
    """
    found = []
    for match in _NAME.finditer(text):
        name = match["quoted"] or match["name"]
        if match["name"] and match.start() == 0:
            # The first word has its capital from its place; a name may still follow it.
            name = name.partition(" ")[2]
        words = name.split()
        while words and words[0].casefold().replace("’", "'") in _NO_NAMES:
            words.pop(0)
        while words and words[-1].casefold() in _NO_NAMES:
            words.pop()
        if words:
            found.append(" ".join(words).removesuffix("'s").removesuffix("’s"))
    return found
