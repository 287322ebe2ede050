"""No view ever exceeds its budget, whatever an arm gives back."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.pipeline.pack import pack
from framework.records import Item
from framework.text.tokens import count_tokens

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
