"""How much of a question's words a text holds, the rarer the heavier."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence


def rarity(asked: Iterable[str], texts: Sequence[Collection[str]]) -> list[float]:
    """By text, the sum of ln(1 + texts / texts that hold it) over the words asked that it holds.

    Texts are given as their words.
    """
    words = set(asked)
    shared = [words & set(text) for text in texts]
    frequency = Counter(word for held in shared for word in held)
    return [
        sum(math.log1p(len(texts) / frequency[word]) for word in sorted(held)) for held in shared
    ]
