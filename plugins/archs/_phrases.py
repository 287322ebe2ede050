"""The phrases of a text, found by rule: names, content words and figures."""

from __future__ import annotations

import re
from typing import Final

from plugins.archs._bm25 import words

_NAME: Final = re.compile(r"[A-Z][\w&-]*(?:[ ]+[A-Z][\w&-]*)+")
_STOP_WORDS: Final = (
    "a all also an and any are as at be been but by can did do does for from had has have he her "
    "his how if in into is it its may me more most must no nor not of on one only or our shall she "
    "should so some such than that the their them then there these they this those to under up was "
    "we were what when where which who whom whose why will with would you your"
)
_STOP: Final = frozenset(_STOP_WORDS.split())


def phrases(text: str) -> list[str]:
    """Names of several capitalised words, in lower case, then content words and figures."""
    found = []
    for match in _NAME.findall(text):
        name = match.lower().split()
        if name[0] in _STOP:  # a sentence's first word
            del name[0]
        if len(name) > 1:
            found.append(" ".join(name))
    return found + [word for word in words(text) if word not in _STOP]
