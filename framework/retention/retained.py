"""Which gold items a view holds (design.md "retained": P_ret and the surface ceiling)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from framework.records import Gold, GoldItem, MemoryView
from framework.retention.currency import stated_as_current, stated_as_fact
from framework.values import contains, find_values, occurrences

__all__ = ["binds", "claims", "closure", "facts", "intact", "required", "retained"]


def retained(gold: Gold, view: MemoryView) -> dict[str, bool]:
    """For every gold item's id, whether the view holds it; in the order of `gold.items`.

    An item is held when the view has

    - one of its spans intact: verbatim within one view item, with no word or number running on; or
    - all its anchors as typed values, stated as current, in one sentence or line that also has one
      of its bindings or its key as words; or
    - everything that it is derived from (see `closure`).
    """
    # No span holds the separator, so a match never runs from one view item into the next.
    text = "\0".join(item.text for item in view.items)
    held = {item.id for item in gold.items if any(intact(s.text, text) for s in item.spans)}
    missing = [item for item in gold.items if item.id not in held and item.anchors]
    if missing:
        said = [statement for item in view.items for statement in _statements(item.text)]
        held.update(item.id for item in missing if _stated(item, said))
    known = closure(gold.items, held)
    return {item.id: item.id in known for item in gold.items}


def closure(items: Iterable[GoldItem], held: Set[str]) -> frozenset[str]:
    """`held` and every item all of whose sources (`derived_from`) are in the closure."""
    known = set(held)
    waiting = [item for item in items if item.derived_from and item.id not in known]
    while derived := {item.id for item in waiting if known.issuperset(item.derived_from)}:
        known |= derived
        waiting = [item for item in waiting if item.id not in derived]
    return frozenset(known)


def facts(gold: Gold) -> tuple[GoldItem, ...]:
    """The facts that an answer is asked for: those with a value."""
    return tuple(item for item in gold.items if item.kind == "fact" and item.anchors)


def required(gold: Gold) -> tuple[GoldItem, ...]:
    """The items that the decision turned on; all of them where the domain marks none."""
    return tuple(item for item in gold.items if item.critical) or gold.items


def intact(span: str, text: str) -> bool:
    """Whether `text` holds `span` verbatim, with no word or number running on at either end."""
    start = text.find(span)
    while start >= 0:
        if not (_RUNS_ON.match(text, start) or _RUNS_ON.match(text, start + len(span))):
            return True
        start = text.find(span, start + 1)
    return False


_RUNS_ON: Final = re.compile(r"(?<=\w)(?=\w)|(?<=\d)(?=[.,]\d|%)|(?<=\d[.,])(?=\d)|(?<=\$)(?=\d)")


# --------------------------------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class _Statement:
    """A sentence or line. `is_rule`: it begins with a provision's code and sets a condition."""

    text: str
    folded: str
    is_rule: bool


_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_AFTER_CODE: Final = re.compile(r"\s*(?:\([^()]*\)\s*)?\.\Z")
_CONDITION: Final = re.compile(r"\b(?:if|where|when|unless)\b", re.IGNORECASE)


@lru_cache(maxsize=1 << 14)
def _statements(text: str) -> tuple[_Statement, ...]:
    """Sentences and lines of `text`; a code that leads a sentence (`UP-2.`) stays with it."""
    found: list[_Statement] = []
    code = ""
    for part in _SENTENCE_END.split(text):
        piece = f"{code} {part.strip()}".strip()
        if not piece:
            continue
        (value, *_) = find_values(piece) or (None,)
        coded = value is not None and value.start == 0 and value.type == "provision"
        if coded and not code and value is not None and _AFTER_CODE.match(piece, value.end):
            code = piece
            continue
        code = ""
        is_rule = coded and _CONDITION.search(piece) is not None
        found.append(_Statement(piece, piece.casefold(), is_rule))
    if code:
        found.append(_Statement(code, code.casefold(), False))
    return tuple(found)


def _stated(item: GoldItem, said: Iterable[_Statement]) -> bool:
    names = [name for name in (*item.bindings, item.key) if name]
    anchors = [(anchor, _type(item, anchor)) for anchor in item.anchors]
    current = stated_as_fact if item.kind == "fact" else stated_as_current
    # A threshold in a rule does not state the fact that the rule is about.
    may_be_rule = item.kind != "fact"
    return any(
        all(
            any(current(statement.text, *place) for place in occurrences(statement.text, *anchor))
            for anchor in anchors
        )
        for statement in _naming(names, said)
        if may_be_rule or not statement.is_rule
    )


def binds(text: str, value: str, type: str, names: Sequence[str]) -> bool:
    """Whether one sentence or line has the value, in any standing, and a name of its fact."""
    return any(
        contains(said.text, value, type)
        for said in _naming(names, _statements(text))
        if not said.is_rule
    )


def claims(text: str, value: str, type: str, names: Sequence[str]) -> str:
    """The first sentence or line of `text` that states the value as the fact's current one.

    Empty when none does. `names` are the words for the fact, one of which the sentence must have.
    """
    for said in _naming(names, _statements(text)):
        places = occurrences(said.text, value, type)
        if not said.is_rule and any(stated_as_fact(said.text, *place) for place in places):
            return said.text
    return ""


def _naming(names: Sequence[str], said: Iterable[_Statement]) -> Iterator[_Statement]:
    """The statements that have one of the names, as whole words."""
    folded = [(name.casefold(), name) for name in names]
    for statement in said:
        if any(
            fold in statement.folded and contains(statement.text, name, "") for fold, name in folded
        ):
            yield statement


def _type(item: GoldItem, anchor: str) -> str:
    """The anchor's type: the item's, or, for an item without one, what the anchor reads as."""
    if item.type:
        return item.type
    (value, *rest) = find_values(anchor) or (None,)
    return value.type if value is not None and not rest and value.text == anchor.strip() else ""
