"""The pair of views of an intervention: equal but for what states the required gold.

A *stretch* of a view is the sentences that state a required gold item, or one that it follows from.
The view `inserted` has every stretch, and what the memory did not show is put in, each item by its
shortest span, as an item of the view of its own, for as many tokens of other words that go.
In the view `removed` every stretch is replaced by other text of the same history, and nothing is
put in. Both have the same number of tokens and differ in those places alone: `removed` is the view
itself where the memory showed nothing required, `inserted` where it showed it all.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, Literal

from framework.contracts import Domain
from framework.records import Case, Event, Gold, GoldItem, Item, MemoryView
from framework.retention import retained
from framework.text.counting import counted
from framework.text.sentences import sentence_ends
from framework.text.tokens import count_tokens

INSERTED: Final = "inserted"
REMOVED: Final = "removed"
Place = Literal["random", "first", "last"]

_WORD: Final = re.compile(r"\S+")
_TRIES: Final = 400
"""Sentences of a history that are sampled for one replacement before it is given up."""


class CannotIntervene(Exception):
    """Why a case has no such pair of views."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    """A word of the view that states no gold: its item, its place in the text, its tokens.

    begins : whether a sentence begins with it. ends : whether its item ends with it.
    """

    item: int
    start: int
    end: int
    tokens: int
    begins: bool
    ends: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """What is between two places of an item's text in either view."""

    item: int
    start: int
    end: int
    inserted: str
    removed: str


def pair_of(
    domain: Domain[Any], case: Case, view: MemoryView, events: Iterable[Event], place: Place
) -> dict[str, MemoryView]:
    """The views `inserted` and `removed` of a case, of as many tokens each.

    place : which of the view's other words go for an item that the memory did not show: a run of
    them sampled by the case's id, the first or the last; it is put in behind the item that held
    them. Where there are not so many, both views have an item more at their end, which is other
    text in `removed`, as far as the budget has room. Raises CannotIntervene.
    """
    made = _Pair(domain, case, view, list(events), place).views()
    for name, wanted in ((INSERTED, True), (REMOVED, False)):
        kept = retained(case.gold, made[name], partial(domain.states, case))
        if domain.sufficient(case, kept) is not wanted:
            raise CannotIntervene(f"{name}: the domain's rule of what suffices says otherwise")
    return made


def _with_sources(gold: Gold) -> Gold:
    """The required items and whatever they follow from, all of it required."""
    known = {item.id: item for item in gold.items}
    wanted: dict[str, GoldItem] = {}
    waiting = list(gold.required)
    while waiting:
        item = waiting.pop()
        if item.id not in wanted:
            wanted[item.id] = item
            waiting += [known[id_] for id_ in item.derived_from if id_ in known]
    return replace(gold, items=tuple(item for item in gold.items if item.id in wanted))


class _Pair:
    """One case's pair, while it is made."""

    def __init__(
        self, domain: Domain[Any], case: Case, view: MemoryView, events: list[Event], place: Place
    ) -> None:
        self._gold = case.gold
        self._essential = _with_sources(case.gold)
        self._states = partial(domain.states, case)
        self._view = view
        self._events = events
        self._place = place
        self._chance = random.Random(case.id)

    def views(self) -> dict[str, MemoryView]:
        required = [item.id for item in self._gold.required]
        if not required:
            raise CannotIntervene("the case requires no gold item")
        texts = [item.text for item in self._view.items]
        essential = [
            (i, a, b)
            for i, text in enumerate(texts)
            for a, b in self._stretches(text, self._essential)
        ]
        changes = [
            _Change(
                item=i,
                start=a,
                end=b,
                inserted=texts[i][a:b],
                removed=self._other(count_tokens(texts[i][a:b])),
            )
            for i, a, b in essential
        ]
        of_gold = [
            *essential,
            *((i, a, b) for i, t in enumerate(texts) for a, b in self._stretches(t, self._gold)),
        ]
        free = [word for word in _words(texts) if not _within(word, of_gold)]
        put: dict[int, list[str]] = {}
        added: list[tuple[str, str]] = []
        room = self._room()
        for text in self._missing(texts):
            tokens = count_tokens(text)
            run = self._run(free, tokens)
            if run:
                free = [word for word in free if word not in run]
                changes += _cut(run, texts)
                put.setdefault(run[0].item, []).append(text)
            elif room is None or tokens <= room:
                room = None if room is None else room - tokens
                added.append((text, self._other(tokens)))
            else:
                raise CannotIntervene(f"no room for {counted(tokens, 'token')} of gold")
        for text, _ in added:
            put.setdefault(len(texts), []).append(text)
        instead = {len(texts): [text for _, text in added]}
        inserted = self._made(changes, put, attrgetter(INSERTED))
        removed = self._made(changes, instead, attrgetter(REMOVED))
        if not all(self._holds(inserted, self._gold)[id_] for id_ in required):
            raise CannotIntervene("an item can't be put in so that the view states it")
        if any(self._holds(removed, self._gold)[id_] for id_ in required):
            raise CannotIntervene("an item can't be taken out")
        if inserted.tokens != removed.tokens:
            raise CannotIntervene("no other text of as many tokens")
        return {INSERTED: inserted, REMOVED: removed}

    def _room(self) -> int | None:
        limit = self._view.budget_tokens
        return None if limit is None else limit - self._view.tokens

    def _holds(self, view: MemoryView, gold: Gold) -> dict[str, bool]:
        return retained(gold, view, self._states)

    def _says(self, text: str, gold: Gold) -> bool:
        """Whether a text alone states something of the gold."""
        view = MemoryView(items=(Item(id="", text=text),), tokens=0, budget_tokens=None)
        return any(self._holds(view, gold).values())

    def _stretches(self, text: str, gold: Gold) -> list[tuple[int, int]]:
        """Where an item's text states gold, as whole sentences, in order and apart."""
        if not self._says(text, gold):
            return []
        found = [(a, b) for a, b in _sentences(text) if self._says(text[a:b], gold)]
        for span in (span.text for item in gold.items for span in item.spans):
            start = text.find(span)
            while start >= 0:
                found.append(_to_words(text, start, start + len(span)))
                start = text.find(span, start + len(span))
        joined: list[tuple[int, int]] = []
        for a, b in sorted(found):
            if joined and a < joined[-1][1]:
                joined[-1] = joined[-1][0], max(b, joined[-1][1])
            else:
                joined.append((a, b))
        left = _without(text, joined)
        return [(0, len(text))] if self._says(left, gold) else joined

    def _missing(self, texts: Sequence[str]) -> list[str]:
        """Spans of the items that the view does not hold, the shortest of each, no text twice."""
        arrived = {event.id for event in self._events}
        known = {item.id: item for item in self._gold.items}
        held = self._holds(self._view, self._gold)
        waiting = [item for item in self._gold.required if not held[item.id]]
        found: dict[str, None] = {}
        while waiting:
            item = waiting.pop(0)
            spans = [span.text for span in item.spans if span.source_id in arrived]
            if spans:
                found[min(spans, key=lambda text: (count_tokens(text), text))] = None
            elif item.derived_from:
                waiting += [known[i] for i in item.derived_from if i in known and not held[i]]
            else:
                raise CannotIntervene(f"{item.id} has no text of its own")
        return [text for text in found if not any(text in other != text for other in found)]

    def _run(self, free: Sequence[_Word], tokens: int) -> list[_Word]:
        """A run of other words of exactly so many tokens; empty where there is none.

        Within one item rather than across several, at its end and from the start of a sentence
        rather than within.
        """
        runs = _runs(free, tokens)
        if not runs:
            return []

        def rank(run: list[_Word]) -> tuple[bool, int]:
            return len({word.item for word in run}) > 1, (not run[-1].ends) + (not run[0].begins)

        best = min(map(rank, runs))
        runs = [run for run in runs if rank(run) == best]
        if self._place == "random":
            return self._chance.choice(runs)
        return runs[0] if self._place == "first" else runs[-1]

    def _other(self, tokens: int) -> str:
        """Other text of the same history, of exactly so many tokens, that states no gold."""
        parts: list[str] = []
        left = tokens
        for sentence in self._sampled():
            taken = []
            for word in sentence.split():
                n = count_tokens(word)
                if n > left:
                    break
                taken.append(word)
                left -= n
            part = " ".join(taken)
            if part and self._says("\n".join([*parts, part]), self._gold):
                left += count_tokens(part)
            elif part:
                parts.append(part)
            if not left:
                return "\n".join(parts)
        raise CannotIntervene(f"the history has no other text of {counted(tokens, 'token')}")

    def _sampled(self) -> Iterator[str]:
        """Sentences of the history that the view does not show, sampled at random."""
        for _ in range(_TRIES):
            text = self._chance.choice(self._events).text
            if text not in self._view.text:
                start, end = self._chance.choice(_sentences(text) or [(0, 0)])
                if text[start:end] not in self._view.text:
                    yield text[start:end]

    def _made(
        self,
        changes: Iterable[_Change],
        put: Mapping[int, Sequence[str]],
        side: Callable[[_Change], str],
    ) -> MemoryView:
        """The view with one side of every change, and what is put in behind its items."""
        texts = [item.text for item in self._view.items]
        for change in sorted(changes, key=lambda c: (c.item, c.start), reverse=True):
            text = texts[change.item]
            texts[change.item] = text[: change.start] + side(change) + text[change.end :]
        items: list[Item] = []
        for index, text in enumerate([*texts, ""]):
            if text.strip():
                items.append(replace(self._view.items[index], text=text))
            items += [
                Item(id=f"put-in#{index}.{n}", text=t) for n, t in enumerate(put.get(index, ()))
            ]
        return MemoryView(
            items=tuple(items),
            tokens=sum(count_tokens(item.text) for item in items),
            budget_tokens=self._view.budget_tokens,
        )


def _cut(run: Sequence[_Word], texts: Sequence[str]) -> Iterator[_Change]:
    """A run of words that goes, in its pieces."""
    for _, words in groupby(_pieces(run, texts), key=lambda pair: pair[0]):
        piece = [word for _, word in words]
        item, start, end = piece[0].item, piece[0].start, piece[-1].end
        yield _Change(item=item, start=start, end=end, inserted="", removed=texts[item][start:end])


def _pieces(run: Sequence[_Word], texts: Sequence[str]) -> Iterator[tuple[int, _Word]]:
    """Each word of a run with the number of its piece: words with nothing else between them."""
    number = 0
    for before, word in zip([None, *run], run, strict=False):
        if before is not None and (
            before.item != word.item or texts[word.item][before.end : word.start].strip()
        ):
            number += 1
        yield number, word


def _runs(free: Sequence[_Word], tokens: int) -> list[list[_Word]]:
    """All runs of words, in their order, whose tokens sum to `tokens`."""
    found = []
    start = total = 0
    for end, word in enumerate(free, 1):
        total += word.tokens
        while total > tokens:
            total -= free[start].tokens
            start += 1
        if total == tokens and start < end:
            found.append(list(free[start:end]))
    return found


def _words(texts: Sequence[str]) -> list[_Word]:
    found = []
    for index, text in enumerate(texts):
        starts = {start for start, _ in _sentences(text)}
        for word in _WORD.finditer(text):
            found.append(
                _Word(
                    item=index,
                    start=word.start(),
                    end=word.end(),
                    tokens=count_tokens(word.group()),
                    begins=word.start() in starts,
                    ends=not text[word.end() :].strip(),
                )
            )
    return found


def _within(word: _Word, stretches: Iterable[tuple[int, int, int]]) -> bool:
    return any(i == word.item and a < word.end and word.start < b for i, a, b in stretches)


def _sentences(text: str) -> list[tuple[int, int]]:
    """Where each sentence of a text is, without surrounding white space."""
    ends = sentence_ends(text)
    found = []
    for a, b in zip([0, *(s for _, s in ends)], [*(e for e, _ in ends), len(text)], strict=True):
        part = text[a:b]
        if part.strip():
            start = a + len(part) - len(part.lstrip())
            found.append((start, start + len(part.strip())))
    return found


def _to_words(text: str, start: int, end: int) -> tuple[int, int]:
    """A stretch widened to whole words."""
    while start > 0 and not text[start - 1].isspace():
        start -= 1
    while end < len(text) and not text[end].isspace():
        end += 1
    return start, end


def _without(text: str, stretches: Iterable[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in stretches:
        parts.append(text[at:start])
        at = end
    return "\n".join([*parts, text[at:]])
