"""What other systems tell us: the bank, the mail service, the lockers."""

from __future__ import annotations

import hashlib
import hmac
import time

from . import fees
from .errors import Forbidden, Invalid
from .storage import Row, Store

LOCKER_STATES = ("shut", "open", "jammed")


def signature(secret: str, body: str) -> str:
    """How a sender proves that a message is theirs."""
    return hmac.new(secret.encode(), body.encode(), hashlib.sha256).hexdigest()


def receive(store: Store, sender: str, body: str, secret: str, signed: str) -> int:
    """Keep a message as it came. Raises Forbidden for a wrong signature."""
    if not hmac.compare_digest(signature(secret, body), signed):
        raise Forbidden("wrong signature")
    return store.add("inbox", sender=sender, body=body, at=time.time())


def payment(store: Store, key: str, fee: int, cents: int) -> int | None:
    """The bank says that money came in for a fee; the number of the payment."""
    number = fees.pay(store, fee, cents)
    store.mark(key)
    return number


def delivery_report(store: Store, key: str, message: int, words: str) -> Row | None:
    """The mail service says what became of a message; its words are added to the report."""
    report = store.get("outbox", message)["report"]
    store.mark(key)
    return store.put("outbox", message, report=f"{report}{words};")


def locker_signal(store: Store, key: str, locker: str, state: str) -> int | None:
    """A locker says how it stands. Raises Invalid for a state that there is not."""
    if state not in LOCKER_STATES:
        raise Invalid(f"a locker is not {state}")
    store.mark(key)
    return store.add("signals", locker=locker, state=state)


def locker_state(store: Store, locker: str) -> str:
    """How a locker stood when it was last heard of; empty when it never was."""
    rows = store.find("signals", locker=locker)
    return str(rows[-1]["state"]) if rows else ""
