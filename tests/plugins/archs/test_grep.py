"""The two controls that search for exact strings."""

from __future__ import annotations

import json
from typing import Any, cast

from framework.contracts import ArchContext, Client, Query
from framework.operations.next_query import NextQueryResponse
from framework.records import Event, FactField, TaskCard
from framework.registry import NoSettings
from framework.testing.arch_conformance import NoClient, settle
from plugins.archs._bm25 import BM25Settings
from plugins.archs.grep_agentic import GrepAgentic, GrepAgenticSettings
from plugins.archs.grep_labels import GrepLabels
from plugins.archs.grep_names import GrepNames

SAID = (
    "The Calm Gull charter requires the page length to be 20 lines.",
    "Component cx-0a1b2 is built under the Amber Condor principle.",
    "The Quiet Dune accord constrains the Misty Beacon protocol. The rounding mode is a matter.",
    "The Amber Condor principle implements the Misty Beacon protocol.",
    "The Amber Condor principle was discussed alongside the Calm Gull charter.",
    "Under the Quiet Dune accord, the Rounding Mode must be upward for the ledger.",
)
EVENTS = [
    Event(id=f"ev-{i}", text=text, time="2020-01-01", kind="decision")
    for i, text in enumerate(SAID)
]
PLAN = {
    "component": "cx-0a1b2",
    "settings": [
        {"setting": "rounding_mode", "label": "rounding mode", "status": "proposed"},
        {"setting": "page_length", "label": "page length", "status": "asked"},
    ],
}
CARD = TaskCard(
    instruction="Do it.",
    query="Mend the ledger.",
    material={"change_plan": json.dumps(PLAN)},
)
CONTEXT = ArchContext(budget_tokens=500, client=cast(Client, None))


def found(arm: Any, card: TaskCard, k: int = 10) -> list[str]:
    arm.ingest(EVENTS)
    return [item.id for item in arm.recall(Query(text=card.query, task=card), k)]


def test_names_are_followed_as_far_as_they_lead_but_not_through_associations() -> None:
    arm = GrepNames(NoSettings(), CONTEXT)
    assert found(arm, CARD) == ["ev-1", "ev-3", "ev-2", "ev-5"]
    assert found(arm, CARD, 2) == ["ev-1", "ev-3"]


def test_labels_are_those_that_the_plan_leaves_open_and_the_ticket_orders_them() -> None:
    arm = GrepLabels(BM25Settings(), CONTEXT)
    assert found(arm, CARD) == ["ev-5", "ev-2"]
    given = TaskCard(
        instruction="", query="ledger", material={**CARD.material, "ticket": "The Misty Beacon."}
    )
    assert found(arm, given)[0] == "ev-2"


def test_labels_of_a_task_without_a_plan_are_those_of_its_fields() -> None:
    fields = (FactField(key="page_length", label="Page length", type="count"),)
    card = TaskCard(instruction="", query="", fields=fields)
    assert found(GrepLabels(BM25Settings(), CONTEXT), card) == ["ev-0"]


class _Chooses:
    """A client whose model chooses given words, and what it was shown."""

    def __init__(self, *queries: str) -> None:
        self.queries, self.requests = list(queries), list[Any]()

    async def ask(self, operation: Any, request: Any) -> Any:
        self.requests.append(request)
        return NextQueryResponse(query=self.queries.pop(0))


def searched(settings: GrepAgenticSettings, *queries: str, k: int = 10) -> tuple[list[str], int]:
    client = _Chooses(*queries)
    arm = GrepAgentic(settings, ArchContext(budget_tokens=500, client=cast(Client, client)))
    arm.ingest(EVENTS)
    items = settle(arm.recall(Query(text="cx-0a1b2", task=CARD), k))
    return [item.id for item in items], len(client.requests)


def test_an_agent_searches_for_the_words_that_it_chooses_until_it_stops() -> None:
    settings = GrepAgenticSettings(searches=4, hits=2)
    assert searched(settings, "Amber Condor", "Quiet Dune rounding", "") == (
        ["ev-1", "ev-3", "ev-4", "ev-2", "ev-5"],
        3,
    )
    assert searched(GrepAgenticSettings(searches=1)) == (["ev-1"], 0)
    assert searched(settings, "Amber Condor", k=2)[0] == ["ev-1", "ev-3"]


def test_an_agent_that_finds_nothing_asks_for_nothing() -> None:
    arm = GrepAgentic(GrepAgenticSettings(), ArchContext(budget_tokens=500, client=NoClient()))
    arm.ingest(EVENTS)
    assert settle(arm.recall(Query(text="zebra", task=CARD), 10)) == []
