"""Reading in rounds: one total budget, one view, however the memory and the reader behave."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.engine.prepare import build_pipeline
from framework.pipeline.pack import pack
from framework.pipeline.recall import Found, search
from framework.records import Item, MemoryView
from framework.registry import register
from framework.text.tokens import count_tokens
from tests.trivial import TrivialReader, TrivialReaderSettings, trivial_plan

Packing = Literal["truncate", "whole"]
ITEMS = st.lists(
    st.builds(
        lambda name, text: Item(id=name, text=text),
        st.sampled_from("abcdef"),
        st.lists(st.sampled_from(["one", "two. ", "33", "considerable"]), max_size=12).map(
            " ".join
        ),
    ),
    max_size=6,
)


class Told:
    """Gives back what it is told for each query, and keeps the views that it showed."""

    def __init__(self, recalls: Sequence[Sequence[Item]], queries: Sequence[str | None]) -> None:
        self.recalls = list(recalls)
        self.queries = list(queries)
        self.asked: list[str] = []
        self.views: list[MemoryView] = []

    async def recall(self, query: str) -> Sequence[Item]:
        self.asked.append(query)
        return self.recalls[len(self.asked) - 1] if len(self.asked) <= len(self.recalls) else []

    async def next_query(self, view: MemoryView, asked: Sequence[str]) -> str | None:
        assert list(asked) == self.asked
        self.views.append(view)
        return self.queries[len(self.views) - 1] if len(self.views) <= len(self.queries) else None

    def run(self, rounds: int, limit: int | None, packing: Packing = "truncate") -> Found:
        return asyncio.run(
            search(
                "first", self.recall, self.next_query, rounds=rounds, limit=limit, packing=packing
            )
        )


@pytest.mark.slow
@settings(max_examples=200)
@given(
    st.lists(ITEMS, max_size=5),
    st.lists(st.none() | st.sampled_from(["", "first", "a", "b", "c"]), max_size=5),
    st.integers(1, 6),
    st.integers(0, 40) | st.none(),
    st.sampled_from(["truncate", "whole"]),
)
def test_all_that_is_seen_fits_the_budget_and_stands_in_the_view(
    recalls: list[list[Item]],
    queries: list[str | None],
    rounds: int,
    limit: int | None,
    packing: Packing,
) -> None:
    told = Told(recalls, queries)
    found = told.run(rounds, limit, packing)
    shown = {(item.id, item.text) for view in (*told.views, found.view) for item in view.items}
    if limit is not None:
        assert sum(count_tokens(item.text) for item in found.view.items) <= limit
        assert sum(count_tokens(text) for _, text in shown) <= limit
    last = [(item.id, item.text) for item in found.view.items]
    for view in told.views:
        own = [(item.id, item.text) for item in view.items]
        assert last[: len(own)] == own, "what was read in a round is missing from the view"
        assert all(entry.placed == "in" for entry in view.trace)
    assert len(told.asked) <= rounds
    assert tuple(told.asked) == found.queries
    assert len(set(told.asked)) == len(told.asked)


@given(ITEMS, st.integers(0, 30), st.sampled_from(["truncate", "whole"]))
def test_one_round_is_plain_packing(items: list[Item], limit: int, packing: Packing) -> None:
    assert Told([items], []).run(1, limit, packing).view == pack(items, limit, packing)


def item(name: str, text: str) -> Item:
    return Item(id=name, text=text)


def test_each_round_gets_its_part_and_the_last_fills_the_rest() -> None:
    told = Told(
        [
            [item("a", "one two"), item("b", "one two"), item("c", "one two")],
            [item("d", "one two"), item("a", "one two"), item("c", "one two")],
        ],
        ["second"],
    )
    found = told.run(2, 7)
    assert [i.id for i in told.views[0].items] == ["a"]
    assert [i.id for i in found.view.items] == ["a", "d", "c", "b"]
    assert found.view.tokens == 7
    assert [i.signals["round"] for i in found.view.items] == [1, 2, 2, 1]
    assert [entry.item_id for entry in found.view.trace] == ["a", "d", "c", "b"]


def test_another_text_of_the_same_name_is_another_item() -> None:
    told = Told([[item("view", "one")], [item("view", "two"), item("view", "one")]], ["second"])
    assert [i.id for i in told.run(2, 20).view.items] == ["view", "view@round2"]


def test_a_reader_that_stops_at_once_sees_what_one_query_gives() -> None:
    items = [item(str(i), "one two three") for i in range(6)]
    found = Told([items], []).run(3, 10)
    plain = pack(items, 10, "truncate")
    assert [i.text for i in found.view.items] == [i.text for i in plain.items]
    assert found.view.tokens == plain.tokens == 10


@register("reader", "twice")
class Twice(TrivialReader):
    """Asks once more, for days."""

    searches = True
    rounds = 2
    Settings = TrivialReaderSettings
    read: list[tuple[str, tuple[str, ...]]] = []  # noqa: RUF012

    def next_query(self, task: Any, view: MemoryView, asked: Sequence[str], client: Any) -> str:
        self.read.append((view.text, tuple(asked)))
        return "day"


def test_a_reader_that_searches_says_what_to_ask_next() -> None:
    with pytest.raises(ValueError, match="Mute searches and has no next_query"):

        class Mute(TrivialReader):
            searches = True


def test_the_pipeline_searches_for_its_reader_and_keeps_what_was_asked() -> None:
    Twice.read.clear()
    plan = trivial_plan(
        n_cases=1,
        arch={"plugin": "bm25"},
        reader={"plugin": "twice"},
        budget={"plugin": "trivial", "limit": 14},
    )
    pipeline = build_pipeline(plan, plan.parts["domain"].create())

    async def pairs() -> Any:
        cases = pipeline.domain.cases(1, 7)
        return [pair async for pair in pipeline.rows(cases, frozenset(), answer=True, k=None)]

    ((row, record),) = asyncio.run(pairs())
    assert not row.error
    assert record["queries"] == ("Is the number even?", "day")
    ((text, asked),) = Twice.read
    assert asked == ("Is the number even?",)
    assert text in "\n".join(i.text for i in record["view"])
    assert row.view_tokens <= 14
    assert row.axes == {"right": 1.0}
