"""Messages to members: written down here, sent by the mail job."""

from __future__ import annotations

import secrets

from . import clock, text
from .errors import Conflict, Invalid
from .storage import Row, Store

TOPICS = ("news", "courses", "due")
TRIES = 5
LINK_HOURS = 6
TEMPLATES = {
    "due": "Hello {name}, {title} is due on {day}.",
    "ready": "Hello {name}, {title} is waiting for you.",
    "welcome": "Hello {name}, welcome to the library.",
}


def compose(kind: str, **values: str) -> str:
    """The text of a message. Raises Invalid for a kind or a value that is missing."""
    try:
        return TEMPLATES[kind].format(**values)
    except KeyError as error:
        raise Invalid(f"no {error}") from None


def enqueue(store: Store, member: int, body: str, created: float | None = None) -> int:
    """Put a message in the outbox."""
    address = store.get("members", member)["email"]
    moment = clock.now() if created is None else created
    return store.add(
        "outbox", to=address, body=body, created=moment, tries=0, state="pending", report=""
    )


def pending(store: Store) -> list[Row]:
    """What the mail job sends next."""
    return store.find("outbox", state="pending")


def sent(store: Store, message: int) -> Row:
    """A message has left."""
    return store.put("outbox", message, state="sent")


def failed(store: Store, message: int) -> Row:
    """A message could not be sent; after enough tries it is given up."""
    row = store.get("outbox", message)
    if row["state"] != "pending":
        raise Conflict("it was not to be sent")
    tries = row["tries"] + 1
    return store.put("outbox", message, tries=tries, state="lost" if tries >= TRIES else "pending")


def subscribe(store: Store, email: str, topic: str) -> int:
    """Send a topic to an address. Once is enough: a second time gives the first number."""
    if topic not in TOPICS:
        raise Invalid(f"there is no topic {topic}")
    if not text.looks_like_address(email):
        raise Invalid(f"{email!r} is no address")
    known = store.find("subscriptions", email=email, topic=topic)
    if known:
        return int(known[0]["id"])
    return store.add("subscriptions", email=email, topic=topic)


def readers(store: Store, topic: str) -> list[str]:
    """The addresses that get a topic."""
    return [row["email"] for row in store.find("subscriptions", topic=topic)]


def login_link(store: Store, member: int) -> Row:
    """A link that lets a member in without a word to remember."""
    store.get("members", member)
    ends = clock.now() + LINK_HOURS * clock.HOUR
    number = store.add("links", member=member, word=secrets.token_urlsafe(12), ends=ends)
    return store.get("links", number)


def open_link(store: Store, word: str) -> int:
    """The member whose link this is. Raises Invalid for one that is unknown or too old."""
    rows = store.find("links", word=word)
    if not rows or rows[0]["ends"] < clock.now():
        raise Invalid("the link is not good any more")
    return int(rows[0]["member"])
