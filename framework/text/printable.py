"""Texts of strangers, as a terminal may show them."""

from __future__ import annotations

import re
from typing import Final

_ACTS: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)
"""What a terminal obeys, or what turns the direction of a line, line feeds and tabs apart."""


_MOST: Final = 500
"""Characters of an error's message that are shown."""


def brief(text: str, most: int = _MOST) -> str:
    """A message in one line; of a longer one its beginning, and how long it is."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]}... ({len(text):,} characters)"


def printable(text: str) -> str:
    r"""A text with ``\x1b`` or ``\u202e`` in the place of every such character."""
    return _ACTS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
