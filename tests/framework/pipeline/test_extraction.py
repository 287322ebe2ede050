"""What an extractor is given, what it may change, and how it is counted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from framework.contracts import Arch, Client, Extractor, Query
from framework.engine.prepare import build_pipeline
from framework.pipeline.extraction import counted, extracted
from framework.records import EMPTY, Event, Item
from framework.registry import NoSettings, register
from framework.testing.arch_conformance import NoClient
from tests.trivial import trivial_plan

EVENTS = (
    Event(id="a", text="A.", time="2026-01-01", kind="rule", metadata={"k": "v"}),
    Event(id="b", text="B.", time="2026-01-02", kind="note", edges=(("cites", "a"),)),
)


class Told(Extractor[Any]):
    """Gives back what a test tells it to make of the events."""

    name = "told"

    def extract(self, events: Sequence[Event], client: Client) -> Sequence[Event]:
        self.seen = list(events)
        make: Callable[[Sequence[Event]], Sequence[Event]] = self.settings
        return make(events)


def run(make: Callable[[Sequence[Event]], Sequence[Event]]) -> tuple[Told, Any, Any]:
    told = Told(make)
    events, counts = asyncio.run(extracted(told, iter(EVENTS), NoClient()))
    return told, events, counts


def test_it_gets_text_alone() -> None:
    told, *_ = run(lambda events: events)
    assert told.seen == [replace(e, kind="", edges=(), metadata=EMPTY) for e in EVENTS]


def test_what_it_finds_is_counted_by_type() -> None:
    def make(events: Sequence[Event]) -> list[Event]:
        a, b = events
        return [
            replace(a, kind="rule", edges=(("cites", "b"),)),
            replace(b, kind="rule", edges=(("cites", "a"), ("cites", "a"), ("implements", "a"))),
        ]

    _, events, counts = run(make)
    assert events[1].kind == "rule"
    assert counts["nodes"] == {
        "note": {"given": 1, "found": 0, "right": 0},
        "rule": {"given": 1, "found": 2, "right": 1},
    }
    assert counts["edges"] == {
        "cites": {"given": 1, "found": 2, "right": 1},
        "implements": {"given": 0, "found": 1, "right": 0},
    }


def test_counts_of_nothing() -> None:
    assert counted([], []) == {}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda events: events[:1], "changed more"),
        (lambda events: events[::-1], "changed more"),
        (lambda events: [replace(e, text="x") for e in events], "changed more"),
        (lambda events: [replace(e, edges=(("cites", "z"),)) for e in events], "never arrived"),
    ],
)
def test_a_broken_extractor_is_refused(make: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        run(make)


@register("extractor", "chaining")
class Chaining(Extractor[NoSettings]):
    """Says that every event follows the one before."""

    def extract(self, events: Sequence[Event], client: Client) -> Sequence[Event]:
        before = [(), *(((("follows", e.id)),) for e in events[:-1])]
        return [replace(e, kind="read", edges=to) for e, to in zip(events, before, strict=True)]


@register("arch", "reading_edges")
class ReadingEdges(Arch[Any]):
    """Keeps the kinds and edges that it was given."""

    uses_extractor = True
    gold_edges = True
    seen: ClassVar[list[Any]] = []

    def ingest(self, events: Iterable[Event]) -> None:
        self.seen.append([(e.kind, e.edges) for e in events])

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        return []


def test_the_arm_gets_what_was_read_and_the_record_the_counts() -> None:
    ReadingEdges.seen.clear()
    plan = trivial_plan(
        n_cases=1, arch={"plugin": "reading_edges"}, extractor={"plugin": "chaining"}
    )
    assert plan.label("arch") == "reading_edges(extractor=chaining)"
    pipeline = build_pipeline(plan, plan.parts["domain"].create())

    async def record() -> Any:
        cases = pipeline.domain.cases(1, 7)
        return [pair async for pair in pipeline.rows(cases, frozenset(), answer=True, k=None)]

    ((_, kept),) = asyncio.run(record())
    assert ReadingEdges.seen == [[("read", ()), ("read", (("follows", "e0"),))]]
    assert kept["extraction"]["edges"] == {"follows": {"given": 0, "found": 1, "right": 0}}


def test_without_an_extractor_the_domain_s_own_reach_it() -> None:
    ReadingEdges.seen.clear()
    plan = trivial_plan(n_cases=1, arch={"plugin": "reading_edges"})
    pipeline = build_pipeline(plan, plan.parts["domain"].create())
    assert pipeline.extractor is None
