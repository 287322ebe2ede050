"""The rule that lists events: one a name and day, each in the item of its session."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from framework.contracts import PLAIN, Profile
from framework.records import Item, MemoryView, TaskCard
from plugins.models.rule_based.rules.list_events import ListEventsRule

TEXTS = (
    "2023/05/01 (Mon) 09:00 | user\nI bought a lamp at Corner Store today.",
    "2023/05/03 (Wed) 09:00 | user\nI bought a lamp at Fern Hall two days ago.",
    "2023/05/09 (Tue) 09:00 | user\nI bought a lamp at Corner Store today.",
    "2023/05/10 (Wed) 09:00 | user\nMy sister bought a lamp at Old Mill.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    task: TaskCard
    view: MemoryView


def listed(
    question: str, texts: tuple[str, ...] = TEXTS, profile: Profile = PLAIN
) -> list[tuple[str, str]]:
    items = tuple(Item(id=f"m{n}", text=text) for n, text in enumerate(texts, 1))
    task = TaskCard(instruction="", query=question, operation="answer_from_sessions")
    view = MemoryView(items=items, tokens=1, budget_tokens=None)
    events = ListEventsRule().answer(Asked(task=task, view=view), profile)
    assert all(event.text in texts[int(event.id[1:]) - 1] for event in events)
    return [(event.id, event.time) for event in events]


def test_the_same_words_on_another_day_are_another_event_of_another_item() -> None:
    found = listed("How many lamps have I bought?")
    assert found == [("m1", "2023-05-01"), ("m2", "2023-05-01"), ("m3", "2023-05-09")]


@pytest.mark.parametrize("texts", [(), ("Nothing was said.",)])
def test_where_nothing_bears_on_it_nothing_is_listed(texts: tuple[str, ...]) -> None:
    assert listed("How many lamps have I bought?", texts) == []


def test_a_noisy_reading_overlooks_some() -> None:
    noisy = Profile(style="noisy", miss_rate=1.0)
    assert listed("How many lamps have I bought?", profile=noisy) == []
