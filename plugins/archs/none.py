"""No memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import NoSettings, register


@register("arch", "none")
class NoMemory(Arch[NoSettings]):
    """No memory: the floor, what a reader achieves from the task card alone (Depth 5.3)."""

    query = "none"
    control = "floor"

    def ingest(self, events: Iterable[Event]) -> None:
        return None

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        return []
