"""The budget's unit: a deterministic token counter of our own.

A token is a run of at most eight letters, a run of at most three digits, or one other visible
character; white space is free. So the count of two texts joined by white space is the sum of their
counts, and a budget can be checked exactly, with no vocabulary to download. Provider usage, where
there is any, stands beside it and is never used for the budget.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from framework.text.sentences import sentence_ends

TOKENIZER: Final = "decisionbench-v1"
"""Name of the counter, recorded in every manifest."""

_TOKEN: Final = re.compile(r"[^\W\d_]{1,8}|\d{1,3}|[^\w\s]|_")
_SPACE: Final = re.compile(r"\s+")
_LETTERS: Final = bytes(ord("a") if chr(i).isalpha() and i < 128 else ord(" ") for i in range(256))
_DIGITS: Final = bytes(ord("0") if chr(i).isdigit() and i < 128 else ord(" ") for i in range(256))
_NOT_ALONE: Final = bytes(i for i in range(128) if chr(i).isalnum() or chr(i).isspace())
_SHORT: Final = 2_000
"""Characters up to which counts are kept; a longer text is counted line by line."""


def count_tokens(text: str) -> int:
    """Number of tokens of `text`.

    >>> count_tokens("Gross annual income: $147,500.")
    9
    """
    if len(text) <= _SHORT:
        return _counted(text)
    return sum(_counted(line) if len(line) <= _SHORT else _count(line) for line in text.split("\n"))


def _count(text: str) -> int:
    if not text.isascii():
        return len(_TOKEN.findall(text))
    # The same number without the tokens, in a quarter of the time: a run of n letters, now as many
    # "a" before a blank, is one token and (n - 1) // 8 more, of digits likewise.
    raw = text.encode() + b" "
    letters, digits = raw.translate(_LETTERS), raw.translate(_DIGITS)
    n = letters.count(b"a ") + digits.count(b"0 ") + len(raw.translate(None, _NOT_ALONE))
    if b"a" * 9 in letters:
        n += letters.replace(b"a ", b" ").count(b"a" * 8)
    if b"0" * 4 in digits:
        n += digits.replace(b"0 ", b" ").count(b"0" * 3)
    return n


# The same lines are counted for every case of their history, and in every prompt with them.
_counted: Final = lru_cache(maxsize=1 << 15)(_count)


def truncate(text: str, limit: int, slack: int = 0) -> str:
    """The longest start of `text` of at most `limit` tokens, cut at a sentence when that is close.

    The cut is at the last sentence end within the limit when that leaves at most `slack` tokens
    free, else at the last white space. A word or number is never split.
    """
    if limit <= 0:
        return ""
    if count_tokens(text) <= limit:
        return text
    by_sentence = _longest_start(text, [end for end, _ in sentence_ends(text)], limit)
    if limit - count_tokens(by_sentence) <= slack:
        return by_sentence
    return _longest_start(text, [m.start() for m in _SPACE.finditer(text)], limit)


def _longest_start(text: str, cuts: list[int], limit: int) -> str:
    low, high = 0, len(cuts)
    while low < high:
        middle = (low + high) // 2
        if count_tokens(text[: cuts[middle]]) <= limit:
            low = middle + 1
        else:
            high = middle
    return text[: cuts[low - 1]].rstrip() if low else ""
