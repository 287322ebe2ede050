"""A text as a person sees it, so that no invisible character hides a word from a pattern."""

from __future__ import annotations

import unicodedata


def visible(text: str) -> str:
    """The text in its compatibility form (NFKC), without format characters (Unicode's Cf).

    Those are zero-width spaces and joiners, soft hyphens and marks of direction: `n\u200bot` is
    read as `not`. Letters of other scripts that look alike are not taken for one another.
    """
    if text.isascii():
        return text
    folded = unicodedata.normalize("NFKC", text)
    return "".join(mark for mark in folded if unicodedata.category(mark) != "Cf")
