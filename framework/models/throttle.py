"""How many calls are under way, and how fast they start: as much as the provider takes.

The number under way grows with every answer until the provider first pushes back, by one a round
after that, and halves when it does (additive increase, multiplicative decrease, as TCP does).
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import Final

_FIRST: Final = 8


_sharing = 1


def share_among(processes: int) -> None:
    """Give pools that are made from now on their part of each limit: so many processes share it."""
    global _sharing
    _sharing = processes


def sharing() -> int:
    """How many processes share a limit (see `share_among`)."""
    return _sharing


class Throttle:
    """The one bounded pool of a model's calls.

    most : calls that may be under way at once. per_minute, tokens_per_minute : starts and tokens
    are spread evenly so as not to exceed them; None for no limit. first : calls under way to begin
    with. See `share_among`.
    """

    def __init__(
        self,
        most: int,
        per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        first: int = _FIRST,
    ) -> None:
        most = max(1, most // _sharing)
        self.limit = float(min(most, first))
        self.under_way = 0
        self._most = most
        self._per_call = 60.0 * _sharing / per_minute if per_minute else 0.0
        self._per_token = 60.0 * _sharing / tokens_per_minute if tokens_per_minute else 0.0
        self._next_start = 0.0
        self._paused_until = 0.0
        self._shrunk_at: float | None = None
        self._waiting: deque[asyncio.Future[None]] = deque()

    def at_most(self, calls: int) -> None:
        """Lower the limit for good, as to the slots that a server says it has."""
        self._most = min(self._most, max(1, calls))
        self.limit = min(self.limit, float(self._most))

    async def enter(self, tokens: int) -> float:
        """Wait for a place and the right time; the time of the start, to be given to `leave`."""
        if self.under_way >= int(self.limit) or self._waiting:
            place = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
            try:
                await place
            except asyncio.CancelledError:
                if place.done() and not place.cancelled():
                    self.under_way -= 1  # a place was given to one that has gone
                    self._admit()
                raise
        else:
            self.under_way += 1
        try:
            await self._until(self._slot(tokens))
            while (pause := self._paused_until) > time.monotonic():
                await self._until(pause)
        except asyncio.CancelledError:
            self.under_way -= 1
            self._admit()
            raise
        return time.monotonic()

    def leave(self, started: float, *, pushed_back: bool = False, pause_s: float = 0.0) -> None:
        """A call has ended. `pushed_back`: the provider asked for less; no start for `pause_s`."""
        self.under_way -= 1
        if pushed_back:
            self._paused_until = max(self._paused_until, time.monotonic() + pause_s)
            # Calls that started before the last halving say nothing about what followed it.
            if self._shrunk_at is None or started > self._shrunk_at:
                self.limit = max(1.0, self.limit / 2)
                self._shrunk_at = time.monotonic()
        else:
            grown = 1.0 if self._shrunk_at is None else 1.0 / self.limit
            self.limit = min(float(self._most), self.limit + grown)
        self._admit()

    def _admit(self) -> None:
        while self._waiting and self.under_way < int(self.limit):
            place = self._waiting.popleft()
            if not place.done():
                self.under_way += 1
                place.set_result(None)

    def _slot(self, tokens: int) -> float:
        """When a call of so many tokens may start; the next one has to wait for its share."""
        share = max(self._per_call, tokens * self._per_token)
        if not share:
            return 0.0
        start = max(self._next_start, time.monotonic())
        self._next_start = start + share
        return start

    async def _until(self, when: float) -> None:
        wait = when - time.monotonic()
        if wait > 0:
            await asyncio.sleep(wait)
