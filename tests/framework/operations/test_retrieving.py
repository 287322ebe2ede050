"""Rerank, hypothetical_document and extract_facts."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.contracts import Profile
from framework.operations.extract_facts import (
    ExtractedFact,
    ExtractFacts,
    ExtractFactsRequest,
)
from framework.operations.hypothetical_document import (
    HypotheticalDocument,
    HypotheticalDocumentRequest,
)
from framework.operations.rerank import Rerank, RerankRequest
from framework.records import TaskCard
from framework.text.tokens import count_tokens

PASSAGES = ("The cat sat.", "Loan policy: the score.", "The loan score is 610.", "A cat score.")


def ranked(query: str, passages: tuple[str, ...] = PASSAGES) -> tuple[int, ...]:
    return Rerank().offline(RerankRequest(query=query, passages=passages), Profile()).ranking


def test_reranking_by_rare_words() -> None:
    assert ranked("loan score of 610")[0] == 3
    assert ranked("unknown words") == (1, 2, 3, 4), "equals keep their order"
    assert ranked("anything", ()) == ()


@given(st.text(max_size=30), st.lists(st.text(max_size=30), max_size=8))
def test_nothing_is_dropped(query: str, passages: list[str]) -> None:
    request = RerankRequest(query=query, passages=tuple(passages))
    response = Rerank().offline(request, Profile())
    assert sorted(response.ranking) == list(range(1, len(passages) + 1))
    assert Rerank().parse(Rerank().render(response), request) == response


@pytest.mark.parametrize("ranking", [[1, 2, 3], [1, 2, 3, 3], [0, 1, 2, 3], ["1"], "1", [True] * 4])
def test_a_ranking_that_is_none_is_refused(ranking: object) -> None:
    request = RerankRequest(query="q", passages=PASSAGES)
    with pytest.raises(ValueError, match="each of 1 to 4 once expected"):
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
    response = HypotheticalDocument().offline(request, Profile())
    assert response.passage == passage
    operation = HypotheticalDocument()
    assert operation.parse(operation.render(response), request) == response


@given(st.text(max_size=200), st.integers(1, 30))
def test_the_passage_keeps_within_its_limit(query: str, limit: int) -> None:
    request = HypotheticalDocumentRequest(query=query, limit_tokens=limit)
    passage = HypotheticalDocument().offline(request, Profile()).passage
    assert count_tokens(passage) <= limit


DOCUMENT = """\
2026-03-20 | Letter | Hollis
The credit score is 610.
Correction dated 2026-03-20: the total monthly debt is $2,150, not $2,050.
The total monthly debt was formerly $2,050. Thank you for your patience."""


def test_facts_are_bound_to_fields(loan: TaskCard) -> None:
    request = ExtractFactsRequest(document=DOCUMENT, fields=loan.fields)
    response = ExtractFacts().offline(request, Profile())
    found = {(f.subject, f.value, f.status) for f in response.facts}
    assert {
        ("score", "610", "current"),
        ("debt", "$2,150", "correction"),
        ("debt", "$2,050", "retired"),
    } <= found
    assert all(fact.quote in DOCUMENT for fact in response.facts)
    operation = ExtractFacts()
    assert operation.parse(operation.render(response), request) == response
    prompt = operation.prompt(request).user
    assert "- score: credit score (score)" in prompt
    assert DOCUMENT in prompt


def test_without_fields_values_have_their_own_words() -> None:
    request = ExtractFactsRequest(document="The credit score is 610.")
    (fact,) = ExtractFacts().offline(request, Profile()).facts
    assert (fact.value, fact.quote) == ("610", "The credit score is 610.")
    assert "credit score" in fact.subject
    deaf = Profile(style="noisy", miss_rate=1.0)
    assert ExtractFacts().offline(request, deaf).facts == ()
    assert "(none)" in ExtractFacts().prompt(request).user


@pytest.mark.parametrize(
    "change", [{"status": "maybe"}, {"value": "611"}, {"value": 610}, {"date": "2026"}]
)
def test_a_fact_that_the_document_does_not_state_is_refused(change: dict[str, object]) -> None:
    request = ExtractFactsRequest(document="The credit score is 610.")
    entry = {"subject": "s", "value": "610", "status": "current", "quote": "q", **change}
    with pytest.raises(ValueError, match=r"."):
        ExtractFacts().parse(json.dumps({"facts": [entry]}), request)
    good = {**entry, "status": "current", "value": "610"}
    good.pop("date", None)
    read = ExtractFacts().parse(json.dumps({"facts": [good]}), request)
    assert read.facts == (ExtractedFact(subject="s", value="610", status="current", quote="q"),)
