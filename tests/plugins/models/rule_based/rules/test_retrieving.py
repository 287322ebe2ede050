"""The rules for rerank and hypothetical_document, and how their responses are read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.contracts import answer_by_rule
from framework.operations.hypothetical_document import (
    HypotheticalDocument,
    HypotheticalDocumentRequest,
)
from framework.operations.rerank import Rerank, RerankRequest
from framework.text.tokens import count_tokens

PASSAGES = ("The cat sat.", "Loan policy: the score.", "The loan score is 610.", "A cat score.")


def ranked(query: str, passages: tuple[str, ...] = PASSAGES) -> tuple[int, ...]:
    return answer_by_rule(Rerank(), RerankRequest(query=query, passages=passages)).ranking


def test_reranking_by_rare_words() -> None:
    assert ranked("loan score of 610")[0] == 3
    assert ranked("unknown words") == (1, 2, 3, 4), "equals keep their order"
    assert ranked("anything", ()) == ()


@given(st.text(max_size=30), st.lists(st.text(max_size=30), max_size=8))
def test_nothing_is_dropped(query: str, passages: list[str]) -> None:
    request = RerankRequest(query=query, passages=tuple(passages))
    response = answer_by_rule(Rerank(), request)
    assert sorted(response.ranking) == list(range(1, len(passages) + 1))
    assert Rerank().parse(Rerank().render(response), request) == response


@pytest.mark.parametrize("ranking", [[1, 2, 3], [1, 2, 3, 3], [0, 1, 2, 3], ["1"], "1", [True] * 4])
def test_a_ranking_that_is_none_is_refused(ranking: object) -> None:
    request = RerankRequest(query="q", passages=PASSAGES)
    with pytest.raises(ValueError, match=r"ranking: (each of|.* given, a)"):
        Rerank().parse(json.dumps({"ranking": ranking}), request)


@pytest.mark.parametrize(
    ("query", "passage"),
    [
        ("Who wrote The Silver Kettle?", "Wrote The Silver Kettle."),
        ("How many visits so far?", "Visits so far."),
        ("income and debts", "Income and debts."),
        ("", ""),
        ("Why?", ""),
    ],
)
def test_the_passage_is_the_query_as_a_statement(query: str, passage: str) -> None:
    request = HypotheticalDocumentRequest(query=query)
    response = answer_by_rule(HypotheticalDocument(), request)
    assert response.passage == passage
    operation = HypotheticalDocument()
    assert operation.parse(operation.render(response), request) == response


@given(st.text(max_size=200), st.integers(1, 30))
def test_the_passage_keeps_within_its_limit(query: str, limit: int) -> None:
    request = HypotheticalDocumentRequest(query=query, limit_tokens=limit)
    passage = answer_by_rule(HypotheticalDocument(), request).passage
    assert count_tokens(passage) <= limit
