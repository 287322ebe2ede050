"""Random events: the placebo."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import register
from plugins.archs._items import event_item, recency


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomContextSettings:
    """Settings of `arch=random_context`.

    draws : independent orders to average over, at least 1; a result counts from 10 on.
    """

    draws: int = 10

    def __post_init__(self) -> None:
        if self.draws < 1:
            raise ValueError(f"draws must be at least 1, {self.draws} given")


@register("arch", "random_context")
class RandomContext(Arch[RandomContextSettings]):
    """Events in a uniformly random order: the placebo that fills the same budget (Depth 5.3).

    Every (seed, draw) has its own order, where the context's seed is that of the run and the
    history; the order does not depend on the query.
    """

    query = "none"
    Settings = RandomContextSettings

    @property
    def draws(self) -> int:
        return self.settings.draws

    def ingest(self, events: Iterable[Event]) -> None:
        arrived = list(events)
        n = len(arrived)
        order = [(event, recency(i, n)) for i, event in enumerate(arrived)]
        # A digest, so that neighbouring seeds and draws have unrelated orders.
        key = hashlib.sha256(f"{self.context.seed}:{self.context.draw}".encode()).digest()
        random.Random(int.from_bytes(key)).shuffle(order)
        self._order = tuple(order)

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        return [
            event_item(event, {"rank": rank, "recency": late})
            for rank, (event, late) in enumerate(self._order[: max(0, k)], start=1)
        ]
