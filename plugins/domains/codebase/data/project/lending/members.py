"""The people who borrow."""

from __future__ import annotations

from . import auth, text
from .errors import Conflict, Invalid
from .storage import Row, Store

STATES = ("active", "suspended", "closed")


def register(
    store: Store,
    name: str,
    email: str,
    phone: str = "",
    birthday: str = "",
    document: str = "",
) -> int:
    """Enter a new member. Raises Invalid for an empty name or an address that is none."""
    if not name.strip():
        raise Invalid("a member has a name")
    _check_address(email)
    return store.add(
        "members",
        name=text.squeeze(name),
        email=email,
        phone=phone,
        birthday=birthday,
        document=document,
        state="active",
    )


def change_email(store: Store, member: int, email: str) -> Row:
    """Write to a member at another address from now on."""
    _check_address(email)
    return store.put("members", member, email=email)


def change_name(store: Store, member: int, name: str) -> Row:
    """A member's new name."""
    if not name.strip():
        raise Invalid("a member has a name")
    return store.put("members", member, name=text.squeeze(name))


def suspend(store: Store, actor: str, member: int) -> Row:
    """Lend nothing more to a member until the office lifts it."""
    auth.require(store, actor, "office")
    if store.get("members", member)["state"] == "closed":
        raise Conflict("the membership has ended")
    return store.put("members", member, state="suspended")


def lift(store: Store, actor: str, member: int) -> Row:
    """Lend to a suspended member again."""
    auth.require(store, actor, "office")
    if store.get("members", member)["state"] != "suspended":
        raise Conflict("the member is not suspended")
    return store.put("members", member, state="active")


def close(store: Store, actor: str, member: int) -> Row:
    """End a membership. Raises Conflict while a tool is out."""
    auth.require(store, actor, "desk")
    if store.count("loans", member=member, state="out"):
        raise Conflict("a tool is still out")
    return store.put("members", member, state="closed")


def profile(store: Store, member: int) -> Row:
    """What a member sees of themselves."""
    row = store.get("members", member)
    return {
        "id": row["id"],
        "name": row["name"],
        "email": row["email"],
        "document": row["document"],
        "state": row["state"],
    }


def search(store: Store, words: str, limit: int = 20) -> list[Row]:
    """The first members in whose name or address a text occurs."""
    wanted = words.strip().lower()
    found = [
        row
        for row in store.find("members")
        if wanted in row["name"].lower() or wanted in row["email"].lower()
    ]
    return found[:limit]


def merge(store: Store, keep: int, gone: int) -> Row:
    """Make one member of two rows for the same person: all of `gone` goes over to `keep`."""
    store.put("members", gone, state="closed")
    for table in ("loans", "fees", "feedback"):
        for row in store.find(table, member=gone):
            store.put(table, row["id"], member=keep)
    return store.put("members", keep, state="active")


def leave_feedback(store: Store, member: int, note: str) -> int:
    """Keep what a member has to say."""
    store.get("members", member)
    return store.add("feedback", member=member, note=note)


def feedback(store: Store, member: int) -> list[str]:
    """What a member has said."""
    return [row["note"] for row in store.find("feedback", member=member)]


def _check_address(email: str) -> None:
    if not text.looks_like_address(email):
        raise Invalid(f"{email!r} is no address")
