"""Groups of alike vectors, soft or hard, of at most so many members."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

Clustering = Literal["soft", "hard"]

CONCENTRATION: Final = 20.0
"""kappa of the mixture of von Mises-Fisher distributions that memberships come from."""
THRESHOLD: Final = 0.1
"""Posterior probability from which a member belongs to a further group (RAPTOR, section 3)."""
_BRANCH: Final = 8
_ROUNDS: Final = 10


def clusters(
    vectors: NDArray[np.float32], size: int, clustering: Clustering
) -> list[tuple[int, ...]]:
    """Groups of at most `size` rows each, every row in one or, with soft clustering, in several.

    The rows are split into at most eight parts by spherical k-means, and each part likewise, until
    it is small enough: the cost grows as n log n. Deterministic: centres start from the first row
    and then each from the row least like those before. Rows that can't be told apart are cut in
    order of arrival.
    """
    done: dict[tuple[int, ...], None] = {}
    waiting = [np.arange(len(vectors))]
    while waiting:
        rows = waiting.pop()
        if len(rows) <= size:
            if len(rows):
                done[tuple(rows.tolist())] = None
            continue
        parts = _split(vectors[rows], min(_BRANCH, -(-len(rows) // size)), clustering)
        if any(len(part) == len(rows) for part in parts):
            parts = _split(vectors[rows], len(parts), "hard")
        if any(len(part) == len(rows) for part in parts):
            parts = np.array_split(np.arange(len(rows)), -(-len(rows) // size))
        waiting += [rows[part] for part in reversed(parts)]
    return list(done)


def _split(
    vectors: NDArray[np.float32], parts: int, clustering: Clustering
) -> list[NDArray[np.int64]]:
    centres = vectors[_spread(vectors, parts)]
    for _ in range(_ROUNDS):
        nearest = np.argmax(vectors @ centres.T, axis=1)
        moved = np.stack(
            [vectors[nearest == c].sum(axis=0) if (nearest == c).any() else centres[c]
             for c in range(len(centres))]
        )  # fmt: skip
        length = np.linalg.norm(moved, axis=1, keepdims=True)
        moved = np.where(length > 0, moved / np.maximum(length, 1e-12), centres)
        if np.allclose(moved, centres):
            break
        centres = moved.astype(np.float32)
    likeness = (vectors @ centres.T).astype(np.float64)
    nearest = np.argmax(likeness, axis=1)
    belongs = nearest[:, None] == np.arange(len(centres))
    if clustering == "soft":
        odds = np.exp(CONCENTRATION * (likeness - likeness.max(axis=1, keepdims=True)))
        belongs |= odds / odds.sum(axis=1, keepdims=True) > THRESHOLD
    return [np.flatnonzero(column) for column in belongs.T if column.any()]


def _spread(vectors: NDArray[np.float32], n: int) -> list[int]:
    """`n` rows far from each other: the first, then each time the one least like those chosen."""
    chosen = [0]
    nearest = vectors @ vectors[0]
    while len(chosen) < n:
        chosen.append(int(np.argmin(nearest)))
        nearest = np.maximum(nearest, vectors @ vectors[chosen[-1]])
    return chosen
