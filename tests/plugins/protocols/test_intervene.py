"""Interventions: the two views differ in the gold alone, and the axis holds what came of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.contracts import Domain
from framework.errors import UserError
from framework.records import Case, Event, Gold, GoldItem, Item, MemoryView, Span, TaskCard
from framework.retention import retained
from framework.store import verify_run
from framework.store.state import load_state, read_summary
from framework.text.tokens import count_tokens
from plugins.protocols.intervene.protocol import Intervene
from plugins.protocols.intervene.views import (
    INSERTED,
    REMOVED,
    CannotIntervene,
    Place,
    pair_of,
)
from tests.launching import QUESTIONS, framework, run

WORDS = (
    "alder",
    "birch",
    "cedar",
    "elm",
    "fir",
    "hazel",
    "juniper",
    "sycamores",
    "12",
    "wild-rose",
)
GOLD = ("The fee is 41 crowns.", "Parcels go by the night train.", "Seals are blue.")


class Plain(Domain[Any]):
    """Nothing but what the contract has: a view suffices with every required item."""

    name = "plain"
    provides = ()

    def __init__(self) -> None:
        self.settings = None

    nominal_tokens = 0
    cases = history = None  # type: ignore[assignment]

    def digest(self) -> str:
        return ""

    def suffices(self, case: Case, retained: frozenset[str]) -> bool:
        return retained >= {item.id for item in case.gold.required}


def prose(words: list[int]) -> str:
    """Sentences of five words each."""
    named = [WORDS[i] for i in words]
    parts = [" ".join(named[i : i + 5]).capitalize() + "." for i in range(0, len(named), 5)]
    return " ".join(parts)


def made(
    shown: list[tuple[list[int], list[int]]], room: int
) -> tuple[Case, MemoryView, list[Event]]:
    """A case with three passages of gold, and a view that shows some of them among other words."""
    events = [Event(id=f"g{i}", time="", kind="", text=text) for i, text in enumerate(GOLD)]
    events += [
        Event(id=f"e{i}", time="", kind="", text=prose([(i + j) % len(WORDS) for j in range(10)]))
        for i in range(20)
    ]
    items = []
    for n, (before, gold) in enumerate(shown):
        parts = [prose(before), *(GOLD[i] for i in gold)]
        items.append(Item(id=f"i{n}", text=" ".join(part for part in parts if part)))
    view_items = tuple(item for item in items if item.text)
    tokens = sum(count_tokens(item.text) for item in view_items)
    gold = Gold(
        decision="x",
        items=tuple(
            GoldItem(
                id=f"p{i}",
                kind="passage",
                key="",
                spans=(Span(source_id=f"g{i}", text=text),),
                critical=i < 2,
            )
            for i, text in enumerate(GOLD)
        ),
    )
    case = Case(
        id="c", history_id="h", task=TaskCard(instruction="", query=""), gold=gold, stratum="s"
    )
    return case, MemoryView(items=view_items, tokens=tokens, budget_tokens=tokens + room), events


def tried(
    case: Case, view: MemoryView, events: list[Event], place: Place
) -> dict[str, MemoryView] | None:
    try:
        return pair_of(Plain(), case, view, events, place)
    except CannotIntervene as why:
        if "no room" not in str(why):
            raise
    return None


def words_of(view: MemoryView) -> list[str]:
    return view.text.split()


shown = st.lists(
    st.tuples(
        st.lists(st.integers(0, len(WORDS) - 1), max_size=25),
        st.lists(st.integers(0, 2), max_size=2, unique=True),
    ),
    max_size=5,
)


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(shown=shown, room=st.integers(0, 20), place=st.sampled_from(["random", "first", "last"]))
def test_the_two_views_differ_in_the_gold_alone(
    shown: list[tuple[list[int], list[int]]], room: int, place: Place
) -> None:
    case, view, events = made(shown, room)
    required = [item.id for item in case.gold.required]
    pair = tried(case, view, events, place)
    if pair is None:  # neither a run of so many other words nor room
        assert room < sum(count_tokens(text) for text in GOLD[:2])
        return
    inserted, removed = pair[INSERTED], pair[REMOVED]
    assert inserted.tokens == removed.tokens
    assert inserted.tokens == sum(count_tokens(item.text) for item in inserted.items)
    assert inserted.budget_tokens is not None
    assert inserted.tokens <= inserted.budget_tokens
    held = {name: retained(case.gold, of) for name, of in pair.items()}
    assert all(held[INSERTED][id_] for id_ in required)
    assert not any(held[REMOVED][id_] for id_ in required)
    before = retained(case.gold, view)
    if all(before[id_] for id_ in required):
        assert inserted.text == view.text
    if not any(before[id_] for id_ in required) and removed.tokens == view.tokens:
        assert removed.text == view.text
    if before["p2"]:
        assert held[INSERTED]["p2"], "gold that is not required is no other text"
        assert held[REMOVED]["p2"]
    assert held[REMOVED]["p2"] == before["p2"]
    required_text = re.compile("|".join(map(re.escape, GOLD[:2])))
    for own, other in zip(view.items, removed.items, strict=False):
        kept = "(?s:.+)".join(map(re.escape, required_text.split(own.text)))
        assert re.fullmatch(kept, other.text), (
            "other text stands where gold stood, and nowhere else"
        )
    left = iter(words_of(view))
    kept_words = [
        w for item in inserted.items if "put-in" not in item.id for w in item.text.split()
    ]
    assert all(word in left for word in kept_words), (
        "what is not put in is the view's, in its order"
    )
    assert tried(case, view, events, place) == pair


def test_gold_replaces_words_of_as_many_tokens_and_nothing_else() -> None:
    case, view, events = made([(list(range(10)) * 2, []), ([1, 2, 3, 4, 5], [2])], room=0)
    pair = pair_of(Plain(), case, view, events, "random")
    assert pair[REMOVED].text == view.text
    kept = words_of(pair[INSERTED])
    for text in GOLD[:2]:
        of = text.split()
        start = next(i for i in range(len(kept)) if kept[i : i + len(of)] == of)
        del kept[start : start + len(of)]
    left: Iterator[str] = iter(words_of(view))
    assert all(word in left for word in kept), "the other words are the view's, in their order"
    gone = count_tokens(view.text) - count_tokens(" ".join(kept))
    assert gone == sum(count_tokens(text) for text in GOLD[:2])


def test_gold_that_is_shown_is_replaced_where_it_stands() -> None:
    case, view, events = made([([1, 2, 3, 4, 5], [0]), ([6, 7, 8, 9, 0], [1])], room=0)
    pair = pair_of(Plain(), case, view, events, "random")
    assert pair[INSERTED].text == view.text
    for own, other in zip(view.items, pair[REMOVED].items, strict=True):
        assert other.text.startswith(own.text.split(".")[0])
        assert count_tokens(other.text) == count_tokens(own.text)
        assert not any(text in other.text for text in GOLD)


def test_other_text_is_none_that_the_view_shows() -> None:
    case, view, events = made([([1, 2, 3, 4, 5], [0]), ([6, 7, 8, 9, 0], [1])], room=0)
    # The view shows a part of each event: all sentences but the last of ten.
    parts = [". ".join(e.text.split(". ")[:-1]) + "." for e in events[3:]]
    shown = [*view.items, *(Item(id=f"s{n}", text=text) for n, text in enumerate(parts))]
    tokens = sum(count_tokens(item.text) for item in shown)
    wide = MemoryView(items=tuple(shown), tokens=tokens, budget_tokens=tokens)
    events = [
        *events[:3],
        *(replace(e, text=f"{e.text} Rowan and {e.id} larch.") for e in events[3:]),
    ]
    removed = pair_of(Plain(), case, wide, events, "random")[REMOVED]
    for own, other in zip(wide.items[:2], removed.items, strict=False):
        put = other.text.removeprefix(own.text.split(". ")[0] + ". ")
        assert not any(sentence in wide.text for sentence in put.split("\n") if len(sentence) > 12)


def test_an_empty_view_gets_gold_or_as_much_other_text_within_its_budget() -> None:
    case, view, events = made([], room=30)
    pair = pair_of(Plain(), case, view, events, "random")
    assert [item.text for item in pair[INSERTED].items] == list(GOLD[:2])
    assert pair[REMOVED].tokens == pair[INSERTED].tokens > 0
    case, view, events = made([], room=9)
    with pytest.raises(CannotIntervene, match="no room"):
        pair_of(Plain(), case, view, events, "random")


def records(directory: Path) -> dict[str, Mapping[str, Any]]:
    lines = (directory / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    return {record["key"][0]: record for record in map(json.loads, lines)}


SHORT = ("tracking=none", "report=false", "protocol=intervene", "n_cases=12")


@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen",
    [
        ("domain=governance", "arch=typed_graph"),
        ("domain=loan", "arch=bm25", "budget=moderate"),
        ("domain=loan", "arch=none"),
    ],
)
def test_a_run_holds_what_each_view_was_answered_with(
    capsys: pytest.CaptureFixture[str], chosen: tuple[str, ...]
) -> None:
    done = run(capsys, *chosen, *SHORT)
    assert done.status == 0, done.err
    state = load_state(done.directory)
    assert verify_run(done.directory).ok
    found = records(done.directory)
    intervened = 0
    for row in state.rows:
        axes, others = row.axes, found[row.case_id].get("others", {})
        if axes["intervened"] is None:
            continue
        intervened += 1
        assert axes["intervened"] == float(bool(others))
        assert all(others[name]["answer"] for name in (INSERTED, REMOVED))
        texts = {n: [item["text"] for item in others[n]["view"]] for n in others}
        own = [item["text"] for item in found[row.case_id]["view"]]
        if texts[INSERTED] == own:
            assert axes["kappa_inserted"] == axes["kappa"]
        if texts[REMOVED] == own:
            assert axes["leak_removed"] == axes["leak"]
        assert axes["use_effect"] == axes["kappa_inserted"] - axes["leak_removed"]
        counts = {n: sum(map(count_tokens, of)) for n, of in texts.items()}
        assert counts[INSERTED] == counts[REMOVED] <= (row.budget_tokens or 0)
    assert intervened > 2
    assert {"kappa_inserted", "leak_removed"} <= set(done.out.split())
    framework(capsys, "report", str(done.directory))
    page = (done.directory / "report.md").read_text(encoding="utf-8")
    mean = read_summary(done.directory)["axes"]["kappa_inserted"]["mean"]
    assert f"Under protocol=intervene: kappa_inserted {mean:.2f}†" in page


@pytest.mark.slow
def test_what_it_costs_is_not_the_arms(capsys: pytest.CaptureFixture[str]) -> None:
    plain = run(capsys, "domain=loan", "protocol=evaluate", *SHORT[:2], SHORT[3])
    edited = run(capsys, "domain=loan", *SHORT)
    both = [load_state(done.directory).rows for done in (plain, edited)]
    for a, b in zip(*both, strict=True):
        assert a.usage["answer"].tokens_in == b.usage["answer"].tokens_in
        assert {k: v for k, v in b.axes.items() if k in a.axes} == dict(a.axes)
        assert b.decision == a.decision
    assert any("control" in row.usage for row in both[1])


@pytest.mark.slow
def test_an_intervention_is_judged_again(capsys: pytest.CaptureFixture[str]) -> None:
    done = run(capsys, "domain=loan", "arch=bm25", *SHORT)
    again = framework(capsys, "rescore", str(done.directory), "--axes", "intervention,use")
    assert again.status == 0, again.err
    old, new = (load_state(one.directory).rows for one in (done, again))
    assert [row.axes for row in new] == [row.axes for row in old]


@pytest.mark.slow
def test_a_domain_that_allows_evaluate_need_not_name_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    room = ("budget=absolute", "budget.tokens=200")
    done = run(
        capsys,
        "domain=hotpotqa",
        f"domain.path={QUESTIONS}",
        "domain.unknown_file=true",
        *room,
        *SHORT,
    )
    assert done.status == 0, done.err
    rows = load_state(done.directory).rows
    assert all(row.axes["intervened"] == 1 for row in rows)


def test_a_domain_without_gold_items_is_refused() -> None:
    with pytest.raises(UserError, match="no gold items"):
        Intervene(Intervene.Settings()).check(Plain())
