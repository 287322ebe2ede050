"""The latest events, as many as a limit of tokens holds."""

from __future__ import annotations

from framework.records import Event, Item
from framework.text.tokens import count_tokens
from plugins.archs._items import event_item, recency


class Recent:
    """A queue of events of at most `limit` tokens; what is too much leaves, the oldest first."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.events: list[Event] = []
        self._tokens: list[int] = []
        self._arrived = 0

    def push(self, event: Event) -> list[Event]:
        """Take an event in; those that leave for it, in order of arrival.

        When there are too many, they leave until the queue is half empty, so that they leave in
        groups. An event larger than the limit leaves at once, after all before it.
        """
        self.events.append(event)
        self._tokens.append(count_tokens(event.text))
        self._arrived += 1
        held, leaving = sum(self._tokens), 0
        if held > self.limit:
            while leaving < len(self.events) and held > self.limit / 2:
                held -= self._tokens[leaving]
                leaving += 1
        left, self.events = self.events[:leaving], self.events[leaving:]
        self._tokens = self._tokens[leaving:]
        return left

    def items(self, first_rank: int) -> list[Item]:
        """The events, latest first, as items ranked from `first_rank`."""
        n = self._arrived
        return [
            event_item(event, {"rank": first_rank + i, "recency": recency(n - 1 - i, n)})
            for i, event in enumerate(reversed(self.events))
        ]
