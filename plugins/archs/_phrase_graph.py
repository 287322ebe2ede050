"""Phrases joined by triples and by likeness: the graph that a model's extractions make."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from plugins.archs._bm25 import top
from plugins.archs._triples import Triple

Fact = tuple[str, str, str]
"""A triple whose three parts are written as nodes are."""

_MOST_SYNONYMS: Final = 100
_SHORTEST: Final = 3
"""Letters and digits of a phrase that may have synonyms; both bounds are of the source's code."""
_ROUNDING: Final = 1e-6
_AT_ONCE: Final = 512
_OTHER: Final = re.compile(r"[\W_]+")


def node_of(phrase: str) -> str:
    """A phrase as it is compared: letters and digits in lower case, single spaces between."""
    return _OTHER.sub(" ", phrase.lower()).strip()


def facts(triples: Iterable[Triple]) -> tuple[Fact, ...]:
    """Triples as facts, each once; one that lacks an end is left out."""
    found = ((node_of(t.subject), node_of(t.relation), node_of(t.object)) for t in triples)
    return tuple(fact for fact in dict.fromkeys(found) if fact[0] and fact[2])


def ends(found: Iterable[Fact]) -> list[str]:
    """The subjects and objects of facts, one after the other; of a fact with itself only one."""
    return [end for one, _, other in found for end in dict.fromkeys((one, other))]


class PhraseGraph:
    """Phrases under weighted edges without direction. Never changes after it is built.

    terms : the phrases, with their places. vectors : a row for each, of length 1 or 0. by_event :
    the facts of every event, whose ends are among the phrases. least : cosine from which two
    phrases are joined as synonyms; None joins none.

    An edge weighs as many facts as have it for their ends, or the cosine of synonyms, in the place
    of that count where there are both, as in the source's code. `related` and `synonyms` count the
    pairs of each kind.
    """

    def __init__(
        self,
        terms: Mapping[str, int],
        vectors: NDArray[np.float32],
        by_event: Iterable[Iterable[Fact]],
        least: float | None,
    ) -> None:
        from scipy.sparse import diags

        self._vectors = vectors
        counts = Counter(
            (min(terms[one], terms[other]), max(terms[one], terms[other]))
            for found in by_event
            for one, _, other in found
            if one != other
        )
        like = {} if least is None else synonyms(list(terms), vectors, least)
        self.related, self.synonyms = len(counts), len(like)
        edges = _symmetric({**counts, **like}, len(terms))
        degrees = np.asarray(edges.sum(axis=0)).ravel()
        self._alone = degrees == 0
        self._steps = edges @ diags(1 / np.where(self._alone, 1, degrees))

    def step(self, visits: NDArray[np.float64], seeds: NDArray[np.float64]) -> NDArray[np.float64]:
        """Where a walk is after a step along an edge, chosen by weight; from a lone phrase, a seed.

        visits, seeds : distributions over the phrases.
        """
        after: NDArray[np.float64] = self._steps @ visits + visits[self._alone].sum() * seeds
        return after

    def nearest(self, vectors: NDArray[np.float32]) -> list[int]:
        """Of every row of length 1 or 0 the phrase most like it, where one is like it at all.

        Ties go to the phrase that came first.
        """
        cosines = vectors @ self._vectors.T
        best = cosines.argmax(axis=1).tolist()
        return [place for place, row in zip(best, cosines, strict=True) if row[place] > 0]


def synonyms(
    phrases: Sequence[str], vectors: NDArray[np.float32], least: float
) -> dict[tuple[int, int], float]:
    """By the places of two phrases, the lower first, their cosine, where it is at least `least`.

    vectors : a row for each phrase, of length 1 or 0. One of the two is among the 100 phrases most
    like the other, and each has three letters or digits at least.
    """
    may = np.array(
        [len(phrase.replace(" ", "")) >= _SHORTEST for phrase in phrases], dtype=np.bool_
    )
    found: dict[tuple[int, int], float] = {}
    for start in range(0, len(phrases), _AT_ONCE):
        cosines = vectors[start : start + _AT_ONCE] @ vectors.T
        places = np.arange(start, start + len(cosines))
        like = (cosines >= least - _ROUNDING) & may & may[places, None]
        like[places - start, places] = False
        for row in np.flatnonzero(like.any(axis=1)).tolist():
            others = np.flatnonzero(like[row])
            values = cosines[row, others].astype(np.float64)
            for best in top(values, _MOST_SYNONYMS).tolist():
                one, other = sorted((start + row, int(others[best])))
                found.setdefault((one, other), min(1.0, float(values[best])))
    return found


def _symmetric(pairs: Mapping[tuple[int, int], float], size: int) -> Any:
    """A sparse matrix with each value at both places of its pair."""
    from scipy.sparse import csr_matrix

    places = np.array(list(pairs), dtype=np.int64).reshape(-1, 2)
    values = np.array(list(pairs.values()), dtype=np.float64)
    half = csr_matrix((values, (places[:, 0], places[:, 1])), shape=(size, size))
    return half + half.T
