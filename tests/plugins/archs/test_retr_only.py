"""Retrieval as the paper names it, and as its code did it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.text.tokens import count_tokens
from plugins.archs._items import pieces
from plugins.archs.bm25 import BM25
from plugins.archs.retr_only import RetrOnly, RetrOnlySettings
from plugins.archs.retr_only_fifo import RetrOnlyFifo, RetrOnlyFifoSettings
from tests.plugins.archs.helpers import event, ids, opened, recall

NOTES = [event(f"n{i}", f"Note {i}: the file was moved to room {i}.") for i in range(30)]
FACT = event("fact", "The credit score is 640.")


@given(st.text(st.sampled_from("ab1 .\n"), max_size=60) | st.text(max_size=40), st.integers(1, 12))
def test_pieces_are_the_text_without_the_white_space_at_the_cuts(text: str, limit: int) -> None:
    parts = list(pieces(text, limit))
    assert "".join("".join(parts).split()) == "".join(text.split())
    for part in parts:
        assert count_tokens(part) <= limit or not part.split(maxsplit=1)[1:]


def test_pieces_are_cut_at_sentences() -> None:
    text = "The income is $61,000. The score is 640. The gap is explained."
    assert list(pieces(text, 9)) == [
        *("The income is $61,000.", "The score is 640.", "The gap is explained."),
    ]


def test_retr_only_takes_top_k_of_the_whole_store() -> None:
    items = recall(opened(RetrOnly, [FACT, *NOTES], budget=20), "credit score")
    assert items[0].id == "fact"
    assert len(items) == 20
    few = opened(RetrOnly, [FACT, *NOTES], RetrOnlySettings(top_k=3))
    assert recall(few, "credit score") == items[:3]
    assert len(recall(few, "credit score", k=2)) == 2


def test_retr_only_is_bm25_where_no_event_is_long() -> None:
    query = "room 7 file"
    assert recall(opened(RetrOnly, NOTES), query) == recall(opened(BM25, NOTES), query)[:20]


def test_a_long_event_is_indexed_in_chunks() -> None:
    long = event("long", " ".join(f"Line {i} is about nothing." for i in range(40)) + " Ruby red.")
    items = recall(opened(RetrOnly, [*NOTES, long], RetrOnlySettings(chunk_tokens=20)), "ruby")
    assert items[0].text.endswith("Ruby red.")
    assert items[0].source_ids == ("long",)
    assert items[0].id.startswith("long#")
    assert count_tokens(items[0].text) <= 20


def test_fifo_holds_only_the_newest_events_that_fit_the_budget() -> None:
    tokens = sum(count_tokens(e.text) for e in NOTES[-4:])
    arch = opened(RetrOnlyFifo, [FACT, *NOTES], RetrOnlyFifoSettings(top_k=30), budget=tokens)
    assert arch.report() == {"events": 31, "evicted": 27}
    assert set(ids(recall(arch, "credit score"))) == {e.id for e in NOTES[-4:]}
    wide = opened(RetrOnlyFifo, [FACT, *NOTES], RetrOnlyFifoSettings(top_k=50), budget=10**6)
    assert wide.report()["evicted"] == 0


def test_fifo_holds_one_event_that_is_larger_than_the_budget() -> None:
    arch = opened(RetrOnlyFifo, NOTES, budget=1)
    assert arch.report() == {"events": 30, "evicted": 29}
    assert ids(recall(arch)) == ["n29"]


def test_fifo_asks_its_generic_query_and_shows_only_what_shares_a_word_with_it() -> None:
    events = [event("a", "Decide the case."), event("b", "Ruby red."), event("c", "Blue sky.")]
    arch = opened(RetrOnlyFifo, events, budget=100)
    assert ids(recall(arch, "ruby")) == ["a"]
    ruby = RetrOnlyFifoSettings(generic_query="ruby")
    assert ids(recall(opened(RetrOnlyFifo, events, ruby, budget=100), "decide")) == ["b"]


@pytest.mark.parametrize("bad", [{"top_k": 0}, {"chunk_tokens": 0}, {"k1": -1}])
def test_settings_out_of_range_are_refused(bad: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"given, (at least 1|0 or more) expected"):
        RetrOnlySettings(**bad)


def test_fifo_settings_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="top_k: 0 given, at least 1 expected"):
        RetrOnlyFifoSettings(top_k=0)
