"""The arms that are memory systems: trees, windows, pages, consolidated memories, linked notes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.contracts import Operation
from framework.models.hashing import hashed_words
from framework.operations.consolidate import Change, ConsolidateRequest, ConsolidateResponse
from framework.operations.next_query import NextQueryRequest, NextQueryResponse
from framework.operations.summarize import SummarizeRequest, SummarizeResponse
from framework.operations.take_note import Revision, TakeNoteRequest, TakeNoteResponse
from framework.testing.arch_conformance import RuleClient, history
from framework.text.tokens import count_tokens
from plugins.archs._clusters import clusters
from plugins.archs._recent import Recent
from plugins.archs._vectors import Vectors
from plugins.archs.consolidate import ConsolidateMemory, ConsolidateSettings
from plugins.archs.linked_notes import LinkedNotes, LinkedNotesSettings
from plugins.archs.paged import Paged, PagedSettings
from plugins.archs.raptor import Raptor, RaptorSettings
from plugins.archs.rolling_summary import RollingSummary, RollingSummarySettings
from tests.plugins.archs.helpers import event, ids, opened, recall

TOPICS = ("tide water level", "berth booking skipper", "invoice ledger fee", "crane oil repair")


@dataclass
class Scripted:
    """A client that answers by a function of the request, and keeps the requests."""

    answer: Callable[[Any], Any]
    requests: list[Any] = field(default_factory=list)

    async def ask(self, operation: Operation[Any, Any], request: Any) -> Any:
        self.requests.append(request)
        found = self.answer(request)
        if isinstance(found, Exception):
            raise found
        return found


def first_words(request: SummarizeRequest) -> SummarizeResponse:
    """A summary of the first word of everything."""
    texts = (request.summary, *request.chunks)
    return SummarizeResponse(summary=" ".join(t.split()[0] for t in texts if t.split()))


def topical(each: int) -> list[Any]:
    return [event(f"e{t}.{i}", f"{TOPICS[t]} number{i}") for i in range(each) for t in range(4)]


# ------------------------------------------------------------------------------------- clusters


@given(st.integers(0, 60), st.integers(2, 9), st.sampled_from(["soft", "hard"]), st.integers(0, 3))
def test_clusters_hold_every_row_and_hard_ones_are_small_enough(
    n: int, size: int, clustering: Any, seed: int
) -> None:
    vectors = np.random.default_rng(seed).normal(size=(n, 5)).astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    groups = clusters(vectors, size, clustering)
    members = [row for group in groups for row in group]
    assert all(groups)
    assert set(members) == set(range(n))
    if clustering == "hard":
        assert len(members) == n
        assert all(len(group) <= size for group in groups)
    else:
        assert all(members.count(row) <= 2 for row in range(n))
    assert groups == clusters(vectors, size, clustering)


def test_clusters_are_of_alike_rows_and_equal_rows_are_cut_in_order() -> None:
    texts = [f"{topic} x{i}" for i in range(4) for topic in TOPICS]
    groups = clusters(hashed_words(texts, 1024), 4, "hard")
    assert sorted(groups) == [tuple(range(t, 16, 4)) for t in range(4)]
    same = np.tile(np.array([[1.0, 0.0]], dtype=np.float32), (10, 1))
    assert clusters(same, 5, "hard") == [(0, 1, 2, 3, 4), (5, 6, 7, 8, 9)]


def test_a_row_between_two_groups_is_in_both_when_clustering_is_soft() -> None:
    angles = np.radians([0, 1, 2, 3, 4, 90, 89, 88, 87, 86, 45])
    at = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    soft = [row for group in clusters(at, 6, "soft") for row in group]
    hard = [row for group in clusters(at, 6, "hard") for row in group]
    assert soft.count(10) == 2
    assert [soft.count(row) for row in range(10)] == [1] * 10
    assert hard.count(10) == 1


# --------------------------------------------------------------------------------------- raptor


@pytest.mark.parametrize("clustering", ["soft", "hard"])
def test_raptor_builds_levels_of_summaries_up_to_one_root(clustering: Any) -> None:
    client = Scripted(lambda r: SummarizeResponse(summary=" ".join(r.chunks)))
    settings = RaptorSettings(cluster_size=4, clustering=clustering, summary_tokens=1000)
    arch = opened(Raptor, topical(8), settings, client=client)
    items = recall(arch, "tide water level")
    levels = {item.id: item.signals["level"] for item in items}
    assert arch.report()["levels"] >= 2
    assert (
        arch.report()["summary_calls"]
        == len(client.requests)
        == sum(v > 0 for v in levels.values())
    )
    top = [item for item in items if item.signals["level"] == arch.report()["levels"]]
    assert len(top) == 1
    assert all(f"number{i}" in top[0].text for i in range(8))
    assert all(not item.source_ids for item in items if item.signals["level"])


def test_raptor_summarises_clusters_of_one_topic() -> None:
    client = Scripted(first_words)
    opened(Raptor, topical(4), RaptorSettings(cluster_size=4, clustering="hard"), client=client)
    firsts = [{chunk.split()[0] for chunk in request.chunks} for request in client.requests[:4]]
    assert sorted(map(sorted, firsts)) == [["berth"], ["crane"], ["invoice"], ["tide"]]


def test_raptor_cuts_a_summary_that_is_too_long_and_ranks_all_nodes_as_one() -> None:
    client = Scripted(lambda r: SummarizeResponse(summary=" ".join(r.chunks)))
    settings = RaptorSettings(cluster_size=4, summary_tokens=6)
    items = recall(opened(Raptor, topical(4), settings, client=client), "crane oil repair")
    assert all(count_tokens(item.text) <= 6 for item in items if item.signals["level"])
    scores = [item.signals["dense"] for item in items]
    assert scores == sorted(scores, reverse=True)
    assert {"crane"} <= set(items[0].text.split())


def test_a_traversal_goes_down_by_the_children_of_the_best() -> None:
    client = Scripted(lambda r: SummarizeResponse(summary=r.chunks[0].rsplit(" ", 1)[0]))
    settings = RaptorSettings(cluster_size=4, clustering="hard", search="traversal", beam=1)
    items = recall(opened(Raptor, topical(4), settings, client=client), "invoice ledger fee")
    found = [(item.signals["level"], item.text.split()[0]) for item in items]
    top = max(level for level, _ in found)
    assert [level for level, _ in found[: int(top) + 1]] == sorted(
        (level for level, _ in found[: int(top) + 1]), reverse=True
    )
    assert len(ids(items)) == len(set(ids(items)))


# ------------------------------------------------------------------------------ windows and pages


@given(st.lists(st.integers(1, 12), max_size=30), st.integers(0, 30))
def test_a_queue_holds_its_limit_and_loses_nothing(sizes: list[int], limit: int) -> None:
    queue, left = Recent(limit), []
    events = [event(str(i), " ".join(["w"] * n)) for i, n in enumerate(sizes)]
    for one in events:
        gone = queue.push(one)
        left += gone
        held = sum(count_tokens(e.text) for e in queue.events)
        assert held <= limit
        assert not gone or held <= limit / 2
    assert left + queue.events == events
    assert ids(queue.items(1)) == [e.id for e in reversed(queue.events)]


def test_rolling_summary_keeps_the_latest_word_for_word() -> None:
    client = Scripted(first_words)
    events = [event(f"e{i}", f"word{i} is here") for i in range(10)]
    settings = RollingSummarySettings(window_share=0.5)
    arch = opened(RollingSummary, events, settings, budget=30, client=client)
    items = recall(arch)
    assert items[0].id == "summary"
    assert items[1].text == "word9 is here"
    window = [item.id for item in items[1:]]
    folded = [chunk for request in client.requests for chunk in request.chunks]
    assert folded == [e.text for e in events if e.id not in window]
    assert all(request.limit_tokens == 15 for request in client.requests)


def test_without_a_window_everything_is_folded_in_one_by_one() -> None:
    client = Scripted(first_words)
    events = [event(f"e{i}", f"word{i} is here") for i in range(5)]
    arch = opened(
        RollingSummary, events, RollingSummarySettings(window_share=0), budget=30, client=client
    )
    assert [request.chunks for request in client.requests] == [(e.text,) for e in events]
    assert ids(recall(arch)) == ["summary"]


def test_paged_searches_what_left_the_queue() -> None:
    client = Scripted(first_words)
    events = [event(f"e{i}", f"{TOPICS[i % 4]} number{i}") for i in range(20)]
    settings = PagedSettings(page_events=2, queue_share=0.2, core_share=0.2)
    arch = opened(Paged, events, settings, budget=60, client=client)
    items = recall(arch, "invoice ledger fee")
    report = arch.report()
    assert report["archived"] + report["queued"] == 20
    assert report["queued"] > 0
    assert items[0].id == "summary"
    assert all("invoice" in item.text for item in items[1:3])
    queued = ids(items)[3 : 3 + int(report["queued"])]
    assert queued == [f"e{19 - i}" for i in range(len(queued))]
    assert sorted(ids(items)[1:]) == sorted(e.id for e in events)
    assert [item.signals["rank"] for item in items] == list(range(1, len(items) + 1))


def test_paged_searches_again_for_what_the_model_writes() -> None:
    told = iter(("crane oil repair", "berth booking", ""))

    def answer(request: Any) -> Any:
        asks = isinstance(request, NextQueryRequest)
        return NextQueryResponse(query=next(told)) if asks else first_words(request)

    client = Scripted(answer)
    events = [event(f"e{i}", f"{TOPICS[i % 4]} number{i}") for i in range(20)]
    settings = PagedSettings(page_events=2, queue_share=0.2, core_share=0.2, searches=9)
    arch = opened(Paged, events, settings, budget=60, client=client)
    items = recall(arch, "invoice ledger fee")
    asked = [r for r in client.requests if isinstance(r, NextQueryRequest)]
    assert [len(r.asked) for r in asked] == [1, 2, 3]
    assert [len(r.passages) for r in asked] == [2, 4, 6]
    again = [item for item in items if "search" in item.signals]
    assert [item.signals["search"] for item in again] == [2, 2, 3, 3]
    assert all("crane" in item.text for item in again[:2])
    assert all("berth" in item.text for item in again[2:])
    assert sorted(ids(items)[1:]) == sorted(e.id for e in events), "each once"
    # The queue stands before what further searches found, and one search asks nothing.
    queued = int(arch.report()["queued"])
    assert items.index(again[0]) == 1 + 2 + queued
    once = opened(Paged, events, replace(settings, searches=1), budget=60, client=client)
    n = len(client.requests)
    recall(once, "invoice ledger fee")
    assert not [r for r in client.requests[n:] if isinstance(r, NextQueryRequest)]


@pytest.mark.parametrize(
    ("settings", "bad"),
    [
        (RollingSummarySettings, {"window_share": 1.0}),
        (PagedSettings, {"core_share": 0.0}),
        (PagedSettings, {"core_share": 0.6, "queue_share": 0.4}),
        (PagedSettings, {"page_events": 0}),
        (PagedSettings, {"searches": 0}),
        (RaptorSettings, {"cluster_size": 1}),
        (RaptorSettings, {"levels": 0}),
        (ConsolidateSettings, {"similar": 0}),
        (LinkedNotesSettings, {"neighbours": 0}),
        (LinkedNotesSettings, {"expanded": -1}),
    ],
)
def test_settings_out_of_range_are_refused(settings: Any, bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"given, .* expected"):
        settings(**bad)


# ---------------------------------------------------------------------------------- consolidate


def test_vectors_forget_what_is_removed() -> None:
    rows = hashed_words([*TOPICS], 64)
    vectors = Vectors(64)
    numbers = [vectors.add(row) for row in np.tile(rows, (30, 1))]
    assert numbers == list(range(120))
    vectors.remove(1)
    vectors.replace(5, rows[0])
    found = [number for number, _ in vectors.nearest(rows[1], 120)]
    assert len(found) == 119
    assert found[:2] == [9, 13]


def test_consolidate_adds_updates_deletes_and_leaves() -> None:
    script = {
        "one": [
            Change(action="ADD", text="berths cost 10"),
            Change(action="ADD", text="gate opens"),
        ],
        "two": [Change(action="UPDATE", number=1, text="berths cost 12")],
        "three": [Change(action="DELETE", number=1), Change(action="NOOP", number=2)],
    }

    def answer(request: ConsolidateRequest) -> ConsolidateResponse:
        return ConsolidateResponse(changes=tuple(script[request.document.split()[0]]))

    client = Scripted(answer)
    events = [
        event("a", "one"),
        event("b", "two berths cost"),
        event("c", "three gate opens"),
    ]
    arch = opened(ConsolidateMemory, events, client=client)
    assert [r.memories for r in client.requests] == [
        (),
        ("berths cost 10", "gate opens"),
        ("gate opens", "berths cost 12"),
    ]
    (left,) = recall(arch, "berths")
    assert (left.text, left.source_ids) == ("berths cost 12", ("b",))
    report = arch.report()
    assert [report[n] for n in ("memories", "added", "updated", "deleted", "left")] == [
        1,
        2,
        1,
        1,
        1,
    ]


def test_an_unreadable_response_leaves_the_store_as_it_was() -> None:
    def answer(request: ConsolidateRequest) -> Any:
        if request.document == "bad":
            return ValueError("no JSON")
        return ConsolidateResponse(changes=(Change(action="ADD", text=request.document),))

    arch = opened(
        ConsolidateMemory, [event("a", "good"), event("b", "bad")], client=Scripted(answer)
    )
    assert [item.text for item in recall(arch, "good")] == ["good"]
    assert arch.report()["unreadable"] == 1


def test_by_rule_a_correction_takes_the_place_of_what_it_corrects() -> None:
    texts = [
        item.text for item in recall(opened(ConsolidateMemory, history(), client=RuleClient()))
    ]
    assert not any(text == "The credit score is 655." for text in texts)
    assert any("610, not 655" in text for text in texts)
    calls = "The applicant called to ask when the office opens."
    assert texts.count(calls) == 1


# --------------------------------------------------------------------------------- linked notes


def test_linked_notes_follow_the_note_they_are_linked_to() -> None:
    def answer(request: TakeNoteRequest) -> TakeNoteResponse:
        links = [n for n, note in enumerate(request.notes, 1) if "ledger" in note.text]
        return TakeNoteResponse(
            keywords=("k",), context="c", links=tuple(links) if "crane" in request.document else ()
        )

    events = [event("l", "ledger of fees"), *(event(f"x{i}", f"water {i}") for i in range(3))]
    events.append(event("c", "crane repair"))
    client = Scripted(answer)
    settings = LinkedNotesSettings(neighbours=5, expanded=1)
    arch = opened(LinkedNotes, events, settings, client=client)
    items = recall(arch, "crane repair")
    assert ids(items)[:2] == ["c", "l"]
    assert items[1].signals["linked"] == 1
    assert ids(recall(arch, "ledger of fees"))[:2] == ["l", "c"]
    assert arch.report()["links"] == 1
    assert sorted(ids(items)) == sorted(e.id for e in events)


def test_a_revised_context_changes_what_a_note_is_found_by() -> None:
    def answer(request: TakeNoteRequest) -> TakeNoteResponse:
        revised = (Revision(number=1, context="zebra"),) if request.notes else ()
        return TakeNoteResponse(keywords=(), context="", links=(), revised=revised)

    first = [event("a", "one two"), event("b", "three four")]
    arch = opened(LinkedNotes, first, client=Scripted(answer))
    assert ids(recall(arch, "zebra"))[0] == "a"
    assert arch.report()["revised"] == 1
    assert [item.text for item in recall(arch, "zebra")] == ["one two", "three four"]


def test_in_three_calls_each_step_is_told_what_the_one_before_wrote() -> None:
    def answer(request: TakeNoteRequest) -> TakeNoteResponse:
        made = f"of {request.document.split()[0]}"
        ledgers = tuple(n for n, note in enumerate(request.notes, 1) if "ledger" in note.text)
        revised = tuple(Revision(number=n, context="zebra") for n in ledgers)
        alone = len(request.notes) == len(ledgers)
        return TakeNoteResponse(
            keywords=("key",), context=made, links=ledgers, revised=revised if alone else ()
        )

    client = Scripted(answer)
    events = [event("w", "water one"), event("l", "ledger two"), event("c", "crane three")]
    arch = opened(LinkedNotes, events, LinkedNotesSettings(calls="three"), client=client)
    assert [(r.document.replace("\n", "|"), len(r.notes)) for r in client.requests] == [
        ("water one", 0),
        ("ledger two", 0),
        ("ledger two|key|of ledger", 1),
        ("crane three", 0),
        ("crane three|key|of crane", 2),
        ("crane three|key|of crane", 1),  # the notes that it was linked to, alone
    ]
    assert arch.report() == {"links": 1, "revised": 1, "unreadable": 0}
    assert ids(recall(arch, "zebra"))[:2] == ["l", "c"]


def test_where_every_near_note_is_linked_the_same_is_not_asked_twice() -> None:
    def answer(request: TakeNoteRequest) -> TakeNoteResponse:
        numbers = tuple(range(1, len(request.notes) + 1))
        revised = tuple(Revision(number=n, context="zebra") for n in numbers)
        return TakeNoteResponse(keywords=(), context="", links=numbers, revised=revised)

    client = Scripted(answer)
    events = [event("a", "one two"), event("b", "three four")]
    arch = opened(LinkedNotes, events, LinkedNotesSettings(calls="three"), client=client)
    assert [len(request.notes) for request in client.requests] == [0, 0, 1]
    assert arch.report() == {"links": 1, "revised": 1, "unreadable": 0}


def test_an_unreadable_note_is_a_bare_one() -> None:
    arch = opened(
        LinkedNotes, [event("a", "one")], client=Scripted(lambda r: ValueError("no JSON"))
    )
    assert ids(recall(arch, "one")) == ["a"]
    assert arch.report()["unreadable"] == 1
