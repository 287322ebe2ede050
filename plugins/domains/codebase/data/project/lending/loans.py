"""Lending: who has what, who waits for what."""

from __future__ import annotations

import time

from . import auth, clock
from .errors import Conflict
from .storage import Row, Store

LOAN_DAYS = 14
RENEWALS = 2
HOLD_HOURS = 24


def reserve(store: Store, member: int, tool: int, created: float | None = None) -> int:
    """Get in line for a tool. Raises Conflict for one who is in it already."""
    _check_member(store, member)
    if store.find("holds", member=member, tool=tool, state="waiting"):
        raise Conflict("already waiting")
    moment = clock.now() if created is None else created
    return store.add("holds", member=member, tool=tool, created=moment, state="waiting")


def queue(store: Store, tool: int) -> list[Row]:
    """Who waits for a tool."""
    return store.find("holds", tool=tool, state="waiting")


def hold_ends(store: Store, hold: int) -> float:
    """Until when a tool is kept aside for the one it was offered to."""
    return float(store.get("holds", hold)["created"]) + HOLD_HOURS * clock.HOUR


def cancel_hold(store: Store, hold: int) -> Row:
    """Leave the line."""
    return store.put("holds", hold, state="cancelled")


def checkout(store: Store, actor: str, member: int, tool: int) -> int:
    """Hand a tool over. Raises Conflict when it is not in or the member may not borrow."""
    auth.require(store, actor, "desk")
    _check_member(store, member)
    row = store.get("tools", tool)
    if row["state"] != "in":
        raise Conflict(f"the tool is {row['state']}")
    start = time.time()
    store.put("tools", tool, state="out")
    return store.add(
        "loans",
        member=member,
        tool=tool,
        start=start,
        due=start + LOAN_DAYS * clock.DAY,
        renewed=0,
        deposit=row["deposit"],
        notes=(),
        state="out",
    )


def renew(store: Store, loan: int) -> Row:
    """Keep a tool for another term. Raises Conflict when others wait or it was renewed enough."""
    row = _out(store, loan)
    if row["renewed"] >= RENEWALS:
        raise Conflict("renewed often enough")
    if queue(store, row["tool"]):
        raise Conflict("others are waiting")
    return store.put(
        "loans", loan, renewed=row["renewed"] + 1, due=row["due"] + LOAN_DAYS * clock.DAY
    )


def give_back(store: Store, actor: str, loan: int) -> Row:
    """Take a tool back."""
    auth.require(store, actor, "desk")
    row = _out(store, loan)
    store.put("tools", row["tool"], state="in")
    return store.put("loans", loan, state="back", ended=clock.now())


def return_deposit(store: Store, actor: str, loan: int) -> int:
    """Pay back what a member left behind; the sum. Raises Conflict while the tool is out."""
    auth.staff(store, actor)
    row = store.get("loans", loan)
    if row["state"] == "out":
        raise Conflict("the tool is still out")
    store.put("loans", loan, deposit=0)
    store.add("payouts", loan=loan, value=row["deposit"])
    return int(row["deposit"])


def swap(store: Store, loan: int, tool: int) -> Row:
    """Exchange the tool of a loan for another one."""
    row = _out(store, loan)
    store.put("tools", row["tool"], state="in")
    if store.get("tools", tool)["state"] != "in":
        raise Conflict("the other tool is not there")
    store.put("tools", tool, state="out")
    return store.put("loans", loan, tool=tool)


def history(store: Store, member: int, limit: int = 20) -> list[Row]:
    """A member's loans, the latest first."""
    rows = sorted(store.find("loans", member=member), key=lambda row: -row["id"])
    return rows[:limit]


def add_note(store: Store, loan: int, note: str) -> Row:
    """Keep a remark with a loan."""
    row = store.get("loans", loan)
    return store.put("loans", loan, notes=(*row["notes"], note))


def overdue(store: Store) -> list[Row]:
    """The loans whose time is up."""
    moment = clock.now()
    return [row for row in store.find("loans", state="out") if row["due"] < moment]


def _out(store: Store, loan: int) -> Row:
    row = store.get("loans", loan)
    if row["state"] != "out":
        raise Conflict("the loan has ended")
    return row


def _check_member(store: Store, member: int) -> None:
    state = store.get("members", member)["state"]
    if state != "active":
        raise Conflict(f"the membership is {state}")
