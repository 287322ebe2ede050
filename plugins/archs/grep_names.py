"""Names followed by exact search: the control for structure that the text itself gives away."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import NoSettings, register
from plugins.archs._items import event_item

_NAME: Final = re.compile(
    r"\b[a-z]{1,3}-[0-9a-f]{3,}\b|\b[A-Z]{2,} \d+\b"
    r"|\b(?!The )(?:[A-Z][a-z]+ )+[A-Z][a-z]+(?: [a-z]+)?"
)
_BESIDE: Final = re.compile(r"\b(?:related|alongside|meeting|heard)\b")
"""Words of sentences that only associate two names; nothing is followed through them."""


@register("arch", "grep_names")
class GrepNames(Arch[NoSettings]):
    """Events reached from the names in the task by searching for one name after another.

    A control: no index, no ranking, no edges. Names are identifiers (`cx-0af3`, `PEP 8`) and runs
    of capitalised words with the common noun behind. The events that hold a name of the task come
    first, then those that hold a name that stands in these, and so on; ties in order of arrival.
    What is not reached is not recalled. A claim about an arm on linked records is a claim beside
    this one (validity.md section 2).
    """

    sees_task = True

    def ingest(self, events: Iterable[Event]) -> None:
        self._events = tuple(events)
        self._names = [_names(event.text) for event in self._events]
        self._holders: dict[str, list[int]] = {}
        for i, names in enumerate(self._names):
            for name in names:
                self._holders.setdefault(name, []).append(i)

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        material = () if query.task is None else query.task.material.values()
        names, found = _names(" ".join((query.text or "", *material))), dict[int, None]()
        while names and len(found) < k:
            level = sorted({i for name in names for i in self._holders.get(name, ())} - set(found))
            found.update(dict.fromkeys(level))
            names = {name: None for i in level for name in self._names[i]}
        ranked = enumerate(list(found)[: max(0, k)], start=1)
        return [event_item(self._events[i], {"rank": rank}) for rank, i in ranked]


def _names(text: str) -> dict[str, None]:
    told = (sentence for sentence in re.split(r"(?<=[.;])\s", text) if not _BESIDE.search(sentence))
    return dict.fromkeys(name for sentence in told for name in _NAME.findall(sentence))
