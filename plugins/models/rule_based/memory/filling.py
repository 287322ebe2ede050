"""Filling a token limit with whole lines by rank."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from framework.text.tokens import count_tokens


@lru_cache(maxsize=1 << 16)
def tokens_of(text: str) -> int:
    """Tokens of a sentence, remembered."""
    return count_tokens(text)


def pick(lines: Iterable[tuple[tuple[float, ...], str]], limit: int) -> list[str]:
    """The lines of least rank that fit in `limit` tokens together, in their order.

    A line that does not fit is left out and lower-ranked ones may still fit.
    """
    numbered = [(rank, index, line) for index, (rank, line) in enumerate(lines)]
    kept: list[tuple[int, str]] = []
    left = limit
    for _, index, line in sorted(numbered):
        tokens = tokens_of(line)
        if tokens <= left:
            kept.append((index, line))
            left -= tokens
    return [line for _, line in sorted(kept)]
