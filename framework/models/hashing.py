"""Hashed words as vectors: the hashing trick (Weinberger et al., ICML 2009, section 2).

Also what stands in for an embedding model in a dry run and in the local server for tests.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

_WORD: Final = re.compile(r"\d+(?:[.,]\d+)*|[^\W_]+")
_TEXTS_AT_ONCE: Final = 4096


@lru_cache(maxsize=1 << 17)
def _hashed(word: str) -> int:
    """A stable 63-bit hash: Python's own changes from process to process."""
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest()) >> 1


def hashed_words(texts: Sequence[str], dimension: int) -> NDArray[np.float32]:
    """An (n, `dimension`) array of L2-normalised signed counts of hashed words, damped by a root.

    A word adds to the one place, with the one sign, that its hash gives it, so that collisions
    cancel in expectation. A text without a word is all 0.
    """
    vectors = np.zeros((len(texts), dimension), dtype=np.float32)
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        some = [_WORD.findall(text.lower()) for text in texts[start : start + _TEXTS_AT_ONCE]]
        hashes = np.array([_hashed(word) for words in some for word in words], dtype=np.int64)
        rows = np.repeat(np.arange(len(some)), [len(words) for words in some])
        signs = np.where(hashes & 1, 1.0, -1.0)
        places = rows * dimension + (hashes >> 1) % dimension
        counts = np.bincount(places, weights=signs, minlength=len(some) * dimension)
        part = counts.reshape(len(some), dimension)
        part = np.sign(part) * np.sqrt(np.abs(part))
        lengths = np.linalg.norm(part, axis=1, keepdims=True)
        vectors[start : start + len(some)] = part / np.where(lengths > 0, lengths, 1.0)
    return vectors
