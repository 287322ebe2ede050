"""Typed edges from text: cues, directions, names, and strict reading of a model's answer."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from framework.contracts import Profile, answer_by_rule
from framework.operations.extract_edges import (
    Candidate,
    ExtractEdges,
    ExtractEdgesRequest,
    ExtractEdgesResponse,
    Link,
    Relation,
)
from framework.operations.prompted import SHIPPED

PEPS = (
    Candidate(name="pep-345", text="Metadata for Python Software Packages 1.2"),
    Candidate(name="pep-241", text="Metadata for Python Software Packages"),
    Candidate(name="pep-8", text="Style guide"),
)
NAMED = (
    Candidate(name="a", text="The Ashen Pine standard is kept. The Azure Prairie canon cites it."),
    Candidate(name="b", text="The Azure Prairie canon is old. The Azure Prairie canon binds."),
)


def read(document: str, *candidates: Candidate) -> ExtractEdgesResponse:
    request = ExtractEdgesRequest(document=document, candidates=candidates or PEPS)
    return answer_by_rule(ExtractEdges(), request)


@pytest.mark.parametrize(
    ("said", "link"),
    [
        ("This PEP supersedes PEP 345.", Link(relation="supersedes", number=1)),
        ("It takes the place of PEP 241.", Link(relation="supersedes", number=2)),
        (
            "This was superseded by PEP 345.",
            Link(relation="supersedes", number=1, reverse=True),
        ),
        ("It requires PEP 0008.", Link(relation="requires", number=3)),
        ("It depends on pep-8.", Link(relation="requires", number=3)),
        ("It is needed by PEP 8.", Link(relation="requires", number=3, reverse=True)),
        ("It is derived from PEP 241.", Link(relation="derived_from", number=2)),
        ("It implements PEP 241.", Link(relation="implements", number=2)),
        ("It puts PEP 241 into practice.", Link(relation="implements", number=2)),
        ("It constrains PEP 241.", Link(relation="constrains", number=2)),
        ("It is governed by PEP 241.", Link(relation="constrains", number=2, reverse=True)),
        ("See PEP 241 for more.", Link(relation="cites", number=2)),
    ],
)
def test_a_cue_gives_the_relation_and_its_direction(said: str, link: Link) -> None:
    assert read(said).links == (link,)


def test_a_number_must_be_the_name_s_own() -> None:
    assert read("It supersedes PEP 3450 and RFC 345.").links == ()


def test_a_typed_link_stands_for_the_citation_too() -> None:
    links = read("It supersedes PEP 345. See PEP 345 and PEP 8.").links
    assert links == (
        Link(relation="supersedes", number=1),
        Link(relation="cites", number=3),
    )


def test_a_name_in_words_is_of_the_candidate_that_has_it_most() -> None:
    assert read("The Fiery Crane ruling implements the Azure Prairie canon.", *NAMED).links == (
        Link(relation="implements", number=2),
    )
    assert read("It follows from the Ashen Pine standard, as said.", *NAMED).links == (
        Link(relation="derived_from", number=1),
    )


def test_words_without_a_name_lead_nowhere() -> None:
    lower = Candidate(name="a", text="The cache lifetime is short.")
    assert read("It requires the cache lifetime to be 48 minutes.", lower).links == ()
    assert read("It supersedes the Copper Canyon accord.", *NAMED).links == ()


def test_a_document_that_lays_something_down_is_a_decision() -> None:
    assert read("The margin must be 4 points.").kind == "decision"
    assert read("Hello all, see you tomorrow.").kind == "message"
    assert read("").kind == "message"


def test_a_noisy_reader_misses_some() -> None:
    candidates = tuple(Candidate(name=f"adr-{i}", text="x") for i in range(1, 101))
    text = "\n".join(f"It supersedes ADR {i}." for i in range(1, 101))
    request = ExtractEdgesRequest(document=text, candidates=candidates)
    noisy = Profile(style="noisy", miss_rate=0.5)
    assert 20 < len(answer_by_rule(ExtractEdges(), request, noisy).links) < 80
    assert len(answer_by_rule(ExtractEdges(), request).links) == 100


REQUEST = ExtractEdgesRequest(document="d", candidates=PEPS)


def test_an_answer_is_read() -> None:
    link = {"relation": "requires", "number": 2, "reverse": True}
    text = json.dumps({"kind": "decision", "links": [link, link]})
    response = ExtractEdges().parse(text, REQUEST)
    assert response == ExtractEdgesResponse(
        kind="decision", links=(Link(relation="requires", number=2, reverse=True),)
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kind": "rumour"}, "kind: .rumour. given; allowed: decision"),
        (
            {"links": [{"relation": "likes", "number": 1, "reverse": False}]},
            "relation: .likes. given; did you mean .cites.",
        ),
        ({"links": [{"relation": "cites", "number": 4, "reverse": False}]}, "1 to 3 expected"),
        ({"links": [{"relation": "cites", "number": 1, "reverse": "no"}]}, "true or false"),
        ({"links": [{"relation": "cites", "number": 1}]}, "missing keys"),
        ({"more": 1}, "unknown keys"),
    ],
)
def test_a_wrong_answer_is_refused(change: dict[str, Any], said: str) -> None:
    whole = {"kind": "decision", "links": []}
    with pytest.raises(ValueError, match=said):
        ExtractEdges().parse(json.dumps(whole | change), REQUEST)


def test_prompt_and_schema_name_the_same_relations() -> None:
    prompt = ExtractEdges().prompt(REQUEST).user
    assert '<candidate number="2" name="pep-241">' in prompt
    assert all(f'"{relation}"' in prompt for relation in get_args(Relation))
    schema = json.loads((SHIPPED / "extract_edges" / "schema.json").read_text())
    link = schema["properties"]["links"]["items"]["properties"]
    assert tuple(link["relation"]["enum"]) == get_args(Relation)
