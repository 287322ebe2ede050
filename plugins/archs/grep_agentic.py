"""Exact search in rounds, for words that a model chooses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from framework.bounds import Bounded, at_least
from framework.contracts import Arch, Query
from framework.operations.next_query import NextQuery, NextQueryRequest
from framework.records import Event, Item
from framework.registry import register
from plugins.archs._items import event_item

_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class GrepAgenticSettings(Bounded):
    """Settings of `arch=grep_agentic`.

    searches : most searches, including the first by the query itself; at least 1.
    hits : events that each search shows, at least 1.
    """

    searches: Annotated[int, at_least(1)] = 4
    hits: Annotated[int, at_least(1)] = 5


@register("arch", "grep_agentic")
class GrepAgentic(Arch[GrepAgenticSettings]):
    """Word search only: a model chooses the words, as an agent with grep would.

    A control: no index, no weights, no edges. A search shows the events that hold the most of its
    words, word for word, ties in order of arrival; what earlier searches showed is left out. The
    first search has the query's words; then a model that has read what was found chooses the next
    ones, or stops. The rule-based model does so by pseudo relevance feedback and follows no
    description, so with it the arm says nothing about agents.
    """

    needs_model = True
    sees_task = True

    def ingest(self, events: Iterable[Event]) -> None:
        self._events = tuple(events)
        self._words = [set(_words(event.text)) for event in self._events]

    async def recall(self, query: Query, k: int) -> Sequence[Item]:
        asked, found = [query.text or ""], dict[int, int]()
        instruction = "" if query.task is None else query.task.instruction
        for search in range(1, self.settings.searches + 1):
            shown = self._search(asked[-1], found)
            found.update(dict.fromkeys(shown, search))
            if search == self.settings.searches or not found or len(found) >= k:
                break
            request = NextQueryRequest(
                instruction=instruction,
                asked=tuple(asked),
                passages=tuple(self._events[i].text for i in found),
            )
            following = (await self.context.client.ask(NextQuery(), request)).query
            if not following:
                break
            asked.append(following)
        ranked = enumerate(list(found)[: max(0, k)], start=1)
        return [
            event_item(self._events[i], {"search": found[i], "rank": rank}) for rank, i in ranked
        ]

    def _search(self, query: str, found: dict[int, int]) -> list[int]:
        words = set(_words(query))
        held = {i: len(words & own) for i, own in enumerate(self._words) if i not in found}
        best = sorted((i for i in held if held[i]), key=lambda i: -held[i])
        return best[: self.settings.hits]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
