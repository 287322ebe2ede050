"""Extractors on a hand-made record: what they see, what they give back, and what it costs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from framework.contracts import Extractor, Operation
from framework.pipeline.extraction import extracted, summed
from framework.records import Event
from framework.testing.arch_conformance import NoClient, RuleClient
from plugins.archs.typed_graph import TypedGraphMemory
from plugins.extractors._candidates import CandidateSettings, requests
from plugins.extractors.model import ModelExtractor
from plugins.extractors.rules import RulesExtractor
from tests.plugins.archs.helpers import ids, opened, recall


def event(name: str, text: str, *edges: tuple[str, str]) -> Event:
    return Event(id=name, text=text, time="2026-01-01", kind="decision", edges=edges)


RECORD = (
    event("adr-1", "The Old Harbour plan: berths must be booked in a spreadsheet."),
    event(
        "adr-2",
        "The New Ledger plan: bookings must be entries of a ledger. It supersedes ADR 1.",
        ("supersedes", "adr-1"),
    ),
    event(
        "adr-3",
        "Invoices must follow the entries. This follows from the New Ledger plan.",
        ("derived_from", "adr-2"),
        ("relates_to", "adr-1"),
    ),
    *(event(f"n-{i}", f"The crane number {i} must be oiled.") for i in range(8)),
)


def run(extractor: Extractor[Any], client: Any) -> tuple[Sequence[Event], Any]:
    return asyncio.run(extracted(extractor, RECORD, client))


@pytest.mark.parametrize("extractor", [RulesExtractor, ModelExtractor])
def test_edges_are_read_from_the_text(extractor: type[Extractor[Any]]) -> None:
    client = RuleClient() if extractor.needs_model else NoClient()
    events, counts = run(extractor(CandidateSettings()), client)
    assert {e.id: e.edges for e in events if e.edges} == {
        "adr-2": (("supersedes", "adr-1"),),
        "adr-3": (("derived_from", "adr-2"),),
    }
    total = summed([counts])
    assert total["edges"]["supersedes"] == {
        "given": 1,
        "found": 1,
        "right": 1,
        "precision": 1.0,
        "recall": 1.0,
    }
    assert total["edges"]["relates_to"]["recall"] == 0.0
    assert total["edges"]["relates_to"]["precision"] is None
    assert total["nodes"]["decision"]["recall"] == 1.0
    if isinstance(client, RuleClient):
        assert client.calls == len(RECORD)


def test_the_graph_over_extracted_edges_finds_the_head() -> None:
    events, _ = run(RulesExtractor(CandidateSettings()), NoClient())
    found = ids(recall(opened(TypedGraphMemory, events), "berths booked in a spreadsheet"))
    assert found[0] == "adr-2"
    bare = [replace(e, edges=()) for e in events]
    assert (
        ids(recall(opened(TypedGraphMemory, bare), "berths booked in a spreadsheet"))[0] == "adr-1"
    )


def test_an_answer_that_cannot_be_read_leaves_its_document_bare() -> None:
    class Unreadable(RuleClient):
        async def ask(self, operation: Operation[Any, Any], request: Any) -> Any:
            if "ADR 1" in request.document:
                raise ValueError("no JSON")
            return await super().ask(operation, request)

    events, _ = run(ModelExtractor(CandidateSettings()), Unreadable())
    by_id = {e.id: e for e in events}
    assert (by_id["adr-2"].kind, by_id["adr-2"].edges) == ("", ())
    assert by_id["adr-3"].edges == (("derived_from", "adr-2"),)


def test_candidates_are_those_that_share_names_never_the_document_itself() -> None:
    asked = requests(RECORD, 2)
    assert len(asked) == len(RECORD)
    assert 0 in asked[1].places
    assert asked[2].places[0] == 1
    for place, one in enumerate(asked):
        assert place not in one.places
        assert len(one.places) <= 2
        assert [c.name for c in one.request.candidates] == [RECORD[i].id for i in one.places]


def test_counts_of_several_histories_are_added_up() -> None:
    one = {"edges": {"cites": {"given": 2, "found": 1, "right": 1}}}
    two = {"edges": {"cites": {"given": 2, "found": 3, "right": 0}}}
    (cites,) = summed([one, two])["edges"].values()
    assert cites == {"given": 4, "found": 4, "right": 1, "precision": 0.25, "recall": 0.25}
    assert summed([]) == {}


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="candidates: 0 given, at least 1 expected"):
        CandidateSettings(candidates=0)
