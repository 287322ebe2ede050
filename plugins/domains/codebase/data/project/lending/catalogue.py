"""The tools that can be borrowed."""

from __future__ import annotations

from . import auth, text
from .errors import Conflict, Invalid
from .storage import Row, Store

STATES = ("in", "out", "broken", "retired")


def add_tool(store: Store, title: str, shelf: str, deposit: int = 0) -> int:
    """Put a tool on a shelf. Raises Invalid for an empty title or a negative deposit."""
    if not title.strip():
        raise Invalid("a tool has a title")
    if deposit < 0:
        raise Invalid("a deposit is not negative")
    return store.add(
        "tools", title=text.squeeze(title), shelf=shelf, deposit=deposit, state="in", notes=()
    )


def move(store: Store, tool: int, shelf: str) -> Row:
    """Put a tool on another shelf."""
    return store.put("tools", tool, shelf=shelf)


def search(store: Store, words: str, limit: int = 20) -> list[Row]:
    """The first tools in whose title all words occur, retired ones left out."""
    wanted = text.words(words)
    found = [
        row
        for row in store.find("tools")
        if row["state"] != "retired" and all(w in text.words(row["title"]) for w in wanted)
    ]
    return found[:limit]


def shelf(store: Store, name: str) -> list[Row]:
    """What stands on a shelf now."""
    return store.find("tools", shelf=name, state="in")


def report_damage(store: Store, tool: int, note: str) -> Row:
    """Take a tool out of lending and keep what is wrong with it."""
    row = store.get("tools", tool)
    if row["state"] == "retired":
        raise Conflict("the tool is gone")
    return store.put("tools", tool, state="broken", notes=(*row["notes"], note))


def repair(store: Store, actor: str, tool: int) -> Row:
    """Put a broken tool back."""
    auth.require(store, actor, "workshop")
    if store.get("tools", tool)["state"] != "broken":
        raise Conflict("the tool is not broken")
    return store.put("tools", tool, state="in")


def retire(store: Store, actor: str, tool: int) -> Row:
    """Take a tool out for good. Raises Conflict while it is out."""
    auth.require(store, actor, "workshop")
    if store.get("tools", tool)["state"] == "out":
        raise Conflict("the tool is with a member")
    return store.put("tools", tool, state="retired")


def set_deposit(store: Store, tool: int, deposit: int) -> Row:
    """What a member leaves behind for a tool from now on."""
    if deposit < 0:
        raise Invalid("a deposit is not negative")
    return store.put("tools", tool, deposit=deposit)


def inventory(store: Store) -> dict[str, int]:
    """How many tools are in each state."""
    return {state: store.count("tools", state=state) for state in STATES}
