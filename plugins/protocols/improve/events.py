"""The loop's own events: written once, read back on a resume, a replay or a fork.

The loop is a deterministic function of what it measured and what its author answered. Those two are
*effects*: where the journal holds them already, they are taken from it and nothing is asked or
measured again. Everything else is computed again and must be what the journal says. So a run that
was killed anywhere resumes with the same events, and a replay is a resume of a whole journal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from framework.contracts import ProtocolContext
from framework.errors import UserError
from framework.text.canonical import digest

Payload = Mapping[str, Any]


class EventLog:
    """The events of one loop in order. Memory and the cost of an event do not grow with them."""

    def __init__(self, context: ProtocolContext) -> None:
        self._context = context
        self._recorded = iter(context.recorded)
        self._next = next(self._recorded, None)
        self.count = 0

    def emit(self, type_: str, payload: Payload, *, given: bool = False) -> Payload:
        """Write an event, or find it in the journal; what the loop goes on with is returned.

        That is `payload`, except in a fork: of the events taken over, the recorded one holds.
        given : it says what the loop works on, which a fork can't change either.
        Raises UserError where the journal holds another event here.
        """
        known = self.take(type_)
        if known is None:
            return self.put(type_, payload)
        if (given or self.count > self._context.inherited) and digest(known) != digest(payload):
            raise self._other(type_)
        return known

    def open(self, type_: str, payload: Payload, digest_: str) -> Payload:
        """Write the event after which nothing may be chosen, and register it, once.

        Its `register` is what the register said then. Raises UserError as `emit` does.
        """
        known = self.take(type_)
        if known is None:
            return self.put(type_, {**payload, "register": dict(self._context.register(digest_))})
        if digest({**known, "register": None}) != digest({**payload, "register": None}):
            raise self._other(type_)
        return known

    def take(self, type_: str) -> Payload | None:
        """The journal's next event, where it has one of this type; None where it is used up.

        Raises UserError where the next event is another, or nothing may be asked again.
        """
        if self._next is None:
            if not self._context.live:
                raise UserError(f"the journal ends where the loop comes to {type_}")
            return None
        found, payload = self._next
        if found != type_:
            raise UserError(
                f"the journal has {found} where the loop comes to {type_}: its code, data or "
                "settings have changed"
            )
        self._next = next(self._recorded, None)
        self.count += 1
        return payload

    def put(self, type_: str, payload: Payload) -> Payload:
        """Write an effect that `take` did not find."""
        self._context.write(type_, payload)
        self.count += 1
        return payload

    def _other(self, type_: str) -> UserError:
        return UserError(
            f"the journal's {type_} (event {self.count} of the loop) is not what the loop comes"
            " to now: its code, data or settings have changed"
        )
