"""What memories and readers give back, checked as it arrives: a fault is an error of its case."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import isfinite
from typing import Any

from framework.records import ABSTAIN, Answer, Item, TaskCard


def items_of(given: Any, most: int) -> list[Item]:
    """The first so many items that a memory gave, with signals that are plain numbers.

    Those of numpy become floats. Raises TypeError for what is no item or no number, ValueError for
    a signal that is not finite.
    """
    items = list(given)[:most] if isinstance(given, Iterable) else [given]
    for place, item in enumerate(items):
        if not isinstance(item, Item):
            raise TypeError(f"recall is to give items; it gave a {type(item).__name__}")
        values = item.signals.values()
        if not all(type(value) in (float, int) and isfinite(value) for value in values):
            items[place] = _plain(item)
    return items


def _plain(item: Item) -> Item:
    signals = {}
    for name, value in item.signals.items():
        try:
            signals[name] = float(value)
        except (TypeError, ValueError):
            said = f"signal {name!r} of item {item.id!r} is a {type(value).__name__}"
            raise TypeError(f"{said}, and no number") from None
        if not isfinite(signals[name]):
            raise ValueError(f"signal {name!r} of item {item.id!r} is {signals[name]}")
    return replace(item, signals=signals)


def checked(answer: Any, card: TaskCard) -> Answer:
    """An answer that a reader gave. Raises TypeError for what is none.

    Raises ValueError for a decision that the card does not have, a confidence outside [0, 1] or an
    amount that is not finite.
    """
    if not isinstance(answer, Answer):
        raise TypeError(f"answer is to give an Answer; it gave a {type(answer).__name__}")
    if card.decisions and answer.decision not in (*card.decisions, ABSTAIN):
        known = ", ".join(card.decisions)
        raise ValueError(f"decision {answer.decision!r} is none of the task card's: {known}")
    if answer.confidence is not None and not 0 <= answer.confidence <= 1:
        raise ValueError(f"confidence {answer.confidence} is not in [0, 1]")
    if answer.amount is not None and not isfinite(answer.amount):
        raise ValueError(f"amount {answer.amount} is not finite")
    return answer
