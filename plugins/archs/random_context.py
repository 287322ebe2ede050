"""Random events: the placebo."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from framework.bounds import Bounded, at_least
from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import register
from plugins.archs._items import event_item, recency


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomContextSettings(Bounded):
    """Settings of `arch=random_context`.

    trials : independent orders to average over, at least 1; use at least 10 for a result.
    """

    trials: Annotated[int, at_least(1)] = field(
        default=10, metadata={"alias": "draws", "identity": "draws"}
    )


@register("arch", "random_context")
class RandomContext(Arch[RandomContextSettings]):
    """Events chosen uniformly at random: a placebo that fills the same budget (Depth 5.3).

    Every case and trial has a sample of its own, in random order, from the seeds of the run, the
    history and the case; what is asked does not count. One order for all the cases of a history
    would make their results one sample, however many they are.
    """

    query = "none"

    @property
    def trials(self) -> int:
        return self.settings.trials

    def ingest(self, events: Iterable[Event]) -> None:
        self._events = tuple(events)

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        n = len(self._events)
        # A digest, so that neighbouring seeds and trials have unrelated samples.
        words = f"{self.context.seed}:{query.seed}:{self.context.trial}"
        drawn = random.Random(int.from_bytes(hashlib.sha256(words.encode()).digest()))
        return [
            event_item(self._events[i], {"rank": rank, "recency": recency(i, n)})
            for rank, i in enumerate(drawn.sample(range(n), min(n, max(0, k))), start=1)
        ]
