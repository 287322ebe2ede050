"""Nearest neighbours by inner product, exact, over the run's embedder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from framework.contracts import ArchContext, Embedder, maybe_await
from plugins.archs._bm25 import top
from plugins.archs._stored import index_file

_LOWEST: Final = float(np.finfo(np.float32).min)


@runtime_checkable
class Reproducible(Protocol):
    """An embedder that says what its vectors are made by, so that an index may be kept of them."""

    def made_by(self) -> tuple[Mapping[str, Any], Sequence[str]]:
        """All that its vectors hang on beside their texts: plain data, and source files."""
        ...


async def embed(
    context: ArchContext, texts: Sequence[str], cache: str | None = None
) -> NDArray[np.float32]:
    """The texts' vectors by the run's embedder, from the folder `cache` where they are kept there.

    Raises ValueError where the arm was given no embedder.
    """
    embedder = _of(context)
    file = None
    if isinstance(embedder, Reproducible):
        made_by, code = embedder.made_by()
        file = index_file(cache, texts, {"index": "vectors", **made_by}, code)
    kept = None if file is None else file.load()
    if kept is not None:
        return kept["vectors"]
    rows: NDArray[np.float32] = await maybe_await(embedder.embed(texts))
    if file is not None:
        file.keep({"vectors": rows})
    return rows


async def embed_query(context: ArchContext, text: str) -> NDArray[np.float32]:
    """The vector of what the arm is asked with. Raises ValueError as `embed` does."""
    rows: NDArray[np.float32] = await maybe_await(_of(context).embed_queries([text]))
    first: NDArray[np.float32] = rows[0]
    return first


def _of(context: ArchContext) -> Embedder[Any]:
    if context.embedder is None:
        raise ValueError("the arm was given no embedder")
    return context.embedder


class DenseIndex:
    """Exact search by inner product over fixed vectors (faiss `IndexFlatIP`).

    Ties are in order of arrival, and none is missed: faiss's own list of the best keeps any of
    several equals at its end, so all products are taken from it and the best chosen here. One
    query uses one thread, since handing it to several takes longer. Approximate indexes are not
    used for scored arms.
    """

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        import faiss

        faiss.omp_set_num_threads(1)
        self.vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        self._index = faiss.IndexFlatIP(max(1, vectors.shape[1]))
        if len(vectors):
            self._index.add(self.vectors)

    def rank(
        self, vector: NDArray[np.float32], k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Places of the `k` nearest, nearest first, and their inner products."""
        scores = self.scores(vector)
        order = top(scores, k)
        return order, scores[order].astype(np.float32)

    def scores(self, vector: NDArray[np.float32]) -> NDArray[np.float64]:
        """The inner product of every row with the vector, in order of arrival."""
        scores = np.zeros(len(self.vectors))
        if len(scores):
            asked = np.ascontiguousarray(vector.reshape(1, -1), dtype=np.float32)
            _, found, places = self._index.range_search(asked, _LOWEST)
            scores[places] = found
        return scores
