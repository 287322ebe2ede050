"""Which terms stand in which texts, by term: what every lexical index is computed from."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from framework.text.reading import read_json


class Postings:
    """Counts of terms in texts, held by column (CSC). Never changes after it is built.

    A cell is a (text, term) pair that occurs: `rows`, `columns` and `counts` have one entry a cell,
    ordered by term and then by text. `terms` gives a term's column, in order of first appearance;
    `starts` where each column begins; `documents` in how many texts each term stands; `lengths` the
    tokens of each text; `size` the number of texts.
    """

    def __init__(self, texts: Sequence[str], tokens: Callable[[str], Iterable[str]]) -> None:
        self.size = len(texts)
        terms: defaultdict[str, int] = defaultdict()
        terms.default_factory = terms.__len__  # a new term's column is the next one
        self.lengths = np.zeros(self.size, dtype=np.int64)
        columns: list[int] = []
        for row, text in enumerate(texts):
            before = len(columns)
            columns.extend(map(terms.__getitem__, tokens(text)))
            self.lengths[row] = len(columns) - before
        self.terms = dict(terms)
        terms.default_factory = None  # it refers to `terms`, which would stay until a collection
        height = max(1, self.size)
        rows = np.repeat(np.arange(self.size, dtype=np.int64), self.lengths)
        cells = np.asarray(columns, dtype=np.int64) * height + rows
        cells, self.counts = np.unique(cells, return_counts=True)
        self.columns, self.rows = np.divmod(cells, height)
        self.documents = np.bincount(self.columns, minlength=len(self.terms))
        self.starts: NDArray[np.int64] = np.concatenate(([0], np.cumsum(self.documents)))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What it can be made of again (`restored`): terms as UTF-8, and whole numbers."""
        return {
            "terms": np.frombuffer(json.dumps(list(self.terms)).encode(), dtype=np.uint8),
            "lengths": self.lengths.astype("<i8"),
            "documents": self.documents.astype("<i8"),
            "rows": self.rows.astype("<i4"),
            "counts": self.counts.astype("<i4"),
        }

    @classmethod
    def restored(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The same postings from their `arrays`."""
        found = cls((), str.split)
        found.size = len(arrays["lengths"])
        names = read_json(arrays["terms"].tobytes())
        found.terms = dict(zip(names, range(len(names)), strict=True))
        found.lengths = arrays["lengths"].astype(np.int64)
        found.documents = arrays["documents"].astype(np.int64)
        found.rows = arrays["rows"].astype(np.int64)
        found.counts = arrays["counts"].astype(np.int64)
        found.columns = np.repeat(np.arange(len(names), dtype=np.int64), found.documents)
        found.starts = np.concatenate(([0], np.cumsum(found.documents)))
        return found

    def of(self, terms: Iterable[str]) -> list[slice]:
        """The cells of each known term, in the given order and as often as it is given."""
        columns = (self.terms.get(term) for term in terms)
        return [slice(self.starts[c], self.starts[c + 1]) for c in columns if c is not None]
