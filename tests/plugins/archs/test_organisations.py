"""Arms that organise the same events otherwise: a log, tags, documents, a graph of phrases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.records import Event
from plugins.archs._phrases import phrases
from plugins.archs.chat_log import ChatLog
from plugins.archs.graph_ppr import GraphPPR, GraphPPRSettings
from plugins.archs.hierarchical_docs import HierarchicalDocs, HierarchicalDocsSettings
from plugins.archs.tag_index import TagIndex, TagIndexSettings
from tests.plugins.archs.helpers import event, ids, opened, recall


def kinded(name: str, kind: str, text: str) -> Event:
    return replace(event(name, text), kind=kind)


def test_the_log_is_newest_first_whatever_is_asked() -> None:
    notes = [event(name, f"note {name}") for name in "abc"]
    assert ids(recall(opened(ChatLog, notes), "note a")) == ["c", "b", "a"]
    assert ids(recall(opened(ChatLog, notes), k=1)) == ["c"]


TAGGED = [
    event("mask", "masking masking exports quarterly summary"),
    event("late", "quarterly quarterly exports summary summary"),
    event("third", "exports quarterly lunch lunch"),
]


def test_only_tags_are_found() -> None:
    one = opened(TagIndex, TAGGED, TagIndexSettings(tags=1))
    items = recall(one, "masking of exports")
    assert ids(items) == ["mask", "third", "late"], "exports is no tag: the newest comes next"
    assert [item.signals["tags"] > 0 for item in items] == [True, False, False]
    all_words = opened(TagIndex, TAGGED, TagIndexSettings(tags=9))
    assert all(item.signals["tags"] > 0 for item in recall(all_words, "masking of exports"))


@given(st.lists(st.lists(st.sampled_from(["aaa", "bbb", "ccc", "dd"]), max_size=6), max_size=6))
def test_every_event_has_its_heaviest_words_as_tags(texts: list[list[str]]) -> None:
    notes = [event(str(i), " ".join(words)) for i, words in enumerate(texts)]
    arm: Any = opened(TagIndex, notes, TagIndexSettings(tags=2))
    found = arm._found
    weights = found.counts * arm._idf[found.columns]
    for row in range(len(notes)):
        own = found.rows == row
        tags = arm._is_tag[own]
        assert tags.sum() == min(2, own.sum())
        if 0 < tags.sum() < own.sum():
            assert weights[own][tags].min() >= weights[own][~tags].max()


def test_the_best_document_is_read_to_its_end() -> None:
    notes = [
        kinded("f1", "form", "income income income"),
        kinded("n1", "note", "income"),
        kinded("f2", "form", "the employer"),
        kinded("f3", "form", "income statement"),
    ]
    settings = HierarchicalDocsSettings(document_events=2)
    items = recall(opened(HierarchicalDocs, notes, settings), "income")
    ranks = {item.id: item.signals["document_rank"] for item in items}
    assert ranks["f1"] == ranks["f2"] != ranks["f3"]
    assert ids(items).index("f2") == ids(items).index("f1") + 1


CHAIN = [
    event("ticket", "The reports page reads the warehouse view"),
    event("view", "The warehouse view was narrowed under mandate Orion"),
    event("rule", "Mandate Orion forbids personal identifiers"),
    event("noise", "The canteen opens at nine"),
]


def test_a_walk_reaches_what_shares_no_word_with_the_query() -> None:
    items = recall(opened(GraphPPR, CHAIN), "reports page")
    scores = {item.id: item.signals["ppr"] for item in items}
    assert scores["ticket"] > scores["view"] > scores["rule"] > scores["noise"] == 0
    stays = recall(opened(GraphPPR, CHAIN, GraphPPRSettings(restart=1.0)), "reports page")
    assert [item.id for item in stays if item.signals["ppr"] > 0] == ["ticket"]


@given(st.floats(0.05, 1.0))
def test_visits_are_a_distribution_and_a_fixed_point(restart: float) -> None:
    arm: Any = opened(GraphPPR, CHAIN, GraphPPRSettings(restart=restart))
    visits = arm._visits("the warehouse mandate")
    assert visits.sum() == pytest.approx(1)
    assert (visits >= 0).all()
    found = arm._found
    seeds = np.zeros(len(visits))
    for phrase in ("warehouse", "mandate"):
        seeds[found.terms[phrase]] = 1 / found.documents[found.terms[phrase]]
    seeds /= seeds.sum()
    held = np.zeros((len(CHAIN), len(visits)))
    held[found.rows, found.columns] = 1
    step = (held / held.sum(axis=0)) @ visits
    after = restart * seeds + (1 - restart) * (held / held.sum(axis=1, keepdims=True)).T @ step
    assert np.abs(after - visits).sum() < 1e-5


def test_a_query_of_no_known_phrase_ranks_by_arrival() -> None:
    assert ids(recall(opened(GraphPPR, CHAIN), "of the")) == [e.id for e in CHAIN]


def test_names_are_one_phrase_and_function_words_none() -> None:
    assert phrases("The Office") == ["office"]
    assert phrases("The Pacific Logistics Group of 61,000") == [
        *("pacific logistics group", "pacific", "logistics", "group", "61,000"),
    ]


@pytest.mark.parametrize(
    ("cls", "bad"),
    [
        (TagIndexSettings, {"tags": 0}),
        (HierarchicalDocsSettings, {"document_events": 0}),
        (GraphPPRSettings, {"restart": 0.0}),
    ],
)
def test_settings_out_of_range_are_refused(cls: Any, bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"given, .* expected"):
        cls(**bad)
