"""What a view holds of the governing decision and its chain, on hand-made views."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from framework.records import Gold, GoldItem, Item, MemoryView, Retired, Span, TraceEntry
from plugins.axes.chain import Chain
from tests.plugins.axes.helpers import scored, values

TEXTS = {
    "entry": "Component c is built under A.",
    "hop": "A implements B.",
    "head": "Under B, pages must be 40.",
    "old": "Under B0, pages must be 30.",
    "look": "Under Z, pages must be 10.",
    "pad": "Nothing of note.",
}


def item(identity: str, source: str, *, critical: bool = False) -> GoldItem:
    span = Span(source_id=source, text=TEXTS[source])
    return GoldItem(id=identity, kind="rule", key=identity, spans=(span,), critical=critical)


GOLD = Gold(
    items=(item("entry", "entry"), item("hop:1", "hop"), item("decision", "head", critical=True)),
    governing=("head",),
    chain=("entry", "hop", "head"),
    entry="entry",
    evidence=("head",),
    distractors=("look",),
)
VERSIONS = Gold(
    items=GOLD.items,
    governing=("head",),
    entry="entry",
    retired=(Retired(key="pages", type="", value="30", source_ids=("old",)),),
)


def view(order: Sequence[str], held: int | None = None) -> MemoryView:
    """Events in ranking order, the first `held` of them in the view."""
    inside = order[: len(order) if held is None else held]
    return MemoryView(
        items=tuple(Item(id=e, text=TEXTS[e], source_ids=(e,)) for e in inside),
        tokens=0,
        budget_tokens=None,
        trace=tuple(
            TraceEntry(
                item_id=e,
                rank=rank,
                tokens=1,
                tokens_kept=1,
                placed="in",
                why="",
                source_ids=(e,),
            )
            for rank, e in enumerate(order, start=1)
        ),
    )


def chain(
    order: Sequence[str], held: int | None = None, gold: Gold = GOLD
) -> dict[str, float | None]:
    return dict(values("chain", None, gold, view(order, held)))


def test_a_whole_chain() -> None:
    assert chain(["entry", "hop", "head", "look"]) == pytest.approx(
        {
            "recall": 1.0,
            "precision": 0.25,
            "f1": 0.4,
            "chain_recall": 1.0,
            "chain_recovery": 1.0,
            "entry_rank": 1.0,
            "entry_found": 1.0,
            "supersession": None,
            "distractor_share": 0.25,
        }
    )


def test_what_the_budget_left_out_counts_for_ranks_alone() -> None:
    found = chain(["pad", "entry", "head"], held=1)
    assert (found["recall"], found["precision"], found["f1"]) == (0.0, 0.0, 0.0)
    assert (found["chain_recall"], found["chain_recovery"]) == (0.0, 0.0)
    assert (found["entry_rank"], found["entry_found"]) == (2.0, 1.0)


def test_a_missing_link_breaks_the_chain_and_not_recall() -> None:
    found = chain(["entry", "head"])
    assert (found["recall"], found["chain_recovery"]) == (1.0, 0.0)
    assert found["chain_recall"] == pytest.approx(2 / 3)


def test_an_empty_view_has_no_entry_rank() -> None:
    found = chain([])
    assert found["entry_rank"] is None
    assert {name for name, value in found.items() if value == 0.0} == {*Chain.names} - {
        "entry_rank",
        "supersession",
    }


@pytest.mark.parametrize(
    ("order", "first"),
    [
        (["head", "old"], 1.0),
        (["old", "head"], 0.0),
        (["head", "pad"], 1.0),
        (["pad", "old"], 0.0),
        (["pad"], None),
    ],
)
def test_supersession_is_the_current_before_every_retired(
    order: list[str], first: float | None
) -> None:
    assert chain(order, gold=VERSIONS)["supersession"] == first


def test_without_a_governing_event_nothing_is_defined() -> None:
    assert set(values("chain", None, Gold(items=GOLD.items), view(["head"])).values()) == {None}


def test_a_scattered_decision_needs_every_part() -> None:
    parts = (item("part:1", "hop"), item("part:2", "head"))
    whole = GoldItem(
        id="decision",
        kind="rule",
        key="decision",
        derived_from=("part:1", "part:2"),
        critical=True,
    )
    gold = Gold(items=(*parts, whole), governing=("hop", "head"), entry="hop")
    assert chain(["head"], gold=gold)["recall"] == 0.0
    assert chain(["head", "hop"], gold=gold)["recall"] == 1.0
    assert chain(["head", "pad"], gold=gold)["precision"] == 0.5


def test_one_item_of_all_events_is_not_precise() -> None:
    """Else an arm is precise by giving all that it finds as one."""
    glued = Item(id="all", text="all", source_ids=("entry", "hop", "head", "look"))
    found = values("chain", None, GOLD, MemoryView(items=(glued,), tokens=1, budget_tokens=None))
    assert found["precision"] == 0.25


def test_it_needs_no_answer() -> None:
    assert scored(None).answer is None
    assert values("chain", None, GOLD, view(["head"]))["recall"] == 1.0
