"""A regulation's versions as events, and which of them holds on a day."""

from __future__ import annotations

import random
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final, Literal

from framework.records import Event
from framework.text.canonical import digest
from plugins.domains.regulation_updates.versions import (
    Version,
    citation,
    is_comment,
    parent_of,
)

Change = Literal["first", "added", "amended", "removed"]

_SAID: Final = {
    "first": "in force from {day}:\n{text}",
    "added": "added, in force from {day}:\n{text}",
    "amended": "as amended, in force from {day}:\n{text}",
    "removed": "removed, no longer in force from {day}.",
}
_NUMBER: Final = re.compile(r"\d+")
_CHUNK: Final = 4
"""Digits that are masked together; a longer number is masked in parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One change of one unit, from a day on; `text` is empty where it was removed."""

    label: str
    day: str
    change: Change
    text: str
    event: str


@dataclass(slots=True)
class Ledger:
    """All that ever held, in the order in which it came into force.

    masked : whether each number (of sections, amounts, years in a text) is written as another, the
        same one everywhere; the days from which texts hold stay.
    """

    versions: Sequence[Version]
    masked: bool = False
    entries: dict[str, list[Entry]] = field(default_factory=dict)
    events: dict[str, Event] = field(default_factory=dict)

    def __post_init__(self) -> None:
        before: Version | None = None
        for version in self.versions:
            new = [self._enter(version, *change) for change in changes(before, version)]
            for entry in new:
                self._add(entry, version.cites.get(entry.label, ()))
            before = version

    @property
    def days(self) -> list[str]:
        """The days on which anything changed, the first version's aside, in order."""
        days = {e.day for one in self.entries.values() for e in one if e.change != "first"}
        return sorted(days)

    def on(self, label: str, day: str) -> Entry | None:
        """What was last said of a unit on this day; None where nothing was yet."""
        found = self.entries.get(label, [])
        place = bisect_right(found, day, key=lambda entry: entry.day)
        return found[place - 1] if place else None

    def changed(self, day: str) -> list[Entry]:
        """What came into force or was removed on this day."""
        return [e for one in self.entries.values() for e in one if e.day == day]

    def unchanged(self, day: str) -> list[Entry]:
        """What is in force on this day and was before."""
        held = (self.on(label, day) for label in self.entries)
        return [e for e in held if e and e.change != "removed" and e.day < day]

    def say(self, text: str) -> str:
        """A text as this ledger writes it: its numbers masked, or as it is."""
        return _NUMBER.sub(lambda found: mask(found[0]), text) if self.masked else text

    def cited(self, label: str) -> str:
        """How a unit is cited here."""
        return self.say(citation(label))

    def _enter(self, version: Version, label: str, change: Change) -> Entry:
        day, text = version.effective, version.units.get(label, "")
        name = f"text-{digest([label, day, text])[7:19]}"
        entry = Entry(label=label, day=day, change=change, text=self.say(text), event=name)
        self.entries.setdefault(label, []).append(entry)
        return entry

    def _add(self, entry: Entry, cites: Sequence[str]) -> None:
        said = _SAID[entry.change].format(day=entry.day, text=entry.text)
        before = self.entries[entry.label][:-1]
        edges = [("supersedes", before[-1].event)] if before else []
        targets = [("part_of", parent_of(entry.label)), *(("cites", target) for target in cites)]
        for relation, target in targets:
            held = self.on(target, entry.day)
            if held is not None and held is not entry:
                edges.append((relation, held.event))
        kind = "comment" if is_comment(entry.label) else "rule"
        self.events[entry.event] = Event(
            id=entry.event,
            text=f"{self.cited(entry.label)}, {said}",
            time=entry.day,
            kind="removal" if entry.change == "removed" else kind,
            edges=tuple(dict.fromkeys(edges)),
        )


def changes(before: Version | None, version: Version) -> Iterator[tuple[str, Change]]:
    """The units that a version adds, amends or removes, in the order of its text."""
    if before is None:
        yield from ((label, "first") for label in version.units)
        return
    for label, text in version.units.items():
        if before.units.get(label) != text:
            yield label, "amended" if label in before.units else "added"
    yield from ((label, "removed") for label in before.units if label not in version.units)


def mask(number: str) -> str:
    """Another number of as many digits; two numbers are never masked as one."""
    parts = [number[place : place + _CHUNK] for place in range(0, len(number), _CHUNK)]
    return "".join(f"{_shuffled(len(part))[int(part)]:0{len(part)}d}" for part in parts)


@cache
def _shuffled(digits: int) -> list[int]:
    """The numbers of so many digits in an order that is the same everywhere."""
    numbers = list(range(10**digits))
    random.Random(f"numbers of {digits} digits").shuffle(numbers)
    return numbers
