"""Vectors that are added, replaced and removed one by one, searched by inner product."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plugins.archs._bm25 import top


class Vectors:
    """Rows by number, in order of arrival; a removed row is never found again."""

    def __init__(self, dimension: int) -> None:
        self._rows = np.zeros((64, dimension), dtype=np.float32)
        self._live = np.zeros(64, dtype=np.bool_)
        self._n = 0

    def add(self, vector: NDArray[np.float32]) -> int:
        """The number of the new row."""
        if self._n == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
            self._live = np.concatenate([self._live, np.zeros_like(self._live)])
        self._n += 1
        self.replace(self._n - 1, vector)
        return self._n - 1

    def replace(self, number: int, vector: NDArray[np.float32]) -> None:
        """Put another vector in the place of a row."""
        self._rows[number] = vector
        self._live[number] = True

    def remove(self, number: int) -> None:
        """Leave a row out of every later search."""
        self._live[number] = False

    def nearest(self, vector: NDArray[np.float32], k: int) -> list[tuple[int, float]]:
        """Numbers and inner products of the `k` nearest rows, ties in order of arrival."""
        live = self._live[: self._n]
        scores = np.where(live, self._rows[: self._n] @ vector, -np.inf).astype(np.float64)
        order = top(scores, min(k, int(live.sum())))
        return [(int(i), float(scores[i])) for i in order]
