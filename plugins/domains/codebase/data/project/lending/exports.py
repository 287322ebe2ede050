"""Rows for others: files that are picked up by partners and by the desk."""

from __future__ import annotations

import csv
import io

from . import clock
from .storage import Row, Store


def partner_rows(store: Store) -> list[Row]:
    """The members that partner libraries lend to as well."""
    return [
        {
            "name": row["name"],
            "email": row["email"],
            "phone": row["phone"],
            "birthday": row["birthday"],
            "state": row["state"],
        }
        for row in store.find("members", state="active")
    ]


def insurer_rows(store: Store) -> list[Row]:
    """Who has which tool, for the insurance."""
    rows = []
    for loan in store.find("loans", state="out"):
        member = store.get("members", loan["member"])
        rows.append(
            {
                "name": member["name"],
                "phone": member["phone"],
                "birthday": member["birthday"],
                "tool": store.get("tools", loan["tool"])["title"],
                "due": clock.iso_day(loan["due"]),
            }
        )
    return rows


def survey_rows(store: Store) -> list[Row]:
    """The members whom the university asks how they like it here."""
    return [
        {
            "member": row["id"],
            "email": row["email"],
            "phone": row["phone"],
            "birthday": row["birthday"],
            "feedback": store.count("feedback", member=row["id"]),
        }
        for row in store.find("members")
        if row["state"] != "closed"
    ]


def desk_card(store: Store, member: int) -> Row:
    """What the desk prints on a member's card."""
    row = store.get("members", member)
    return {"name": row["name"], "document": row["document"], "member": row["id"]}


def invoice_rows(store: Store) -> list[Row]:
    """What is owed, for the bookkeeper."""
    return [
        {"fee": row["id"], "member": row["member"], "amount": row["cents"] - row["paid"]}
        for row in store.find("fees", state="open")
    ]


def tool_rows(store: Store) -> list[Row]:
    """The tools with their shelves, for the yearly count."""
    return [
        {"tool": row["id"], "title": row["title"], "shelf": row["shelf"], "state": row["state"]}
        for row in store.find("tools")
    ]


def as_csv(rows: list[Row]) -> str:
    """Rows as text, their keys in the first line; empty without rows."""
    if not rows:
        return ""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
