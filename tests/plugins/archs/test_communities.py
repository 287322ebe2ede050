"""Communities of a graph of events and phrases, and the tree of summaries over them."""

from __future__ import annotations

import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.errors import UserError
from framework.operations.summarize import SummarizeResponse
from plugins.archs._communities import communities
from plugins.archs.raptor import Raptor, RaptorSettings
from tests.plugins.archs.helpers import event, opened, recall
from tests.plugins.archs.test_memory_systems import Scripted

HARBOUR = ["crane oil repair", "crane hook oil", "crane hook repair", "repair oil hook"]
LEDGER = ["invoice tax ledger", "ledger tax audit", "audit invoice tax", "ledger audit invoice"]
COMMUNITIES = RaptorSettings(clustering="communities", summary_tokens=1000)


def test_texts_that_share_phrases_become_one_community_and_others_do_not() -> None:
    first, *_, last = communities([*HARBOUR, *LEDGER, "unrelated words alone"])
    assert last == [0, 0, 0, 0, 1, 1, 1, 1, 2]
    assert {*first[:4]}.isdisjoint(first[4:])
    assert communities(["crane", "invoice"]) == []


def test_a_phrase_that_every_text_holds_joins_nothing() -> None:
    marked = [f"{text} memo" for text in [*HARBOUR, *LEDGER]]
    assert communities(marked) == communities([*HARBOUR, *LEDGER])


@given(st.lists(st.text("abcd ", max_size=8), max_size=12))
def test_communities_of_a_level_lie_within_those_of_the_next(texts: list[str]) -> None:
    levels = communities(texts)
    assert levels == communities(texts), "the same each time"
    assert all(len(level) == len(texts) for level in levels)
    for lower, upper in pairwise(levels):
        assert len({*zip(lower, upper, strict=True)}) == len({*lower})
        assert len({*upper}) <= len({*lower})


def test_each_community_of_several_events_has_one_summary() -> None:
    client = Scripted(lambda r: SummarizeResponse(summary=" ".join(r.chunks)))
    texts = [*HARBOUR, *LEDGER, "unrelated words alone"]
    events = [event(f"e{i}", text) for i, text in enumerate(texts)]
    arch = opened(Raptor, events, COMMUNITIES, client=client)
    items = recall(arch, "tax ledger")
    top = max(item.signals["level"] for item in items)
    largest = [sorted(item.text.split()) for item in items if item.signals["level"] == top]
    topics = [sorted(" ".join(topic).split()) for topic in (HARBOUR, LEDGER)]
    assert sorted(largest) == sorted(topics)
    assert all("unrelated" not in item.text for item in items if item.signals["level"])
    assert arch.report()["summary_calls"] == sum(item.signals["level"] > 0 for item in items)


def test_a_larger_community_is_summarised_from_the_summaries_within_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    levels = [[0, 0, 1, 1, 2], [0, 0, 0, 0, 0]]  # the last event is alone on the first
    monkeypatch.setattr("plugins.archs.raptor.communities", lambda texts: levels)
    client = Scripted(lambda r: SummarizeResponse(summary="+".join(r.chunks)))
    events = [event(f"e{name}", name) for name in "abcde"]
    opened(Raptor, events, COMMUNITIES, client=client)
    assert [sorted(request.chunks) for request in client.requests] == [
        ["a", "b"], ["c", "d"], ["a+b", "c+d", "e"]
    ]  # fmt: skip


def test_a_traversal_starts_with_what_no_summary_is_made_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("plugins.archs.raptor.communities", lambda texts: [[0, 0, 1], [0, 0, 1]])
    client = Scripted(lambda r: SummarizeResponse(summary="other words"))
    down = RaptorSettings(clustering="communities", search="traversal", beam=1)
    events = [event("e1", "crane oil"), event("e2", "crane hook"), event("e3", "ledger tax")]
    items = recall(opened(Raptor, events, down, client=client), "ledger tax")
    assert items[0].id == "e3"


def test_a_community_without_a_summary_keeps_its_events_for_larger_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    levels = [[0, 0, 1, 1], [0, 0, 0, 0]]
    monkeypatch.setattr("plugins.archs.raptor.communities", lambda texts: levels)
    client = Scripted(
        lambda r: SummarizeResponse(summary="" if "a" in r.chunks and len(r.chunks) == 2 else "s")
    )
    events = [event(f"e{name}", name) for name in "abcd"]
    opened(Raptor, events, COMMUNITIES, client=client)
    assert [sorted(request.chunks) for request in client.requests] == [
        ["a", "b"], ["c", "d"], ["a", "b", "s"]
    ]  # fmt: skip


def test_a_long_community_is_summarised_from_its_first_texts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("plugins.archs.raptor.communities", lambda texts: [[0] * len(texts)])
    client = Scripted(lambda r: SummarizeResponse(summary="short"))
    events = [event(f"e{i}", f"{'word ' * 1000}{i}") for i in range(8)]
    opened(Raptor, events, COMMUNITIES, client=client)
    (request,) = client.requests
    assert [text.split()[-1] for text in request.chunks] == ["0", "1", "2"]


def test_without_the_package_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(UserError, match=r"needs the package networkx: pip install"):
        opened(Raptor, [event("e1", "a")], COMMUNITIES)
