"""Recency in the place of understanding: the last mention of everything."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import register
from framework.text.sentences import sentences
from plugins.archs._bm25 import BM25Index, BM25Settings
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


@dataclass(frozen=True, slots=True, kw_only=True)
class LastMentionSettings(BM25Settings):
    """Settings of `arch=last_mention`, besides those of BM25.

    order : `query` ranks what is left by BM25 for the task's query, so that the arm differs from
        `bm25` only in the mentions it drops; `newest` is plain recency, latest event first, for
        every query.
    """

    order: Literal["query", "newest"] = "query"


@register("arch", "last_mention")
class LastMention(Arch[LastMentionSettings]):
    """Only the last mention of each label. Control: what recency alone achieves.

    A control for revised facts: where it does as well as an arm that understands corrections, the
    cases can be solved by recency. It knows no schema and no dates: order is order of arrival, a
    label is what `label_of` finds, and a sentence whose label a later sentence mentions again is
    dropped from its event. Sentences without a label stay. What is left of an event is one item.
    """

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
                        signals={"recency": recency(position, len(arrived))},
                        source_ids=(event.id,),
                    )
                )
        self._items = tuple(items)
        self._index = BM25Index([item.text for item in items], self.settings)

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        asked = query.text if self.settings.order == "query" else ""
        recalled = []
        for rank, (i, score) in enumerate(self._index.rank(asked, k), start=1):
            item = self._items[i]
            signals = {**item.signals, "bm25": score, "rank": rank}
            recalled.append(replace(item, signals=signals))
        return recalled
