"""List the events of a view that a question asks about: each with its words, day and memory.

It is asked where an operator of this package acts, whose identity holds its prompts: registered, it
would be a part of every run's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Final

from framework.operations.answer_from_sessions import QUESTION_DATE
from framework.operations.prompted import PromptedOperation
from framework.records import Event, MemoryView, TaskCard
from framework.text.canonical import canonical_json

EVENT: Final = "event"
"""The kind of what is listed."""
_LEAST: Final = 3
"""Words of a quote: fewer tell no event, and stand in nearly every view."""
_FOLDED: Final = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "\u00a0": " "})


@dataclass(frozen=True, slots=True, kw_only=True)
class ListEventsRequest:
    """The public task, whose query says which events are meant, and the view they are told in."""

    task: TaskCard
    view: MemoryView


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listed:
    """An event as a model gives it: `memory` counts the view's items from 1."""

    memory: int
    date: str
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listing:
    events: tuple[_Listed, ...]


class ListEvents(PromptedOperation[ListEventsRequest, tuple[Event, ...]]):
    """List the events that a question asks about, in the view's own words.

    Of each: `id`, the item of the view that is named for it, empty where there is no such; `text`,
    the quote; `time`, the day as it was given. Whether the quote stands there is not looked at:
    see `placed`.
    """

    name = "list_events"
    prompts: ClassVar[Path] = Path(__file__).with_name("prompts")
    response = _Listing
    slots = frozenset({"question", "question_date", "memories"})

    def fill(self, request: ListEventsRequest) -> Mapping[str, str]:
        fenced = (
            f'<memory number="{number}">\n{item.text}\n</memory>'
            for number, item in enumerate(request.view.items, 1)
        )
        return {
            "question": request.task.query,
            "question_date": request.task.material.get(QUESTION_DATE) or "not told",
            "memories": "\n".join(fenced) or "(none)",
        }

    def schema(self, request: ListEventsRequest) -> Mapping[str, Any] | None:
        """The files' form, held to the numbers of the view's items."""
        schema: Any = super().schema(request)
        events, most = schema["properties"]["events"], len(request.view.items)
        events["items"]["properties"]["memory"]["maximum"] = max(1, most)
        events["maxItems"] = events["maxItems"] if most else 0
        return schema  # type: ignore[no-any-return]

    def parse(self, text: str, request: ListEventsRequest) -> tuple[Event, ...]:
        listing: Any = super().parse(text, request)
        ids = dict(enumerate((item.id for item in request.view.items), 1))
        return tuple(
            Event(id=ids.get(one.memory, ""), text=one.quote, time=one.date, kind=EVENT)
            for one in listing.events
        )

    def render(self, response: tuple[Event, ...]) -> str:
        told = [{"memory": e.id, "date": e.time, "quote": e.text} for e in response]
        return canonical_json({"events": told})


def placed(events: Sequence[Event], view: MemoryView) -> tuple[list[Event], int]:
    """The events whose words stand in the view, each once; how many of the others there are.

    `id` is then the item that holds the words: the one that was named, or else the first. Case,
    white space and the form of quotation marks do not count. A quote of fewer than three words
    stands nowhere.
    """
    folded = {item.id: _folded(item.text) for item in view.items}
    found: dict[tuple[str, str], Event] = {}
    unsupported = 0
    for event in events:
        quote = _folded(event.text)
        named = [event.id] if event.id in folded else []
        there = (id_ for id_ in (*named, *folded) if quote in folded[id_])
        place = next(there, None) if len(quote.split()) >= _LEAST else None
        if place is None:
            unsupported += 1
        else:
            found.setdefault((place, quote), replace(event, id=place))
    return list(found.values()), unsupported


def _folded(text: str) -> str:
    return " ".join(text.translate(_FOLDED).casefold().split())
