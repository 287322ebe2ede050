"""A small library to test with: a staff of two, two members, three tools."""

from __future__ import annotations

from dataclasses import dataclass

from . import auth, catalogue, members
from .storage import Store


@dataclass(frozen=True)
class Sample:
    """The store and the numbers of its rows. Ada may do everything, Bob may stand at the desk."""

    store: Store
    ada: int
    bob: int
    kim: int
    lee: int
    drill: int
    saw: int
    ladder: int


def sample() -> Sample:
    """A new one for each test."""
    store = Store()
    ada = auth.hire(store, "ada", *auth.PERMISSIONS)
    bob = auth.hire(store, "bob", "desk")
    kim = members.register(store, "Kim Oh", "kim@example.org", "555-0101", "1980-02-03", "AB98761")
    lee = members.register(store, "Lee Roy", "lee@example.org", "555-0102", "1991-05-06", "CD12345")
    return Sample(
        store=store,
        ada=ada,
        bob=bob,
        kim=kim,
        lee=lee,
        drill=catalogue.add_tool(store, "Cordless drill", "A1", 5000),
        saw=catalogue.add_tool(store, "Circular saw", "A2", 8000),
        ladder=catalogue.add_tool(store, "Long ladder", "B1", 3000),
    )
