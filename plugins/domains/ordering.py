"""Orders: of events, by which nothing can be told; of cases, in which a part has some of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import TypeVar

from framework.records import Event
from framework.text.canonical import digest

T = TypeVar("T")


def by_digest(events: Iterable[Event]) -> list[Event]:
    """In the order of the digests of their texts, in which no place tells what belongs together."""
    return sorted(events, key=lambda event: digest([event.text]))


def in_turns(groups: Iterable[Sequence[T]]) -> list[T]:
    """The first of each group, then the second of each, and so on."""
    return [one for row in zip_longest(*groups) for one in row if one is not None]
