"""Nearest neighbours by inner product, exact, over the run's embedder."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framework.contracts import ArchContext, Embedder


async def embed(context: ArchContext, texts: Sequence[str]) -> NDArray[np.float32]:
    """The texts' vectors by the run's embedder. Raises ValueError where the arm was given none."""
    embedder: Embedder[Any] | None = context.embedder
    if embedder is None:
        raise ValueError("the arm was given no embedder")
    found = embedder.embed(texts)
    rows: NDArray[np.float32] = await found if inspect.isawaitable(found) else found
    return rows


class DenseIndex:
    """Exact search by inner product over fixed vectors (faiss `IndexFlatIP`).

    faiss keeps any of several equal vectors at the end of its list; here ties are in order of
    arrival, and all of them are found. Approximate indexes are not used for scored arms.
    """

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        import faiss

        self.vectors = vectors
        self._index = faiss.IndexFlatIP(max(1, vectors.shape[1]))
        if len(vectors):
            self._index.add(np.ascontiguousarray(vectors))

    def rank(
        self, vector: NDArray[np.float32], k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Places of the `k` nearest, nearest first, and their inner products."""
        n = len(self.vectors)
        k = min(k, n)
        if k <= 0:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
        asked = np.ascontiguousarray(vector.reshape(1, -1), dtype=np.float32)
        scores, places = (found[0] for found in self._index.search(asked, k))
        if k < n:  # whatever ties with the last one
            below = float(np.nextafter(scores[-1], np.float32(-np.inf)))
            _, scores, places = self._index.range_search(asked, below)
        order = np.lexsort((places, -scores))[:k]
        return places[order].astype(np.int64), scores[order]
