"""Whether an answer uses a gold item, by what it states."""

from __future__ import annotations

from framework.records import Answer, GoldItem, TaskCard
from framework.text.values import contains, same_value


def states_fact(answer: Answer, item: GoldItem) -> bool:
    """Whether the value claimed for the item's key is the gold value, by typed equality.

    One value a key: a claim that names two is wrong.
    """
    claim = answer.facts.get(item.key)
    if claim is None:
        return False
    if len(item.anchors) == 1:
        return same_value(claim, item.anchors[0], item.type)
    return all(contains(claim, anchor, item.type) for anchor in item.anchors)


def used(answer: Answer, task: TaskCard, item: GoldItem) -> bool | None:
    """Whether the answer states the item's fact right.

    None where that can't be told: the card asks for no fields, or the item is no fact. A rule that
    was weighed and does not fire leaves no trace in an answer.
    """
    if not task.fields or item.kind != "fact" or not item.anchors:
        return None
    return states_fact(answer, item)
