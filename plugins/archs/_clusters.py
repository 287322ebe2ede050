"""Groups of similar vectors, soft or hard."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

Clustering = Literal["soft", "hard"]

CONCENTRATION: Final = 20.0
"""kappa of the mixture of von Mises-Fisher distributions that memberships come from."""
THRESHOLD: Final = 0.1
"""Posterior probability from which a row belongs to a second group (RAPTOR, section 3)."""
_BRANCH: Final = 8
_ROUNDS: Final = 10
_AT_ONCE: Final = 4096


def clusters(
    vectors: NDArray[np.float32], size: int, clustering: Clustering
) -> list[tuple[int, ...]]:
    """Groups of rows: every row in one group of at most `size`.

    With soft clustering a row is also in the group with the second nearest centre, when it might
    come from there (`THRESHOLD`, between the two): groups can then hold more than `size`.

    The rows are split into at most eight parts by spherical k-means, and each part likewise, until
    it is small enough: the cost grows as n log n. Deterministic: centres start from the first row
    and then each from the row least like those before. Rows that can't be told apart are cut in
    order of arrival.
    """
    done: list[NDArray[np.int64]] = []
    waiting = [np.arange(len(vectors))]
    while waiting:
        rows = waiting.pop()
        if len(rows) <= size:
            done += [rows] if len(rows) else []
            continue
        parts = _split(vectors[rows], min(_BRANCH, -(-len(rows) // size)))
        if len(parts) == 1:
            parts = np.array_split(np.arange(len(rows)), -(-len(rows) // size))
        waiting += [rows[part] for part in reversed(parts)]
    groups = [tuple(rows.tolist()) for rows in done]
    if clustering == "hard" or len(groups) < 2:
        return groups
    centres = _unit(np.stack([vectors[rows].sum(axis=0) for rows in done]))
    members: list[list[int]] = [list(group) for group in groups]
    own = np.zeros(len(vectors), dtype=np.int64)
    for number, rows in enumerate(done):
        own[rows] = number
    for row, number in _second_groups(vectors, centres, own):
        members[number].append(row)
    return [tuple(sorted(group)) for group in members]


def _second_groups(
    vectors: NDArray[np.float32], centres: NDArray[np.float32], own: NDArray[np.int64]
) -> list[tuple[int, int]]:
    """(row, group) of every row that might come from another group than its own."""
    found = []
    for start in range(0, len(vectors), _AT_ONCE):
        similarity = (vectors[start : start + _AT_ONCE] @ centres.T).astype(np.float64)
        rows = np.arange(len(similarity))
        mine = similarity[rows, own[start : start + _AT_ONCE]].copy()
        similarity[rows, own[start : start + _AT_ONCE]] = -np.inf
        other = np.argmax(similarity, axis=1)
        odds = np.exp(CONCENTRATION * (similarity[rows, other] - mine))
        for row in np.flatnonzero(odds / (1 + odds) > THRESHOLD).tolist():
            found.append((start + row, int(other[row])))
    return found


def _split(vectors: NDArray[np.float32], parts: int) -> list[NDArray[np.int64]]:
    """The rows by the nearest of `parts` centres, empty parts left out."""
    centres = vectors[_spread(vectors, parts)]
    for _ in range(_ROUNDS):
        nearest = np.argmax(vectors @ centres.T, axis=1)
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, vectors)
        moved = np.where(np.linalg.norm(sums, axis=1, keepdims=True) > 0, _unit(sums), centres)
        if np.allclose(moved, centres):
            break
        centres = moved
    nearest = np.argmax(vectors @ centres.T, axis=1)
    found = (np.flatnonzero(nearest == part) for part in range(len(centres)))
    return [rows for rows in found if len(rows)]


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each row divided by its length; a zero row stays."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: NDArray[np.float32] = (vectors / np.maximum(length, 1e-12)).astype(np.float32)
    return scaled


def _spread(vectors: NDArray[np.float32], n: int) -> list[int]:
    """`n` rows far from each other: the first, then each time the one least like those chosen."""
    chosen = [0]
    nearest = vectors @ vectors[0]
    while len(chosen) < n:
        chosen.append(int(np.argmin(nearest)))
        nearest = np.maximum(nearest, vectors @ vectors[chosen[-1]])
    return chosen
