"""Figures for the committee."""

from __future__ import annotations

from . import clock, money
from .storage import Row, Store


def takings(store: Store) -> list[Row]:
    """What came in, by where it came from."""
    paid = money.total(row["cents"] for row in store.find("payments", state="taken"))
    gifts = money.total(row["cents"] for row in store.find("gifts"))
    return [
        {"source": "fees", "amount": paid},
        {"source": "gifts", "amount": gifts},
    ]


def busiest_tools(store: Store, top: int = 5) -> list[tuple[str, int]]:
    """The tools that went out most often, with how often."""
    counts: dict[int, int] = {}
    for row in store.find("loans"):
        counts[row["tool"]] = counts.get(row["tool"], 0) + 1
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [(store.get("tools", tool)["title"], count) for tool, count in ranked[:top]]


def late_share(store: Store) -> float:
    """The share of loans that came back late, of those that came back."""
    back = store.find("loans", state="back")
    if not back:
        return 0.0
    return sum(bool(row["ended"] > row["due"]) for row in back) / len(back)


def loans_by_day(store: Store) -> dict[str, int]:
    """How many tools went out on each day."""
    counts: dict[str, int] = {}
    for row in store.find("loans"):
        day = clock.iso_day(row["start"])
        counts[day] = counts.get(day, 0) + 1
    return counts


def membership(store: Store) -> dict[str, int]:
    """How many members are in each state."""
    counts: dict[str, int] = {}
    for row in store.find("members"):
        counts[row["state"]] = counts.get(row["state"], 0) + 1
    return counts
