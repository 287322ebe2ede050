"""The arms that rank by nothing, by chance, by gold or by recency."""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations

import pytest

from framework.contracts import Query
from framework.records import Event, Gold, GoldItem, Item, Span
from framework.testing.arch_conformance import settle
from plugins.archs.by_kind import ByKind, ByKindSettings
from plugins.archs.chat_log import ChatLog
from plugins.archs.figures_first import FiguresFirst, FiguresFirstSettings
from plugins.archs.full_context import FullContext
from plugins.archs.last_mention import LastMention, LastMentionSettings, label_of
from plugins.archs.none import NoMemory
from plugins.archs.oldest_first import OldestFirst
from plugins.archs.oracle import Oracle
from plugins.archs.random_context import RandomContext, RandomContextSettings
from plugins.archs.rare_first import RareFirst, rarity
from plugins.archs.shortest_first import ShortestFirst
from tests.plugins.archs.helpers import event, ids, opened, recall

EVENTS = [event(name, f"note {name}") for name in ("a", "b", "c")]


def test_none_has_nothing() -> None:
    assert recall(opened(NoMemory, EVENTS), "note a") == []


def test_full_context_is_everything_in_order_of_arrival() -> None:
    items = recall(opened(FullContext, EVENTS), "note c")
    assert ids(items) == ["a", "b", "c"]
    assert [item.text for item in items] == ["note a", "note b", "note c"]
    assert [item.signals["recency"] for item in items] == [1 / 3, 2 / 3, 1.0]


def test_the_log_is_read_from_either_end_whatever_is_asked() -> None:
    oldest = opened(OldestFirst, EVENTS)
    assert ids(recall(oldest, "note c")) == ["a", "b", "c"]
    assert ids(recall(oldest, "note c", k=1)) == ["a"]
    assert ids(recall(opened(ChatLog, EVENTS), "note a")) == ["c", "b", "a"]


def test_kinds_come_in_the_order_that_is_told_whatever_is_asked() -> None:
    kinds = {"a": "memo", "b": "form", "c": "policy", "d": "form", "e": ""}
    events = [Event(id=name, text="x", time="", kind=kind) for name, kind in kinds.items()]
    assert ids(recall(opened(ByKind, events), "note a")) == ["c", "b", "d", "a", "e"]
    assert ids(recall(opened(ByKind, events), "note a", k=2)) == ["c", "b"]
    memos = ByKindSettings(kinds=("memo",))
    assert ids(recall(opened(ByKind, events, settings=memos))) == ["a", "b", "c", "d", "e"]


def test_rare_words_come_first_whatever_is_asked_and_figures_are_no_words() -> None:
    texts = {
        "a": "The lock is set.",
        "b": "The lock holds 7 kilns.",
        "c": "THE LOCK is set. The 9.",
    }
    events = [event(name, text) for name, text in texts.items()]
    found = rarity(events)
    # the, lock: in all. is, set: in two of three. holds, kilns: in one.
    rare, common = math.log(3), math.log(3 / 2)
    assert found == pytest.approx([2 * common / 4, 2 * rare / 4, 2 * common / 4])
    assert ids(recall(opened(RareFirst, events), "the lock is set")) == ["b", "a", "c"]
    assert ids(recall(opened(RareFirst, events), "kilns", k=1)) == ["b"]
    assert recall(opened(RareFirst, [event("d", "7 %")]), "7")[0].id == "d"


def test_short_events_come_first_whatever_is_asked() -> None:
    texts = {"a": "Three words here.", "b": "One.", "c": "Two words here, or 4.", "d": "Two."}
    events = [event(name, text) for name, text in texts.items()]
    assert ids(recall(opened(ShortestFirst, events), "words")) == ["b", "d", "a", "c"]


def test_what_has_a_figure_is_kept_and_digits_in_a_word_are_none() -> None:
    texts = {
        "a": "Component cx-3a94e stays. It is at 24 steps. Nothing else. The fee is $7.50.",
        "b": "Rule UP-2 and v2 apply.",
        "c": "Set to 9.",
    }
    events = [event(name, text) for name, text in texts.items()]
    items = recall(opened(FiguresFirst, events), "steps")
    assert [(item.id, item.text) for item in items] == [
        ("c", "Set to 9."),
        ("a", "It is at 24 steps.\nThe fee is $7.50."),
    ]
    assert [item.signals["recency"] for item in items] == [1.0, 1 / 3]
    short = FiguresFirstSettings(order="shortest")
    more = [*events, event("d", "Now 8.")]
    assert ids(recall(opened(FiguresFirst, more, settings=short))) == ["d", "c", "a"]


def test_random_context_gives_every_order_about_equally_often() -> None:
    seen = Counter(
        "".join(ids(recall(opened(RandomContext, EVENTS, seed=seed, trial=trial))))
        for seed in range(60)
        for trial in range(10)
    )
    assert set(seen) == {"".join(p) for p in permutations("abc")}
    # 600 trials over 6 orders: mean 100, standard deviation 9.1.
    assert all(60 < n < 140 for n in seen.values())


def test_random_context_is_the_same_for_the_same_seed_and_trial() -> None:
    events = [event(str(i), f"note {i}") for i in range(30)]
    first = recall(opened(RandomContext, events, seed=3, trial=2))
    assert recall(opened(RandomContext, events, seed=3, trial=2), "other") == first
    assert recall(opened(RandomContext, events, seed=2, trial=3)) != first


def test_random_context_chooses_again_for_every_case_of_a_history() -> None:
    arm = opened(RandomContext, EVENTS, seed=3)
    seen = Counter("".join(ids(recall(arm, seed=case))) for case in range(600))
    assert set(seen) == {"".join(p) for p in permutations("abc")}
    assert all(60 < n < 140 for n in seen.values())
    first = Counter(ids(recall(arm, seed=case, k=1))[0] for case in range(600))
    assert all(140 < first[name] < 260 for name in "abc"), "mean 200, standard deviation 11.5"


def test_random_context_has_ten_trials_by_default() -> None:
    assert opened(RandomContext, []).trials == 10
    assert opened(RandomContext, [], RandomContextSettings(trials=3)).trials == 3
    with pytest.raises(ValueError, match="at least 1"):
        RandomContextSettings(trials=0)


def oracle(gold: Gold, k: int = 100) -> list[Item]:
    events = [event(f"e{i}", f"First of {i}. Second of {i}. Third of {i}.") for i in range(4)]
    return list(settle(opened(Oracle, events).recall(Query(text="", gold=gold), k)))


def span(i: int, text: str) -> Span:
    return Span(source_id=f"e{i}", text=f"{text} of {i}.")


def test_oracle_gives_the_gold_spans_critical_first_and_first_spans_first() -> None:
    gold = Gold(
        items=(
            GoldItem(id="x", kind="fact", key="x", spans=(span(0, "First"), span(1, "First"))),
            GoldItem(id="y", kind="fact", key="y", spans=(span(2, "Second"),), critical=True),
            GoldItem(id="z", kind="rule", key="z", spans=(span(2, "Second"), span(3, "Third"))),
        )
    )
    items = oracle(gold)
    assert [item.text for item in items] == [
        *("Second of 2.", "First of 0.", "First of 1.", "Third of 3."),
    ]
    assert [item.source_ids for item in items] == [("e2",), ("e0",), ("e1",), ("e3",)]
    assert oracle(gold, 2) == items[:2]


def test_oracle_leaves_out_a_span_within_one_already_given_and_what_never_arrived() -> None:
    gold = Gold(
        items=(
            GoldItem(
                id="x",
                kind="fact",
                key="x",
                spans=(Span(source_id="e0", text="First of 0. Second of 0."),),
            ),
            GoldItem(id="y", kind="fact", key="y", spans=(span(0, "Second"), span(9, "First"))),
        )
    )
    assert [item.text for item in oracle(gold)] == ["First of 0. Second of 0."]


def test_oracle_gives_evidence_whole_where_no_span_comes_from_it() -> None:
    gold = Gold(
        items=(GoldItem(id="x", kind="fact", key="x", spans=(span(0, "First"),)),),
        evidence=("e0", "e3"),
    )
    texts = [item.text for item in oracle(gold)]
    assert texts == ["First of 0.", "First of 3. Second of 3. Third of 3."]


def test_oracle_without_gold_has_nothing() -> None:
    assert settle(opened(Oracle, EVENTS).recall(Query(text="note"), 5)) == []


@pytest.mark.parametrize(
    ("sentence", "label"),
    [
        ("Credit score: 779", "credit score"),
        ("The credit  Score is 779.", "credit score"),
        ("The annual income was $61,000.", "annual income"),
        ("Correction dated 2026-03-20: the credit score is 610, not 655.", "credit score"),
        ("The credit score was formerly 655.", "credit score"),
        ("Earlier paperwork gave the credit score as 655.", "credit score"),
        ("An income of $61,000 was verified.", "income"),
        ("UP-1. Deny if the credit score is below 640; reason: credit score.", None),
        ("2026-03-12 | Appraisal report | Hollis Appraisals", None),
        ("The applicant called to ask when the office opens.", None),
    ],
)
def test_label_of(sentence: str, label: str | None) -> None:
    assert label_of(sentence) == label


REVISED = [
    event("a", "2026-03-01 | Form | Office\nCredit score: 655\nAnnual income: $61,000"),
    event("b", "2026-03-02 | Letter | Office\nThe credit score is 610. Kind regards."),
    event("c", "The credit score was formerly 655."),
    event("d", "The office is closed."),
]


def test_last_mention_keeps_the_last_value_of_a_label() -> None:
    items = recall(opened(LastMention, REVISED, LastMentionSettings(order="newest")))
    assert ids(items) == ["d", "c", "b", "a"]
    assert [item.text for item in items] == [
        "The office is closed.",
        "The credit score was formerly 655.",
        "2026-03-02 | Letter | Office\nKind regards.",
        "2026-03-01 | Form | Office\nAnnual income: $61,000",
    ]


def test_last_mention_ranks_what_is_left_by_the_query_and_ties_by_recency() -> None:
    arch = opened(LastMention, REVISED)
    assert ids(recall(arch, "annual income")) == ["a", "d", "c", "b"]
    assert ids(recall(arch, "")) == ["d", "c", "b", "a"]
    newest = opened(LastMention, REVISED, LastMentionSettings(order="newest"))
    assert ids(recall(newest, "annual income")) == ["d", "c", "b", "a"]


def test_last_mention_drops_an_event_of_which_nothing_is_left() -> None:
    events = [event("a", "Credit score: 655"), event("b", "Credit score: 610")]
    assert ids(recall(opened(LastMention, events))) == ["b"]
