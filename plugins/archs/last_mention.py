"""Recency alone: the last mention of everything."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import NoSettings, register
from framework.sentences import sentences
from plugins.archs._items import recency

_FORM_LINE: Final = re.compile(r"(?P<label>[A-Za-z][A-Za-z /&'()-]{1,60}):\s*\S")
_STATEMENT: Final = re.compile(
    r"\b(?:the|an?|its|your|his|her|their)\s+(?P<label>[A-Za-z][A-Za-z /&'()-]{1,60}?)"
    r"(?:\s+(?:is|was|are|were|be|at|as|of|to|now|formerly|restated|stands|stood|set|given))+"
    r"\s+(?:USD\s+)?\$?\d",
    re.IGNORECASE,
)


def label_of(sentence: str) -> str | None:
    """The label-like thing that a sentence gives a value for, lower-cased; None when there is none.

    Either the words before the colon of a form line (`Credit score: 779`), or the words between an
    article and a verb or preposition that a figure follows at once (`the credit score was 779`). A
    condition (`the credit score is above 700`) is no mention of a value.
    """
    match = _FORM_LINE.match(sentence) or _STATEMENT.search(sentence)
    return None if match is None else " ".join(match["label"].lower().split())


@register("arch", "last_mention")
class LastMention(Arch[NoSettings]):
    """The newest arrival first, with only the last mention of each label-like thing kept.

    A control: what recency alone earns where facts are revised (stale re-mentions and late arrivals
    included). It knows no schema, no dates and no query: order is order of arrival, a label is what
    `label_of` finds, and a sentence whose label a later sentence mentions again is dropped from its
    event. Sentences without a label stay. What is left of each event is one item, newest first.
    """

    query = "none"

    def ingest(self, events: Iterable[Event]) -> None:
        mentioned: set[str] = set()
        arrived = list(events)
        items: list[Item] = []
        for position in range(len(arrived) - 1, -1, -1):
            event = arrived[position]
            kept: list[str] = []
            for sentence in reversed(sentences(event.text)):
                label = label_of(sentence)
                if label is None or label not in mentioned:
                    kept.append(sentence)
                if label is not None:
                    mentioned.add(label)
            if kept:
                items.append(
                    Item(
                        id=event.id,
                        text="\n".join(reversed(kept)),
                        signals={
                            "rank": len(items) + 1,
                            "recency": recency(position, len(arrived)),
                        },
                        source_ids=(event.id,),
                    )
                )
        self._items = tuple(items)

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        return list(self._items[: max(0, k)])
