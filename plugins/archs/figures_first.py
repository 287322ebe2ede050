"""Of each event the sentences that hold a figure, whatever is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import register
from framework.text.sentences import sentences
from plugins.archs._items import recency

_FIGURE: Final = re.compile(r"(?<![\w-])\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class FiguresFirstSettings:
    """Settings of `arch=figures_first`.

    order : `newest` puts the latest events first; `shortest` puts the events first of which the
        fewest characters are left (ties: oldest first).
    """

    order: Literal["newest", "shortest"] = "newest"


@register("arch", "figures_first")
class FiguresFirst(Arch[FiguresFirstSettings]):
    """Only the sentences of each event that contain a figure. Control: what figures alone reveal.

    A control for domains whose gold is a value: a view holds several times as many values as it
    would whole events, and says of none what it is good for. A digit inside a word or behind a
    hyphen (`cx-3a94e`, `UP-2`) is no figure; an event without figures is left out.
    """

    query = "none"

    def ingest(self, events: Iterable[Event]) -> None:
        arrived = list(events)
        items = []
        for position, event in enumerate(arrived):
            kept = [sentence for sentence in sentences(event.text) if _FIGURE.search(sentence)]
            if kept:
                signals = {"recency": recency(position, len(arrived))}
                items.append(
                    Item(id=event.id, text="\n".join(kept), signals=signals, source_ids=(event.id,))
                )
        if self.settings.order == "newest":
            items.reverse()
        else:
            items.sort(key=lambda item: len(item.text))
        self._items = items

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        return self._items[: max(0, k)]
