"""Some kinds of document first, whatever they say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import register
from plugins.archs._items import ranked_items


@dataclass(frozen=True, kw_only=True)
class ByKindSettings:
    """Settings of `arch=by_kind`.

    kinds : kinds of events to put first, in this order; the default is those that hold the gold of
        loans, claims and prior authorizations.
    """

    kinds: tuple[str, ...] = ("policy", "form", "report", "statement")


@register("arch", "by_kind")
class ByKind(Arch[ByKindSettings]):
    """Events of the named kinds first, oldest first; no text is read. Control: what kind reveals.

    A control for domains whose documents have kinds. A claim about an arm there is a claim beside
    it too (docs/decisions/0018): which kinds hold the gold is told to it by its settings.
    """

    query = "none"

    def ingest(self, events: Iterable[Event]) -> None:
        self._events = tuple(events)
        places = {kind: place for place, kind in enumerate(self.settings.kinds)}
        last = len(places)
        self._order = np.array(
            sorted(
                range(len(self._events)),
                key=lambda i: places.get(self._events[i].kind, last),
            ),
            dtype=np.int64,
        )

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        return ranked_items(self._events, self._order[: max(0, k)], {})
