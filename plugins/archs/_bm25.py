"""Okapi BM25 as rank-bm25 0.2.2 scores it, from a sparse matrix held by column (CSC).

`rank_bm25.BM25Okapi` looks every query term up in every document's dictionary. Here the weight that
a term adds to a document is computed once, when the index is built, and a query adds up the columns
of its terms: the same numbers added in the same order, at the cost of the terms' postings alone.

Known properties of the peer that are kept, since the scores are to be the same: a term in more than
half of the documents gets a quarter of the average idf (`epsilon`), so that its weight can be
negative in a small corpus, and a document that matches can score 0 or less. Nothing here filters on
`score > 0`. An empty corpus, or one without a single term, scores 0 throughout, where the peer
divides by zero (as it does for an empty document at b = 1).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal

import numpy as np
from numpy.typing import NDArray

from framework.bounds import Bounded, at_least
from plugins.archs._postings import Postings
from plugins.archs._postings import __file__ as _postings_file
from plugins.archs._stored import index_file

Tokenizer = Literal["words", "content", "split"]

_WORD: Final = re.compile(r"\d+(?:[.,]\d+)*|[^\W_]+")


def words(text: str) -> list[str]:
    """Lower-cased words and figures; a figure keeps its inner commas and points (`147,500`)."""
    return _WORD.findall(text.lower())


STOP_WORDS: Final = frozenset(
    words(
        "a an and are as at be but by for if in into is it no not of on or such that the their "
        "then there these they this to was will with"
    )
)
"""Those that Lucene leaves out of English text (`EnglishAnalyzer.ENGLISH_STOP_WORDS_SET`)."""


def content(text: str) -> list[str]:
    """The `words` that are no stop words."""
    return [word for word in words(text) if word not in STOP_WORDS]


TOKENIZERS: Final[Mapping[Tokenizer, Callable[[str], list[str]]]] = {
    "words": words,
    "content": content,
    "split": str.split,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BM25Settings(Bounded):
    """Settings of every arm that ranks by BM25; the numbers are rank-bm25's defaults.

    k1 : saturation of term frequency, at least 0.
    b : weight of document length, in [0, 1].
    epsilon : share of the average idf that a term in more than half of the documents gets.
    tokenizer : rank-bm25 takes lists of tokens and has no tokenizer of its own. `words`: see
        `words`; `content`: the same without `STOP_WORDS`; `split`: case-sensitive pieces between
        white space, as in rank-bm25's own examples.
    """

    k1: Annotated[float, at_least(0)] = 1.5
    b: Annotated[float, at_least(0, most=1)] = 0.75
    epsilon: float = 0.25
    tokenizer: Tokenizer = "words"


class BM25Index:
    """Scores of a fixed corpus for any query. Never changes after it is built.

    texts : the documents, in order of arrival; may be empty. cache : the folder where their
    postings are kept, from which every setting of the numbers computes its weights.
    """

    def __init__(
        self, texts: Sequence[str], settings: BM25Settings, cache: str | None = None
    ) -> None:
        self._tokens = TOKENIZERS[settings.tokenizer]
        self.size = len(texts)
        self._postings = _postings(texts, settings.tokenizer, cache)
        self._weights = np.zeros(0)
        found = self._postings
        if found.terms:
            lengths = found.lengths
            norm = settings.k1 * (1 - settings.b + settings.b * lengths / lengths.mean())
            frequency = found.counts.astype(np.float64)
            gain = frequency * (settings.k1 + 1) / (frequency + norm[found.rows])
            self._weights = self._idf(found.documents, settings.epsilon)[found.columns] * gain

    def _idf(self, documents: NDArray[np.int64], epsilon: float) -> NDArray[np.float64]:
        idf = np.log(self.size - documents + 0.5) - np.log(documents + 0.5)
        floor = epsilon * (float(sum(idf.tolist())) / len(idf))  # in the peer's order of addition
        result: NDArray[np.float64] = np.where(idf < 0, floor, idf)
        return result

    def scores(self, query: str | None) -> NDArray[np.float64]:
        """The score of every document, in order of arrival; zeros for an empty query."""
        scores = np.zeros(self.size)
        for cells in self._cells(query):
            scores[self._postings.rows[cells]] += self._weights[cells]
        return scores

    def matches(self, query: str | None) -> NDArray[np.bool_]:
        """Whether each document holds a term of the query, whatever it scores."""
        found = np.zeros(self.size, dtype=np.bool_)
        for cells in self._cells(query):
            found[self._postings.rows[cells]] = True
        return found

    def rank(self, query: str | None, k: int) -> list[tuple[int, float]]:
        """The `k` best documents as (index, score), best first; ties in order of arrival."""
        scores = self.scores(query)
        return [(int(i), float(scores[i])) for i in top(scores, k)]

    def _cells(self, query: str | None) -> list[slice]:
        return self._postings.of(self._tokens(query or ""))


def _postings(texts: Sequence[str], tokenizer: Tokenizer, cache: str | None) -> Postings:
    """The postings of the texts, from the disk where they are kept there."""
    code = (__file__, _postings_file)
    file = index_file(cache, texts, {"index": "postings", "tokenizer": tokenizer}, code)
    kept = None if file is None else file.load()
    if kept is not None:
        return Postings.restored(kept)
    made = Postings(texts, TOKENIZERS[tokenizer])
    if file is not None:
        file.keep(made.arrays())
    return made


def top(scores: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Indices of the `k` highest scores, best first, ties by index, without sorting the rest."""
    n = len(scores)
    if k <= 0 or n == 0:
        return np.zeros(0, dtype=np.int64)
    if k >= n:
        return np.argsort(-scores, kind="stable").astype(np.int64)
    worst = np.partition(scores, n - k)[n - k]
    above = np.flatnonzero(scores > worst)
    level = np.flatnonzero(scores == worst)[: k - len(above)]
    chosen = np.concatenate((above, level))
    order = np.lexsort((chosen, -scores[chosen]))
    best: NDArray[np.int64] = chosen[order].astype(np.int64)
    return best
