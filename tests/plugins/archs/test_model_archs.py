"""The arms that ask a model: how often, with what, and what becomes of its answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.contracts import Operation, Query
from framework.operations.project import ProjectRequest, ProjectResponse
from framework.operations.summarize import SummarizeRequest, SummarizeResponse
from framework.operations.synthesize_schema import (
    SynthesizeSchemaRequest,
    SynthesizeSchemaResponse,
)
from framework.testing.arch_conformance import TASK, history, settle
from framework.text.tokens import count_tokens
from plugins.archs.dpm import DPM
from plugins.archs.sam import SAM
from plugins.archs.summ_only import SummOnly, SummOnlySettings
from plugins.archs.typed_routing import Misrouted, RoutedSettings, TypedRouting
from tests.plugins.archs.helpers import event, ids, opened, recall


@dataclass
class Scripted:
    """A client that answers by a function of the request, and keeps the requests."""

    answer: Callable[[Any], Any]
    requests: list[Any] = field(default_factory=list)

    async def ask(self, operation: Operation[Any, Any], request: Any) -> Any:
        self.requests.append(request)
        return self.answer(request)


def appending(request: SummarizeRequest) -> SummarizeResponse:
    """A summary that keeps everything, whatever the limit."""
    return SummarizeResponse(summary=" ".join((request.summary, *request.chunks)).strip())


@given(st.integers(0, 20), st.integers(1, 7))
def test_summ_only_makes_one_call_per_chunk_in_order(n: int, chunk: int) -> None:
    client = Scripted(appending)
    events = [event(str(i), f"w{i}") for i in range(n)]
    settings = SummOnlySettings(chunk_events=chunk)
    arch = opened(SummOnly, events, settings, budget=1000, client=client)
    items = recall(arch)
    assert len(client.requests) == math.ceil(n / chunk) == arch.report()["summary_calls"]
    assert [text for r in client.requests for text in r.chunks] == [e.text for e in events]
    assert [item.text for item in items] == ([" ".join(e.text for e in events)] if n else [])
    assert all(item.source_ids == () for item in items)


def test_summ_only_hands_each_call_the_summary_so_far_and_the_budget() -> None:
    client = Scripted(appending)
    opened(SummOnly, [event("a", "one"), event("b", "two")], budget=9, client=client)
    assert client.requests == [
        SummarizeRequest(summary="", chunks=("one",), limit_tokens=9),
        SummarizeRequest(summary="one", chunks=("two",), limit_tokens=9),
    ]


@given(st.integers(1, 12))
def test_a_summary_over_the_limit_is_cut_before_the_next_call(limit: int) -> None:
    client = Scripted(appending)
    events = [event(str(i), f"Word number {i}.") for i in range(10)]
    arch = opened(SummOnly, events, budget=limit, client=client)
    assert all(count_tokens(r.summary) <= limit for r in client.requests)
    assert all(count_tokens(item.text) <= limit for item in recall(arch))
    assert arch.report()["summaries_cut"] > 0


FACT = event("fact", "2026-03-01 | Form | Office\nThe credit score is 640.")
REASON = event("why", "2026-03-02 | Letter | Office\nThe gap arose because of an illness.")


@pytest.mark.parametrize(
    ("arch", "stored", "summed"), [(TypedRouting, FACT, REASON), (Misrouted, REASON, FACT)]
)
def test_routes_lead_to_store_and_summary(arch: Any, stored: Any, summed: Any) -> None:
    client = Scripted(appending)
    instance = opened(arch, [FACT, REASON], budget=100, client=client)
    assert client.requests == [
        SummarizeRequest(summary="", chunks=(summed.text,), limit_tokens=50),
    ]
    items = recall(instance, "score")
    assert ids(items) == ["summary", stored.id]
    assert items[1].text == stored.text
    assert ids(recall(instance, "score", k=1)) == ["summary"]
    assert instance.report() == {
        "routed_fact": 0.5,
        "routed_reasoning": 0.5,
        "to_store": 0.5,
        "to_summary": 0.5,
        "summary_calls": 1,
        "summaries_cut": 0,
    }


def test_the_store_keeps_everything_and_the_summary_its_share() -> None:
    facts = [event(f"f{i}", f"The score number {i} is {i}.") for i in range(30)]
    reasons = [event(f"r{i}", f"This holds because of number {i}.") for i in range(5)]

    def routed(**settings: Any) -> list[str]:
        client = Scripted(appending)
        arch = opened(
            TypedRouting, facts + reasons, RoutedSettings(**settings), budget=40, client=client
        )
        assert {r.limit_tokens for r in client.requests} == {
            math.floor(40 * settings.get("summary_share", 0.5))
        }
        return ids(recall(arch, "number 0"))

    assert len(routed()) == 9
    assert len(routed(top_k=3)) == 4
    assert len(routed(store="full", summary_share=0.2)) == 31
    assert routed(store="full")[:9] == routed()


@pytest.mark.parametrize(
    "bad",
    [{"top_k": 0}, {"summary_share": 0.0}, {"summary_share": 1.0}, {"chunk_events": 0}, {"b": 2}],
)
def test_routed_settings_out_of_range_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"given, .* expected"):
        RoutedSettings(**bad)


def test_summ_only_settings_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="chunk_events: 0 given, at least 1 expected"):
        SummOnlySettings(chunk_events=0)


@given(st.integers(1, 5))
def test_dpm_makes_one_call_a_recall_with_the_whole_log(times: int) -> None:
    client = Scripted(lambda request: ProjectResponse(view="a view"))
    events = history()
    arch = opened(DPM, events, budget=33, client=client)
    assert client.requests == []
    for _ in range(times):
        items = recall(arch, TASK.query, task=TASK)
        assert [item.text for item in items] == ["a view"]
    request = ProjectRequest(task=TASK, events=tuple(e.text for e in events), limit_tokens=33)
    assert client.requests == [request] * times


def test_dpm_without_a_task_or_a_log() -> None:
    client = Scripted(lambda request: ProjectResponse(view=" "))
    with pytest.raises(ValueError, match="projects for a task"):
        settle(opened(DPM, history(), budget=9, client=client).recall(Query(text="x"), 5))
    assert recall(opened(DPM, [], budget=9, client=client), task=TASK) == []
    assert client.requests == []
    assert recall(opened(DPM, history(), budget=9, client=client), task=TASK) == []


@pytest.mark.parametrize("arch", [SummOnly, TypedRouting, SAM])
def test_an_arm_that_uses_its_budget_is_not_opened_without_one(arch: Any) -> None:
    with pytest.raises(ValueError, match="uses its budget"):
        opened(arch, history(), client=Scripted(appending))


def remembering(request: SynthesizeSchemaRequest) -> SynthesizeSchemaResponse:
    """A store that names the documents it has seen by their last word."""
    seen = (*request.store.context, *(chunk.split()[-1] for chunk in request.chunks))
    return SynthesizeSchemaResponse(context=seen)


EIGHT = [event(f"e{i}", f"a few plain words {i}") for i in range(8)]  # 5 tokens each


def test_sam_folds_on_overflow_and_at_the_end_and_loses_nothing() -> None:
    client = Scripted(remembering)
    arch = opened(SAM, EIGHT, budget=60, client=client)
    (item,) = recall(arch)
    assert item.id == "schema"
    assert item.text == remembering_text(range(8))
    folded = [r.chunks for r in client.requests if r.chunks]
    assert [text for chunks in folded for text in chunks] == [e.text for e in EIGHT]
    assert len(folded[0]) == 8
    small = Scripted(remembering)
    opened(SAM, EIGHT, budget=12, client=small)
    assert [len(r.chunks) for r in small.requests][:3] == [3, 0, 1]
    assert all(r.limit_tokens == 12 for r in small.requests)


def remembering_text(numbers: range) -> str:
    return SynthesizeSchemaResponse(context=tuple(str(i) for i in numbers)).text


@given(st.lists(st.booleans(), min_size=16, max_size=16), st.integers(1, 60))
def test_sam_loses_no_event_to_unreadable_responses(fails: list[bool], budget: int) -> None:
    script = iter(fails)

    def sometimes(request: SynthesizeSchemaRequest) -> SynthesizeSchemaResponse:
        if next(script, False):
            raise ValueError("no JSON object in the response")
        return remembering(request)

    client = Scripted(sometimes)
    arch = opened(SAM, EIGHT, budget=budget, client=client)
    items = recall(arch)
    stored = cast(SAM, arch)._store.context
    staged = [i.id for i in items if i.id != "schema"]
    assert [f"e{i}" for i in stored] + staged == [e.id for e in EIGHT]
    assert arch.report()["unreadable_responses"] == sum(fails[: len(client.requests)])
    assert arch.report()["left_staged"] == len(staged)


def test_sam_lets_a_failed_call_through() -> None:
    def unreachable(request: SynthesizeSchemaRequest) -> SynthesizeSchemaResponse:
        raise ConnectionError("no server")

    with pytest.raises(ConnectionError):
        opened(SAM, EIGHT, budget=60, client=Scripted(unreachable))
