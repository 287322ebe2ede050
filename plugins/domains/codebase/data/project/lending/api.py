"""Requests in, answers out: the one door for the website and the desk's tablet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import catalogue, fees, loans, members, money
from .errors import Invalid, LendingError, NotFound
from .storage import Row, Store

Handler = Callable[[Store, Row], Any]


def member_view(store: Store, request: Row) -> Row:
    """A member as the desk's tablet shows them."""
    row = store.get("members", _number(request, "member"))
    return {
        "name": row["name"],
        "state": row["state"],
        "document": row["document"],
        "owes": money.format_sum(fees.balance(store, row["id"])),
    }


def fee_view(store: Store, request: Row) -> Row:
    """One fee as the website shows it."""
    row = store.get("fees", _number(request, "fee"))
    return {"reason": row["reason"], "amount": row["cents"] - row["paid"], "state": row["state"]}


def tool_view(store: Store, request: Row) -> Row:
    """One tool as the website shows it, with how many wait for it."""
    row = store.get("tools", _number(request, "tool"))
    return {
        "title": row["title"],
        "shelf": row["shelf"],
        "state": row["state"],
        "waiting": len(loans.queue(store, row["id"])),
    }


def find_tools(store: Store, request: Row) -> list[Row]:
    """The tools that a search finds."""
    return [
        {"id": row["id"], "title": row["title"], "state": row["state"]}
        for row in catalogue.search(store, str(request.get("words", "")))
    ]


def sign_up(store: Store, request: Row) -> Row:
    """A new member from the website's form."""
    number = members.register(store, str(request.get("name", "")), str(request.get("email", "")))
    return {"member": number}


def wait_for(store: Store, request: Row) -> Row:
    """Get in line for a tool."""
    hold = loans.reserve(store, _number(request, "member"), _number(request, "tool"))
    return {"hold": hold, "ends": loans.hold_ends(store, hold)}


ROUTES: dict[str, Handler] = {
    "member": member_view,
    "fee": fee_view,
    "tool": tool_view,
    "tools": find_tools,
    "sign_up": sign_up,
    "wait_for": wait_for,
}


def handle(store: Store, route: str, request: Row) -> tuple[int, Any]:
    """The status and the body of the answer; an error's text is the body."""
    try:
        if route not in ROUTES:
            raise NotFound(f"there is no {route}")
        return 200, ROUTES[route](store, request)
    except LendingError as error:
        return error.status, str(error)


def _number(request: Row, name: str) -> int:
    try:
        return int(request[name])
    except (KeyError, TypeError, ValueError):
        raise Invalid(f"{name}: a number expected") from None
