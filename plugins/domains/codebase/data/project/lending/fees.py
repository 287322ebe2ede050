"""What members owe and pay."""

from __future__ import annotations

from . import auth, clock, money
from .errors import Conflict
from .storage import Row, Store

DAILY = 150
CEILING_PERCENT = 80
QUOTE_HOURS = 12


def charge(store: Store, member: int, cents: int, reason: str, created: float = 0.0) -> int:
    """Note that a member owes a sum."""
    store.get("members", member)
    return store.add(
        "fees", member=member, cents=cents, reason=reason, created=created, paid=0, state="open"
    )


def late_fee(store: Store, loan: int) -> int:
    """What a loan has cost by being late, up to a share of the tool's deposit."""
    row = store.get("loans", loan)
    late = clock.days_between(row["due"], row.get("ended", clock.now()))
    ceiling = money.percent(store.get("tools", row["tool"])["deposit"], CEILING_PERCENT)
    return min(late * DAILY, ceiling)


def quote_ends(asked: float) -> float:
    """Until when a repair is done at the price that was named."""
    return asked + QUOTE_HOURS * clock.HOUR


def pay(store: Store, fee: int, cents: int) -> int:
    """Take money for a fee; the number of the payment. Raises Conflict for more than is owed."""
    row = store.get("fees", fee)
    if row["state"] != "open":
        raise Conflict(f"the fee is {row['state']}")
    paid = row["paid"] + cents
    if paid > row["cents"]:
        raise Conflict("that is more than is owed")
    store.put("fees", fee, paid=paid, state="paid" if paid == row["cents"] else "open")
    return store.add("payments", fee=fee, cents=cents, state="taken")


def donate(store: Store, member: int, cents: int) -> int:
    """Take a gift."""
    store.get("members", member)
    return store.add("gifts", member=member, cents=cents)


def refund(store: Store, actor: str, payment: int) -> Row:
    """Give a payment back. Raises Conflict when that was done."""
    auth.staff(store, actor)
    row = store.get("payments", payment)
    if row["state"] != "taken":
        raise Conflict("it was given back")
    fee = store.get("fees", row["fee"])
    store.put("fees", fee["id"], paid=fee["paid"] - row["cents"], state="open")
    return store.put("payments", payment, state="returned")


def waive(store: Store, actor: str, fee: int) -> Row:
    """Forget a fee. Raises Conflict for one that is settled."""
    auth.staff(store, actor)
    if store.get("fees", fee)["state"] != "open":
        raise Conflict("nothing is owed")
    return store.put("fees", fee, state="waived")


def transfer(store: Store, fee: int, member: int) -> Row:
    """Let another member owe a fee, as in a family. Raises NotFound, Conflict."""
    row = store.put("fees", fee, member=member)
    if row["state"] != "open":
        raise Conflict("nothing is owed")
    store.get("members", member)
    store.add("letters", member=member, about=fee)
    return row


def open_fees(store: Store, member: int) -> list[Row]:
    """What a member still owes."""
    return store.find("fees", member=member, state="open")


def balance(store: Store, member: int) -> int:
    """The sum that a member still owes."""
    return money.total(row["cents"] - row["paid"] for row in open_fees(store, member))


def statement(store: Store, member: int) -> str:
    """The fees of a member as text, one a line, with the sum."""
    lines = [
        f"{row['reason']}: {money.format_sum(row['cents'] - row['paid'])}"
        for row in open_fees(store, member)
    ]
    return "\n".join((*lines, f"total: {money.format_sum(balance(store, member))}"))
