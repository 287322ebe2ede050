"""TF-IDF cosine from a sparse matrix held by column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from plugins.archs._bm25 import TOKENIZERS, Tokenizer
from plugins.archs._postings import Postings


class TfidfIndex:
    """Cosine of term frequency times smoothed inverse document frequency, ln((1+N)/(1+df)) + 1.

    The scores are those of scikit-learn's `TfidfVectorizer` with its defaults. A text without a
    term scores 0, as does everything for an empty query. Never changes after it is built.
    """

    def __init__(self, texts: Sequence[str], tokenizer: Tokenizer) -> None:
        self._tokens = TOKENIZERS[tokenizer]
        self._postings = found = Postings(texts, self._tokens)
        self._idf = np.log((1 + found.size) / (1 + found.documents)) + 1
        weights = found.counts * self._idf[found.columns]
        squares = np.bincount(found.rows, weights=weights**2, minlength=found.size)
        self._weights = weights / np.sqrt(squares)[found.rows]

    def scores(self, query: str | None) -> NDArray[np.float64]:
        """The cosine of every text with the query, in order of arrival."""
        found = self._postings
        asked = Counter(t for t in self._tokens(query or "") if t in found.terms)
        weights = {term: n * float(self._idf[found.terms[term]]) for term, n in asked.items()}
        length = sum(weight**2 for weight in weights.values()) ** 0.5
        scores = np.zeros(found.size)
        for cells, weight in zip(found.of(weights), weights.values(), strict=True):
            scores[found.rows[cells]] += self._weights[cells] * (weight / length)
        return scores
