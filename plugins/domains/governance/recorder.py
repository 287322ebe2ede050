"""What was captured of the records: what was decided, but for those missing, wrong or doubled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from framework.records import Event, Gold
from framework.retention import closure
from plugins.domains.governance.content import Contents, overlap
from plugins.domains.governance.edges import any_but, part_of
from plugins.domains.governance.layout import Layout
from plugins.domains.governance.lexicon import Setting, Value
from plugins.domains.governance.render import Link, Writer

_VALUE: Final = "value"
_LINKS: Final = ("up", "down", "older")
_AGAIN: Final = "again"
_TRIES: Final = 64


class Recorder(Writer):
    """Writes the records as they were captured (`CaptureNoise`); the writer, what was decided.

    Whether a record is missing, wrong or doubled hangs on a number in [0, 1) of its own for each,
    which is below the share. What is wrong in it hangs on no share.
    """

    def __init__(self, layout: Layout, contents: Contents) -> None:
        super().__init__(layout, contents)
        self._noise = layout.settings.noise

    def missing(self, record: int) -> bool:
        """Whether it was never captured."""
        return self._layout.share("missing", record) < self._noise.missing

    def doubled(self, record: int) -> bool:
        """Whether it was captured twice."""
        return self._layout.share("duplicated", record) < self._noise.duplicated

    def wrong(self, record: int) -> str:
        """What of it was captured wrongly: its `value`, a link (`up`, ...), or nothing (empty)."""
        layout = self._layout
        if layout.share("wrong", record) >= self._noise.wrong:
            return ""
        links = super().links(record)
        stated = [_VALUE, *(what for what in _LINKS if what in links)]
        return stated[int(len(stated) * layout.share("wrong what", record))]

    def links(self, record: int) -> dict[str, Link]:
        links = super().links(record)
        if (what := self.wrong(record)) in links:
            rng = self._layout.stream("wrong link", record)
            right = links[what].target
            links[what] = replace(links[what], target=any_but(self._layout, (record, right), rng))
        return links

    def fixed(self, record: int) -> tuple[Setting, Value]:
        setting, right = super().fixed(record)
        if self.wrong(record) != _VALUE:
            return setting, right
        rng = self._layout.stream("wrong value", record)
        others = (
            super(Recorder, self).fixed(rng.randrange(self._layout.settings.items))[1]
            for _ in range(_TRIES)
        )
        # A corpus all of whose values overlap with this one has no other to take for it.
        return setting, next((value for value in others if not overlap(value, right)), right)

    def edges(self, record: int) -> list[Link]:
        if self.missing(record):
            return []
        return [link for link in super().edges(record) if not self.missing(link.target)]

    def events(self, record: int) -> list[Event]:
        if self.missing(record):
            return []
        once = super().events(record)
        if not self.doubled(record):
            return once
        layout = self._layout
        first = layout.event_id(record, 0, _AGAIN)
        part = part_of(first) if once[0].edges or once[-1].edges else ()
        return once + [
            replace(
                event,
                id=layout.event_id(record, number, _AGAIN),
                edges=part if number else event.edges,
            )
            for number, event in enumerate(once)
        ]


def lost(gold: Gold, events: Iterable[Event]) -> tuple[str, ...]:
    """Ids of the gold items that no event states any more, nor all that they follow from.

    events : at least those that the gold's spans are of.
    """
    texts = {event.id: event.text for event in events}
    stated = {
        item.id
        for item in gold.items
        if any(span.text in texts.get(span.source_id, "") for span in item.spans)
    }
    known = closure(gold.items, stated)
    return tuple(item.id for item in gold.items if item.id not in known)
