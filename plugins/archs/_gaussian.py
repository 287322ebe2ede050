"""Groups of similar vectors as RAPTOR's own: UMAP, then Gaussian mixtures chosen by BIC."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from framework.errors import UserError

Reduce = Callable[[NDArray[np.float32], int, int], NDArray[Any]]

THRESHOLD: Final = 0.1
"""Posterior probability from which a row belongs to a component (RAPTOR, section 3)."""
DIMENSIONS: Final = 10
MOST_TOKENS: Final = 3_500
"""A group of more is grouped again."""
_MOST: Final = 50
_NEIGHBOURS: Final = 10
_SEEDS: Final = 224, 0
"""Of the choice by BIC, and of the mixture that is kept; the source leaves UMAP without one."""


def gaussian_clusters(
    vectors: NDArray[np.float32], tokens: Sequence[int], reduce: Reduce | None = None
) -> list[tuple[int, ...]]:
    """Groups of rows, each in one or more: RAPTOR's section 3 with its published constants.

    All rows are reduced to 10 dimensions (UMAP by cosine, as many neighbours as the square root of
    their number) and grouped by the Gaussian mixture, of at most 49 components, whose BIC is least;
    each group likewise by itself with 10 neighbours. A row is in every component whose posterior
    probability exceeds `THRESHOLD`. A group of more than 3,500 tokens is grouped again, and kept
    where that does not divide it. Up to 11 rows are one group. With fixed seeds, so deterministic
    on one machine. Source: github.com/parthsarthi03/raptor, raptor/cluster_utils.py.

    Args:
        vectors: a row each.
        tokens: of each row's text.
        reduce: (rows, neighbours, dimensions) to rows of so many dimensions; UMAP by default.
    """
    counts = np.asarray(tokens)
    done: list[tuple[int, ...]] = []
    waiting = [np.arange(len(vectors))] if len(vectors) else []
    while waiting:
        rows = waiting.pop()
        parts = [rows[part] for part in _twice(vectors[rows], reduce or _umap)]
        for part in reversed(parts):
            again = len(part) < len(rows) and counts[part].sum() > MOST_TOKENS
            waiting += [part] if again else []
            done += [] if again else [tuple(part.tolist())]
    return sorted(set(done))


def check_umap() -> None:
    """Raise UserError where the package that reduces dimensions is not installed."""
    try:
        import umap  # noqa: F401
    except ImportError:
        raise UserError(
            "arch.clustering=gaussian needs the package umap-learn: pip install "
            "'decisionbench[umap]' (soft and hard need none)"
        ) from None


def _twice(vectors: NDArray[np.float32], reduce: Reduce) -> Iterator[NDArray[np.int64]]:
    """Rows by the mixture of all, and by one of each component's own."""
    n = len(vectors)
    if n <= DIMENSIONS + 1:
        yield np.arange(n)
        return
    for part in _components(reduce(vectors, int((n - 1) ** 0.5), min(DIMENSIONS, n - 2))):
        if len(part) <= DIMENSIONS + 1:
            yield part
        else:
            own = reduce(vectors[part], _NEIGHBOURS, DIMENSIONS)
            yield from (part[below] for below in _components(own))


def _components(points: NDArray[Any]) -> Iterator[NDArray[np.int64]]:
    """The rows of each component of the best mixture; of none, nothing."""
    from sklearn.mixture import GaussianMixture

    first, last = _SEEDS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a mixture that has not converged has a poor BIC
        numbers = range(1, min(_MOST, len(points)))
        fitted = (GaussianMixture(n, random_state=first).fit(points) for n in numbers)
        best = int(np.argmin([mixture.bic(points) for mixture in fitted])) + 1
        chosen = GaussianMixture(best, random_state=last).fit(points)
    held = chosen.predict_proba(points) > THRESHOLD
    yield from (rows for component in held.T if len(rows := np.flatnonzero(component)))


def _umap(vectors: NDArray[np.float32], neighbours: int, dimensions: int) -> NDArray[Any]:
    from umap import UMAP

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of one job where a seed is given
        found: NDArray[Any] = UMAP(
            n_neighbors=neighbours,
            n_components=dimensions,
            metric="cosine",
            random_state=_SEEDS[0],
            n_jobs=1,
        ).fit_transform(vectors)
    return found
