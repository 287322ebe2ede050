"""Arms over the run's embedder: order, ties, fusion, diversity, hypothetical documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.contracts import ArchContext, Operation
from framework.testing.arch_conformance import NoClient, settle
from plugins.archs._bm25 import BM25Index, BM25Settings
from plugins.archs._dense import DenseIndex
from plugins.archs.dense import Dense
from plugins.archs.hybrid_rrf import HybridRRF, HybridSettings
from plugins.archs.hyde import Hyde, HydeSettings
from plugins.archs.mmr import MMR, MMRSettings
from plugins.embedders.hashing import Hashing, HashingSettings
from tests.plugins.archs.helpers import event, ids, opened, recall

NOTES = [
    event("pii", "exports must not hold personal data"),
    event("office", "the office opens at nine"),
    event("csv", "the reports page exports csv files"),
    event("again", "the reports page exports csv files"),
]


@given(
    st.lists(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), min_size=3, max_size=3), max_size=12),
    st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=3, max_size=3),
    st.integers(-1, 14),
)
def test_the_index_is_the_start_of_a_stable_sort(
    rows: list[list[float]], query: list[float], k: int
) -> None:
    vectors = np.array(rows, dtype=np.float32).reshape(len(rows), 3)
    asked = np.array(query, dtype=np.float32)
    scores = [float(row @ asked) for row in vectors]
    expected = sorted(range(len(rows)), key=lambda i: (-scores[i], i))[: max(0, k)]
    places, found = DenseIndex(vectors).rank(asked, k)
    assert places.tolist() == expected
    assert found.tolist() == [scores[i] for i in expected]


def test_dense_ranks_everything_by_words_in_common() -> None:
    items = recall(opened(Dense, NOTES), "csv exports of reports")
    assert ids(items) == ["csv", "again", "pii", "office"]
    assert items[0].signals["dense"] == items[1].signals["dense"] > items[2].signals["dense"]
    assert ids(recall(opened(Dense, NOTES), "csv exports of reports", k=1)) == ["csv"]


def test_an_arm_without_an_embedder_says_so() -> None:
    arm = Dense(Dense.Settings(), ArchContext(budget_tokens=None, client=NoClient()))
    with pytest.raises(ValueError, match="given no embedder"):
        settle(arm.ingest(NOTES))


@given(st.integers(0, 90))
def test_fusion_is_the_sum_of_inverse_ranks(smoothing: int) -> None:
    query = "personal data in csv exports"
    settings = HybridSettings(smoothing=float(smoothing or 1))
    texts = [e.text for e in NOTES]
    sparse = [i for i, _ in BM25Index(texts, BM25Settings()).rank(query, 9)]
    dense = [texts.index(i.text) for i in recall(opened(Dense, NOTES), query)]
    dense = [3 if i in dense[:n] else i for n, i in enumerate(dense)]  # two texts are the same
    fused = [
        sum(1 / (settings.smoothing + order.index(i) + 1) for order in (sparse, dense))
        for i in range(4)
    ]
    items = recall(opened(HybridRRF, NOTES, settings), query)
    assert ids(items) == [NOTES[i].id for i in sorted(range(4), key=lambda i: -fused[i])]
    assert [i.signals["rrf"] for i in items] == pytest.approx(sorted(fused, reverse=True))


def test_of_two_equal_events_mmr_takes_the_second_late() -> None:
    query = "csv exports of reports"
    assert ids(recall(opened(MMR, NOTES, MMRSettings(relevance=0.5)), query))[:2] == ["csv", "pii"]
    plain = ids(recall(opened(Dense, NOTES), query))
    assert ids(recall(opened(MMR, NOTES, MMRSettings(relevance=1.0)), query)) == plain


@pytest.mark.parametrize("candidates", [1, 2, 3, 9])
def test_mmr_leaves_nothing_out(candidates: int) -> None:
    found = ids(recall(opened(MMR, NOTES, MMRSettings(candidates=candidates)), "csv exports"))
    assert sorted(found) == sorted(e.id for e in NOTES)


class Writing:
    """A client whose model writes a passage of its own."""

    def __init__(self, passage: str) -> None:
        self.passage = passage

    async def ask(self, operation: Operation[Any, Any], request: Any) -> Any:
        operation.prompt(request)
        return operation.parse(f'{{"passage": "{self.passage}"}}', request)


def test_hyde_searches_with_what_the_model_writes() -> None:
    blind = recall(opened(Hyde, NOTES), "when can I come in?")
    told = recall(
        opened(Hyde, NOTES, client=Writing("the office opens at ten")), "when can I come in?"
    )
    assert ids(told)[0] == "office"
    assert told[0].signals["dense"] > blind[0].signals["dense"]
    assert not any("ten" in item.text for item in told), "the passage is shown to nobody"


def test_hyde_embeds_the_query_as_asked_and_the_passage_as_the_store_s_texts() -> None:
    kinds: list[tuple[str, str]] = []

    class Telling(Hashing):
        def embed(self, texts: Sequence[str]) -> Any:
            kinds.extend(("passage", text) for text in texts)
            return super().embed(texts)

        def embed_queries(self, texts: Sequence[str]) -> Any:
            kinds.extend(("query", text) for text in texts)
            return super().embed(texts)

    context = ArchContext(
        budget_tokens=None,
        client=Writing("the office opens at ten"),
        embedder=Telling(HashingSettings()),
    )
    arm = Hyde(HydeSettings(), context)
    settle(arm.ingest(NOTES))
    kinds.clear()
    recall(arm, "when can I come in?")
    assert kinds == [("query", "when can I come in?"), ("passage", "the office opens at ten")]


@pytest.mark.parametrize(
    ("cls", "bad"),
    [
        (HybridSettings, {"smoothing": -1.0}),
        (MMRSettings, {"relevance": 1.5}),
        (MMRSettings, {"candidates": 0}),
        (HydeSettings, {"passage_tokens": 0}),
    ],
)
def test_settings_out_of_range_are_refused(cls: Any, bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"given, .* expected"):
        cls(**bad)
