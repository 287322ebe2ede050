"""Events by the rarity of their words, whatever is asked."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Final

import numpy as np

from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import NoSettings, register
from plugins.archs._items import ranked_items

_WORD: Final = re.compile(r"[^\W\d_]+")


def rarity(events: Sequence[Event]) -> list[float]:
    """By event, the mean idf of its different words: log(events / events that hold the word)."""
    held = [set(_WORD.findall(event.text.lower())) for event in events]
    counts = Counter(word for words in held for word in words)
    return [fmean(math.log(len(held) / counts[w]) for w in words) if words else 0.0
            for words in held]  # fmt: skip


@register("arch", "rare_first")
class RareFirst(Arch[NoSettings]):
    """Events with the rarest words in the history, for every query; ties: oldest first. A control.

    A control: the same view for every task of a history. Where the gold is written in words that
    little else has, it is found without a question, and a claim about an arm is one beside this.
    """

    query = "none"

    def ingest(self, events: Iterable[Event]) -> None:
        self._events = tuple(events)
        self._order = np.argsort(-np.array(rarity(self._events)), kind="stable")

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        return ranked_items(self._events, self._order[: max(0, k)], {})
