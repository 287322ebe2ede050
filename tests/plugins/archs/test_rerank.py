"""Reranking: a first stage whose best are put in another order, and what must be installed."""

from __future__ import annotations

import sys

import pytest

from framework.errors import UserError
from plugins.archs.bm25 import BM25
from plugins.archs.rerank import (
    RerankCE,
    RerankCESettings,
    RerankLexical,
    RerankLLM,
    RerankSettings,
)
from tests.plugins.archs.helpers import event, ids, opened, recall

NOTES = [
    event("one", "retention retention retention"),
    event("both", "the retention period of a report, and much else that is said here at length"),
    event("none", "the office opens"),
    event("less", "a period"),
]
QUERY = "retention period"


def test_the_event_that_covers_more_of_the_query_leads() -> None:
    assert ids(recall(opened(BM25, NOTES), QUERY))[0] == "one"
    items = recall(opened(RerankLexical, NOTES), QUERY)
    assert ids(items)[0] == "both"
    assert items[0].signals["bm25_rank"] > 1
    assert sorted(ids(items)) == sorted(e.id for e in NOTES)


def test_beyond_the_candidates_the_first_stage_holds() -> None:
    settings = RerankSettings(candidates=1)
    first = ids(recall(opened(BM25, NOTES), QUERY))
    assert ids(recall(opened(RerankLexical, NOTES, settings), QUERY)) == first


def test_with_the_rule_based_model_the_order_is_lexical() -> None:
    lexical, asked = opened(RerankLexical, NOTES), opened(RerankLLM, NOTES)
    assert recall(asked, QUERY) == recall(lexical, QUERY)


def test_the_cross_encoder_s_scores_decide() -> None:
    assert ids(recall(opened(RerankCE, NOTES, RerankCESettings()), QUERY))[0] == "both"


def test_without_the_package_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from plugins.archs.rerank import _encoder

    _encoder.cache_clear()
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(UserError, match=r"^arch=rerank_ce .*pip install sentence-transformers"):
        opened(RerankCE, NOTES)


def test_a_model_that_can_t_be_loaded_is_named_in_one_line() -> None:
    with pytest.raises(UserError) as error:
        opened(RerankCE, NOTES, RerankCESettings(model="nowhere"))
    assert str(error.value) == "arch.model: 'nowhere' can't be loaded: nowhere is no model"
