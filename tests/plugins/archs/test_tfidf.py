"""TF-IDF scores are scikit-learn's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from plugins.archs._bm25 import words
from plugins.archs._tfidf import TfidfIndex
from plugins.archs.tfidf import Tfidf
from tests.plugins.archs.helpers import event, ids, opened, recall

WORDS = st.sampled_from(["a", "b", "c", "income", "score", "61,000", "640", "the"])
TEXTS = st.lists(st.lists(WORDS, max_size=12).map(" ".join), min_size=1, max_size=12)


@given(TEXTS, st.lists(WORDS | st.just("absent"), max_size=6).map(" ".join))
def test_scores_are_those_of_scikit_learn(texts: list[str], query: str) -> None:
    scores = TfidfIndex(texts, "words").scores(query)
    if not any(words(text) for text in texts):
        assert not scores.any()
        return
    peer = TfidfVectorizer(analyzer=words)
    expected = (peer.fit_transform(texts) @ peer.transform([query]).T).toarray().ravel()
    np.testing.assert_allclose(scores, expected, atol=1e-12)


@pytest.mark.parametrize("texts", [[], [""]])
def test_nothing_scores_nothing(texts: list[str]) -> None:
    assert TfidfIndex(texts, "words").scores("income").tolist() == [0.0] * len(texts)


def test_everything_is_ranked_and_ties_stay_in_order() -> None:
    notes = [event("a", "x"), event("b", "the income"), event("c", "y"), event("d", "the income")]
    items = recall(opened(Tfidf, notes), "income")
    assert ids(items) == ["b", "d", "a", "c"]
    assert items[0].signals["tfidf"] == items[1].signals["tfidf"] > 0
