"""Which gold items a view holds (P_ret and the surface ceiling)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from framework.records import Gold, GoldItem, MemoryView
from framework.retention.staleness import stated_as_current, stated_as_fact
from framework.text.values import contains, find_values, occurrences


def retained(
    gold: Gold, view: MemoryView, states: Callable[[GoldItem, str], bool] | None = None
) -> dict[str, bool]:
    """For every gold item's id, whether the view holds it; in the order of `gold.items`.

    An item is held when the view has

    - one of its spans intact: verbatim within one view item, with no word or number running on; or
    - all its anchors as typed values, stated as current, in one sentence or line that also has one
      of its bindings or its key as words by each of them (`_Names.by`); or
    - for a passage without anchors, a sentence that `states` it (`Domain.states`); or
    - everything that it is derived from (see `closure`).
    """
    # No span holds the separator, so a match never runs from one view item into the next.
    text = "\0".join(item.text for item in view.items)
    held = {item.id for item in gold.items if any(intact(s.text, text) for s in item.spans)}
    missing = [item for item in gold.items if item.id not in held and item.anchors]
    if missing:
        folded = text.casefold()
        texts = [(item.text, item.text.casefold()) for item in view.items]
        for item in missing:
            names = _Names.of((*item.bindings, item.key))
            if names.may_be_in(folded) and _stated(item, names, names.statements(texts)):
                held.add(item.id)
    prose = [i for i in gold.items if i.id not in held and i.kind == "passage" and not i.anchors]
    if prose and states is not None:
        said = [statement.text for item in view.items for statement in _statements(item.text)]
        held |= {item.id for item in prose if any(states(item, text) for text in said)}
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
    """A sentence or line. `coded`: a provision's code leads it, as in a policy's rule."""

    text: str
    folded: str
    coded: bool

    @property
    def is_rule(self) -> bool:
        """Whether it sets a condition, so that its values are no statements of facts."""
        return self.coded or _CONDITION.search(self.text) is not None


@dataclass(frozen=True, slots=True)
class _Names:
    """The words for one thing, with the longest word of each to look for first."""

    names: tuple[str, ...]
    probes: tuple[str, ...]

    @classmethod
    def of(cls, names: Iterable[str]) -> _Names:
        given = tuple(name for name in names if name.strip())
        return cls(given, tuple(max(name.casefold().split(), key=len) for name in given))

    def may_be_in(self, folded: str) -> bool:
        return any(probe in folded for probe in self.probes)

    def statements(self, texts: Iterable[tuple[str, str]]) -> Iterator[_Statement]:
        """The statements of `texts`, given with their casefolded form, that have a name."""
        for text, folded in texts:
            if self.may_be_in(folded):
                for said in _statements(text):
                    if self.may_be_in(said.folded) and any(
                        contains(said.text, name, "") for name in self.names
                    ):
                        yield said

    def by(self, text: str, start: int, end: int, others: int) -> bool:
        """Whether a name stands by the value at [start, end): else a list binds all to all.

        That is within `_REACH` characters, with at most so many other values of its type nearer.
        """
        values = find_values(text)
        type_ = next((v.type for v in values if v.start <= start < v.end), None)
        same = [v for v in values if v.type == type_ and not v.start <= start < v.end]
        for name in self.names:
            for a, b in occurrences(text, name, ""):
                gap = max(start - b, a - end)
                nearer = sum(max(v.start - b, a - v.end) < gap for v in same)
                if gap <= _REACH and nearer <= others:
                    return True
        return False


_REACH: Final = 160
"""Characters between a value and its name: those of a long sentence."""
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_AFTER_CODE: Final = re.compile(r"\s*(?:\([^()]*\)\s*)?\.\Z")
_LONGEST_CODE: Final = 60
_CONDITION: Final = re.compile(r"\b(?:if|unless|where)\b", re.IGNORECASE)


@lru_cache(maxsize=1 << 12)
def _statements(text: str) -> tuple[_Statement, ...]:
    """Sentences and lines of `text`; a code that leads a sentence (`UP-2.`) stays with it."""
    found: list[_Statement] = []
    code = ""
    for part in _SENTENCE_END.split(text):
        sentence = part.strip()
        if not sentence:
            continue
        if not code and _is_code(sentence):
            code = sentence
            continue
        whole = f"{code} {sentence}" if code else sentence
        found.append(_Statement(whole, whole.casefold(), bool(code)))
        code = ""
    if code:
        found.append(_Statement(code, code.casefold(), True))
    return tuple(found)


def _is_code(sentence: str) -> bool:
    """Whether it is a provision's code and a full stop, with at most a remark in brackets."""
    if len(sentence) > _LONGEST_CODE or not sentence.endswith("."):
        return False
    (value, *_) = find_values(sentence) or (None,)
    return (
        value is not None
        and value.type == "provision"
        and value.start == 0
        and _AFTER_CODE.match(sentence, value.end) is not None
    )


def _stated(item: GoldItem, names: _Names, said: Iterable[_Statement]) -> bool:
    """Whether one of the statements has all the item's anchors, each stated as current."""
    anchors = [(anchor, _type(item, anchor)) for anchor in item.anchors]
    is_fact = item.kind == "fact"
    current = stated_as_fact if is_fact else stated_as_current
    return any(
        all(
            any(
                current(statement.text, *place)
                and names.by(statement.text, *place, others=len(anchors))
                for place in occurrences(statement.text, *anchor)
            )
            for anchor in anchors
        )
        for statement in said
        # A threshold in a rule does not state the fact that the rule is about.
        if not (is_fact and statement.is_rule)
    )


def binds(text: str, value: str, type: str, names: Iterable[str]) -> bool:
    """Whether one sentence or line has the value, in any standing, and a name of its fact."""
    return any(
        contains(said.text, value, type) and not said.is_rule
        for said in _Names.of(names).statements([(text, text.casefold())])
    )


def claims(text: str, value: str, type: str, names: Iterable[str]) -> str:
    """The first sentence or line of `text` that states the value as the fact's current one.

    Empty when none does. `names` are the words for the fact, one of which the sentence must have.
    """
    for said in _Names.of(names).statements([(text, text.casefold())]):
        places = occurrences(said.text, value, type)
        if any(stated_as_fact(said.text, *place) for place in places) and not said.is_rule:
            return said.text
    return ""


def _type(item: GoldItem, anchor: str) -> str:
    """The anchor's type: the item's, or, for an item without one, what the anchor reads as."""
    if item.type:
        return item.type
    (value, *rest) = find_values(anchor) or (None,)
    return value.type if value is not None and not rest and value.text == anchor.strip() else ""
