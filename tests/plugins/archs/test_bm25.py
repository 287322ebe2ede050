"""BM25 scores are rank-bm25's own, and ranking is exact down to the ties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from plugins.archs._bm25 import STOP_WORDS, TOKENIZERS, BM25Index, BM25Settings, top, words
from plugins.archs.bm25 import BM25
from tests.plugins.archs.helpers import event, ids, opened, recall

WORDS = st.sampled_from(["a", "b", "c", "income", "score", "61,000", "640", "the", "The"])
TEXTS = st.lists(st.lists(WORDS, max_size=12).map(" ".join), min_size=1, max_size=12)


@given(TEXTS, st.lists(WORDS | st.just("absent"), max_size=6).map(" ".join), st.data())
def test_scores_are_those_of_rank_bm25(texts: list[str], query: str, data: st.DataObject) -> None:
    tokenizer = data.draw(st.sampled_from(sorted(TOKENIZERS)))
    settings = BM25Settings(
        k1=data.draw(st.floats(0.1, 3.0)),
        b=data.draw(st.floats(0.0, 0.99)),  # at b = 1 the peer gives NaN for an empty document
        epsilon=data.draw(st.floats(0.0, 1.0)),
        tokenizer=tokenizer,
    )
    tokens = TOKENIZERS[tokenizer]
    corpus = [tokens(text) for text in texts]
    if not any(corpus):
        assert not BM25Index(texts, settings).scores(query).any()
        return
    peer = BM25Okapi(corpus, k1=settings.k1, b=settings.b, epsilon=settings.epsilon)
    expected = peer.get_scores(tokens(query))
    np.testing.assert_allclose(BM25Index(texts, settings).scores(query), expected, atol=1e-9)


def test_content_is_words_without_stop_words() -> None:
    text = "The loan, of 147,500, is to be decided by THE officer."
    assert TOKENIZERS["content"](text) == ["loan", "147,500", "decided", "officer"]
    assert [w for w in words(text) if w not in STOP_WORDS] == TOKENIZERS["content"](text)
    assert len(STOP_WORDS) == 33


def test_words_of_most_texts_count_unless_they_are_left_out() -> None:
    """As rank-bm25 scores them, each adds a share of the mean idf to every text that holds it."""
    texts = [f"the file is of {word}1 {word}2 {word}3 {word}4 {word}5" for word in "pqrs"]
    query = "what is the file of"
    assert (BM25Index(texts, BM25Settings()).scores(query) > 0).all()
    left_out = BM25Settings(tokenizer="content", epsilon=0)
    assert not BM25Index(texts, left_out).scores(query).any()


@given(TEXTS, st.lists(WORDS, max_size=6).map(" ".join), st.integers(0, 15))
def test_rank_is_the_start_of_a_stable_sort(texts: list[str], query: str, k: int) -> None:
    index = BM25Index(texts, BM25Settings())
    scores = index.scores(query)
    expected = sorted(range(len(texts)), key=lambda i: (-scores[i], i))[:k]
    assert index.rank(query, k) == [(i, scores[i]) for i in expected]


@given(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0])), st.integers(-1, 12))
def test_top_is_the_start_of_a_stable_sort(scores: list[float], k: int) -> None:
    expected = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[: max(0, k)]
    assert top(np.array(scores, dtype=float), k).tolist() == expected


def test_a_match_may_score_below_zero_and_is_still_ranked() -> None:
    index = BM25Index(["the income"], BM25Settings())
    assert index.scores("income")[0] < 0
    assert [i for i, _ in index.rank("income", 5)] == [0]
    assert index.matches("income").tolist() == [True]
    assert index.matches("nothing").tolist() == [False]


@pytest.mark.parametrize("texts", [[], ["", "  "]])
def test_a_corpus_without_terms_scores_zero(texts: list[str]) -> None:
    index = BM25Index(texts, BM25Settings())
    assert index.scores("income").tolist() == [0.0] * len(texts)
    assert index.rank(None, 3) == [(i, 0.0) for i in range(len(texts))]


def test_words_keep_figures_whole() -> None:
    assert words("Income: $147,500.25 (POL-71), 33.4%") == [
        *("income", "147,500.25", "pol", "71", "33.4"),
    ]


@pytest.mark.parametrize("bad", [{"k1": -1.0}, {"b": 1.5}, {"b": float("nan")}])
def test_settings_out_of_range_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"given, .* expected"):
        BM25Settings(**bad)


def test_bm25_ranks_every_event_and_signals_say_why() -> None:
    events = [
        event("a", "the office opens at nine"),
        event("b", "the credit score is 640"),
        event("c", "the parking lot is closed"),
        event("d", "income and credit were verified"),
        event("e", "a visitor asked for the way"),
    ]
    items = recall(opened(BM25, events), "credit score")
    assert ids(items) == ["b", "d", "a", "c", "e"]
    assert [item.signals["rank"] for item in items] == [1, 2, 3, 4, 5]
    assert items[0].signals["recency"] == 0.4
    assert items[0].signals["bm25"] > items[1].signals["bm25"] > items[2].signals["bm25"] == 0.0
    assert [item.source_ids for item in items] == [(item.id,) for item in items]


def test_an_empty_query_is_order_of_arrival() -> None:
    events = [event(name, "the credit score") for name in "cab"]
    assert ids(recall(opened(BM25, events), "")) == ["c", "a", "b"]
