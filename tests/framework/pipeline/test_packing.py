"""No view ever exceeds its budget, whatever an arm gives back."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.pipeline.ingest import Memory
from framework.pipeline.pack import FULL, SLACK, pack
from framework.records import Item, MemoryView, TraceEntry
from framework.text.tokens import count_tokens, truncate
from plugins.domains.passages.hotpotqa import HotpotQA, HotpotQASettings
from plugins.domains.passages.shape import POOL
from tests.launching import HOTPOT, QUESTIONS, run

TOKEN = re.compile(r"[^\W\d_]{1,8}|\d{1,3}|[^\w\s]|_")

WORDS = st.lists(
    st.sampled_from(["$147,500", "income.", "x", "\n", "UP-2.", "a" * 40]), max_size=60
)
ITEMS = st.lists(WORDS.map(" ".join), max_size=12).map(
    lambda texts: [Item(id=f"i{n}", text=text) for n, text in enumerate(texts)]
)


@given(ITEMS, st.integers(1, 200), st.sampled_from(["truncate", "whole"]))
def test_budget_is_never_exceeded(
    items: list[Item], budget: int, packing: Literal["truncate", "whole"]
) -> None:
    view = pack(items, budget, packing)
    assert count_tokens(view.text) == view.tokens <= budget
    assert [entry.item_id for entry in view.trace] == [item.id for item in items]
    assert view.tokens == sum(entry.tokens_kept for entry in view.trace)


@given(ITEMS, st.integers(100, 400))
def test_truncating_fills_the_budget_within_one_per_cent_and_a_word(
    items: list[Item], budget: int
) -> None:
    view = pack(items, budget, "truncate")
    offered = sum(count_tokens(item.text) for item in items)
    longest_word = max((count_tokens(w) for i in items for w in i.text.split()), default=0)
    if offered >= budget:
        assert budget - view.tokens <= max(budget * 0.01, longest_word)


@given(ITEMS)
def test_without_a_budget_all_is_in(items: list[Item]) -> None:
    view = pack(items, None, "truncate")
    assert view.items == tuple(items)
    assert {entry.placed for entry in view.trace} <= {"in"}


def test_the_trace_says_what_became_of_each_item() -> None:
    items = [
        Item(id="a", text="one two three.", signals={"bm25": 3.0}, source_ids=("e1",)),
        Item(id="b", text="four five. six seven."),
        Item(id="c", text="eight"),
    ]
    view = pack(items, 7, "truncate")
    assert [(e.rank, e.placed, e.tokens_kept, e.why) for e in view.trace] == [
        (1, "in", 4, "fits"),
        (2, "cut", 3, "6 tokens, 3 free"),
        (3, "out", 0, "the budget was full"),
    ]
    assert view.trace[0].signals == {"bm25": 3.0}
    assert view.items[1].text == "four five."


def test_whole_leaves_out_what_does_not_fit_and_goes_on() -> None:
    items = [Item(id="a", text="one two three four"), Item(id="b", text="five")]
    view = pack(items, 2, "whole")
    assert [item.id for item in view.items] == ["b"]


@pytest.mark.parametrize("packing", ["truncate", "whole"])
def test_nothing_recalled_is_an_empty_view(packing: Literal["truncate", "whole"]) -> None:
    assert pack([], 10, packing).text == ""


def packed_before(
    items: list[Item], budget: int | None, packing: Literal["truncate", "whole"]
) -> MemoryView:
    """Packing as it was when every text was counted for every case: what a view must still be."""
    left: float = math.inf if budget is None else budget
    slack = 0 if budget is None else int(budget * SLACK)
    kept, trace, full = [], [], False
    for rank, item in enumerate(items, start=1):
        tokens = len(TOKEN.findall(item.text))
        placed, why, held = "out", FULL, 0
        if full:
            pass
        elif tokens <= left:
            placed, why, held = "in", "fits", tokens
            kept.append(item)
        elif packing == "whole":
            why = f"{tokens} tokens, {int(left)} free"
        else:
            full, why = True, f"{tokens} tokens, {int(left)} free"
            text = truncate(item.text, int(left), slack)
            held = len(TOKEN.findall(text))
            if held:
                placed = "cut"
                kept.append(replace(item, text=text))
        left -= held
        entry = {"item_id": item.id, "rank": rank, "tokens": tokens, "tokens_kept": held}
        trace.append(TraceEntry(**entry, placed=placed, why=why, signals={}, source_ids=()))
    used = sum(entry.tokens_kept for entry in trace)
    return MemoryView(items=tuple(kept), tokens=used, budget_tokens=budget, trace=tuple(trace))


@given(
    st.lists(ITEMS, min_size=1, max_size=3),
    st.one_of(st.none(), st.integers(0, 200)),
    st.sampled_from(["truncate", "whole"]),
)
def test_views_are_as_they_were_and_no_text_is_counted_twice(
    rankings: list[list[Item]], budget: int | None, packing: Literal["truncate", "whole"]
) -> None:
    memory = Memory(arch=cast(Any, None), usage={}, seconds=0.0)
    for items in [*rankings, *rankings]:
        assert pack(items, budget, packing, memory.count) == packed_before(items, budget, packing)
    texts = {item.text for items in rankings for item in items}
    assert cast(Any, memory.count).cache_info().misses == len(texts)


def test_a_run_counts_each_item_of_a_history_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: Counter[str] = Counter()

    def counting(text: str) -> int:
        counted[text] += 1
        return count_tokens(text)

    monkeypatch.setattr("framework.pipeline.ingest.count_tokens", counting)
    done = run(capsys, *HOTPOT, "arch=bm25", f"hydra.run.dir={tmp_path / 'run'}")
    assert done.status == 0, done.err
    domain = HotpotQA(HotpotQASettings(path=str(QUESTIONS), unknown_file=True))
    pool = {event.text for event in domain.history(POOL)}
    assert counted.keys() == pool
    assert set(counted.values()) == {1}
