"""That nothing a judge is shown tells whose answer it is."""

from __future__ import annotations

import re
from functools import lru_cache

from framework import registry


class Unblinded(Exception):
    """A prompt to a judge names a memory architecture; it is not sent."""


def check_blind(text: str) -> None:
    """Raise Unblinded where `text` names a registered arch.

    A name with an underscore or a digit (`typed_graph`, `bm25`) is found anywhere; one that is an
    ordinary word (`none`, `oracle`) only where it is called an arm, as in `arch=none`: in a notice
    it is just a word.
    """
    if match := _pattern(tuple(registry.names("arch"))).search(text):
        raise Unblinded(f"the judge would see the name of an arm: {match.group()!r}")


@lru_cache(maxsize=4)
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    telling = [re.escape(name) for name in names if not name.isalpha()]
    words = [re.escape(name) for name in names if name.isalpha()]
    called = r"\b(?:arch|arm|architecture|memory)\s*(?:[:=]|is|named|called)\s*['\"]?"
    patterns = [rf"(?<!\w){name}(?!\w)" for name in telling]
    patterns += [rf"{called}{word}(?!\w)" for word in words]
    return re.compile("|".join(patterns) or r"(?!)", re.IGNORECASE)
