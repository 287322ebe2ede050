"""Who did what, for the yearly review."""

from __future__ import annotations

from . import clock
from .storage import Row, Store


def record(store: Store, actor: str, action: str, subject: int) -> int:
    """Enter that `actor` did `action` to the row numbered `subject`."""
    return store.add("audit", actor=actor, action=action, subject=subject, at=clock.now())


def entries(store: Store, action: str = "") -> list[Row]:
    """What was entered, of one action or of all."""
    return store.find("audit", action=action) if action else store.find("audit")


def summary(store: Store) -> dict[str, int]:
    """How often each action was entered."""
    counts: dict[str, int] = {}
    for row in entries(store):
        counts[row["action"]] = counts.get(row["action"], 0) + 1
    return counts
