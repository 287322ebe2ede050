"""`domain=lifecycle`: the scripts that `protocol=lifecycle` takes a memory through."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from typing import ClassVar, Final

from framework.bounds import Bounded
from framework.contracts import Domain, Provenance
from framework.errors import UserError
from framework.records import Case, Event, Gold, Retired, TaskCard
from framework.registry import register
from framework.text.canonical import digest
from plugins.protocols.lifecycle import notes, script
from plugins.protocols.lifecycle.notes import Office
from plugins.protocols.lifecycle.script import Search, operation, plain_event, plain_searches

NOMINAL: Final = 1_000
"""Tokens that a history of 36 notes has, about; budgets are ratios of it."""
FOUND: Final = 20
"""Facts that are searched for in a memory that grows, and queries that are timed."""
_WRITTEN: Final = 12
"""Facts that several writers write at once."""
_WRITERS: Final = 4
_FLOOD: Final = 24
"""Documents of one false value, where a source floods a memory."""
_TIMED: Final = 20
"""Single writes that are timed at each size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleSettings(Bounded):
    """sizes : events of the memories whose writes and searches are timed, at least 40 each."""

    sizes: tuple[int, ...] = (100, 1_000)

    def __post_init__(self) -> None:
        Bounded.__post_init__(self)
        if any(size < 2 * FOUND for size in self.sizes):
            raise ValueError(f"sizes: {list(self.sizes)} given, each at least {2 * FOUND} expected")


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A script, and what is asked at its end.

    wanted : the value that has to be told; gone : one that must not be, or not first. ids : of the
    events that are deleted.
    """

    events: Sequence[Event]
    query: str
    wanted: str = ""
    gone: str = ""
    ids: tuple[str, ...] = ()


@register("domain", "lifecycle")
class Lifecycle(Domain[LifecycleSettings]):
    """Synthetic notes to probe deletion, correction, poison, tenants, concurrency and growth.

    Synthetic: notes of an office, each telling who has which code. A history is a script of such
    notes and of operations between them, which `protocol=lifecycle` goes through. A case is a
    probe: one for each size, then `PROBES` again and again, each time of another office. Stratum:
    the probe. The codes stand nowhere else, so that no judge is needed to see what is told.
    """

    provenance: Provenance = Provenance(
        source="generated",
        revision="1",
        licence="MIT",
        citation="DecisionBench",
    )
    provides: ClassVar[tuple[str, ...]] = ("lifecycle",)
    headline: ClassVar[tuple[str, ...]] = (
        "gone",
        "gone_by_id",
        "neighbours_kept",
        "told_again",
    )
    protocols: ClassVar[tuple[str, ...]] = ("lifecycle",)

    @property
    def nominal_tokens(self) -> int:
        return NOMINAL

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        if n is None:
            raise UserError("n_cases: null given; probes have no end, so a number is expected")
        return islice((self._case(seed, index) for index in count()), n)

    def history(self, history_id: str) -> Iterator[Event]:
        seed, _, index = history_id.removeprefix("life-s").partition("-")
        yield from self._probe(int(seed), int(index)).events

    def digest(self) -> str:
        return digest([self.version, *PROBES])

    def _case(self, seed: int, index: int) -> Case:
        probe, name = self._probe(seed, index), self._name(index)
        return Case(
            id=f"{name.replace('=', '_')}-s{seed}-{index:04d}",
            history_id=f"life-s{seed}-{index:04d}",
            task=TaskCard(instruction="Find what the notes say.", query=probe.query),
            gold=Gold(
                answer=probe.wanted,
                evidence=probe.ids,
                retired=(Retired(key="value", type="identifier", value=probe.gone),)
                if probe.gone
                else (),
            ),
            stratum=name,
            tags={"probe": name.partition("=")[0]},
        )

    def _name(self, index: int) -> str:
        sizes = self.settings.sizes
        if index < len(sizes):
            return f"growth={sizes[index]}"
        return list(PROBES)[(index - len(sizes)) % len(PROBES)]

    def _probe(self, seed: int, index: int) -> Probe:
        sizes = self.settings.sizes
        if index < len(sizes):
            return _growth(random.Random(f"{seed}/growth/{sizes[index]}"), sizes[index])
        turn = (index - len(sizes)) // len(PROBES)
        # Of one turn all probes are of one office, so that they can be set beside each other.
        rng = random.Random(f"{seed}/{turn}")
        return PROBES[self._name(index)](notes.office(rng), turn)


def _deletion(made: Office, turn: int, way: str = "own") -> Probe:
    fact = made.facts[0]
    asked = notes.queries(fact, made.near)

    def searches(moment: str) -> list[dict[str, str]]:
        deleted = [
            Search(what="deleted", moment=moment, query=query, value=fact.value) for query in asked
        ]
        near = [
            Search(what="near", moment=moment, query=one.words, value=one.value)
            for one in made.near
        ]
        return plain_searches([*deleted, *near])

    return Probe(
        events=(
            *made.notes,
            operation(1, script.SEARCH, searches=searches("before")),
            operation(2, script.FORGET, ids=list(made.told), way=way),
            operation(3, script.SEARCH, searches=searches("after")),
        ),
        query=fact.words,
        gone=fact.value,
        ids=made.told,
    )


def _deletion_by_id(made: Office, turn: int) -> Probe:
    return _deletion(made, turn, way="by_id")


def _retold(made: Office, turn: int) -> Probe:
    """Deleted, and told again: under the id that the note had, or, every other turn, a new one."""
    fact = made.facts[0]
    again = next(note for note in made.notes if note.id == made.told[0])
    if turn % 2:
        again = replace(again, id="late")
    return Probe(
        events=(
            *made.notes,
            operation(1, script.FORGET, ids=list(made.told), way="own"),
            notes.event("x0", notes.visit(7), 40),
            operation(2, script.WRITE, event=plain_event(again)),
            notes.event("x1", notes.visit(8), 41),
        ),
        query=fact.words,
        wanted=fact.value,
        ids=made.told,
    )


def _correction(made: Office, turn: int) -> Probe:
    """Corrected after the memory was asked, as a late note."""
    old = made.facts[0]
    new = replace(old, value=made.spare[0])
    first = Search(what=script.ASKED, moment="before", query=old.words, value=old.value)
    return Probe(
        events=(
            *made.notes,
            operation(1, script.SEARCH, searches=plain_searches([first])),
            notes.correction("late", new, 40),
            notes.event("x0", notes.visit(7), 41),
        ),
        query=old.words,
        wanted=new.value,
        gone=old.value,
    )


def _poisoned(form: str, n: int) -> Callable[[Office, int], Probe]:
    def made_of(made: Office, turn: int) -> Probe:
        fact = made.facts[0]
        false = replace(fact, value=made.spare[1])
        late = notes.poison(form, false, n, 40)
        return Probe(
            events=(*made.notes, *late),
            query=fact.words,
            wanted=fact.value,
            gone=false.value if late else "",
        )

    return made_of


def _tenants(made: Office, turn: int) -> Probe:
    """Two memories open at once, with other values of the same facts."""
    own, other = made.facts[0], replace(made.facts[0], value=made.spare[2])
    theirs = [replace(note, text=note.text.replace(own.value, other.value)) for note in made.notes]
    asked = (own.words, own.person, "Summary of all notes")

    def searches(what: str, value: str) -> list[Search]:
        return [Search(what=what, moment="after", query=query, value=value) for query in asked]

    return Probe(
        events=(
            *made.notes,
            operation(1, script.OPEN, name="other"),
            *(
                operation(10 + i, script.WRITE, event=plain_event(note))
                for i, note in enumerate(theirs)
            ),
            operation(2, script.SEARCH, searches=plain_searches(
                [*searches("theirs", other.value), *searches("ours_there", own.value)]
            )),
            operation(3, script.OPEN, name=""),
            operation(4, script.SEARCH, searches=plain_searches(
                [*searches("ours", own.value), *searches("theirs_here", other.value)]
            )),
        ),
        query=own.words,
        wanted=own.value,
        gone=other.value,
    )  # fmt: skip


def _concurrent(made: Office, turn: int) -> Probe:
    """The same facts written by several at once, and, in a memory of its own, one by one."""
    written = made.facts[4 : 4 + _WRITTEN]
    late = [notes.note(f"c{i}", fact, 40 + i) for i, fact in enumerate(written)]
    known = {fact.value for fact in written}
    before = [note for note in made.notes if not any(value in note.text for value in known)]

    def searches(what: str) -> list[dict[str, str]]:
        return plain_searches(
            Search(what=what, moment="after", query=fact.words, value=fact.value)
            for fact in written
        )

    held = [plain_event(note) for note in late]
    writes = [operation(100 + i, script.WRITE, event=note) for i, note in enumerate(held)]
    again = [
        operation(200 + i, script.WRITE, event=plain_event(note)) for i, note in enumerate(before)
    ]
    return Probe(
        events=(
            *before,
            operation(1, script.AT_ONCE, events=held, writers=_WRITERS),
            operation(2, script.SEARCH, searches=searches("at_once")),
            operation(3, script.OPEN, name="one_by_one"),
            *again,
            *writes,
            operation(4, script.SEARCH, searches=searches("one_by_one")),
        ),
        query=written[0].words,
    )


def _growth(rng: random.Random, size: int) -> Probe:
    facts, told = notes.grown(rng, size, FOUND)
    searches = [Search(what="grown", moment="after", query=f.words, value=f.value) for f in facts]
    timed = [plain_event(notes.event(f"t{i}", notes.visit(size + i), i)) for i in range(_TIMED)]
    return Probe(
        events=(
            *told,
            operation(1, script.SEARCH, searches=plain_searches(searches)),
            operation(2, script.TIME, writes=timed, queries=[fact.words for fact in facts]),
        ),
        query=facts[0].words,
        wanted=facts[0].value,
    )


PROBES: Final[dict[str, Callable[[Office, int], Probe]]] = {
    "deletion": _deletion,
    "deletion_by_id": _deletion_by_id,
    "retold": _retold,
    "correction": _correction,
    "unpoisoned": _poisoned("", 0),
    "instruction": _poisoned(notes.INSTRUCTION, 1),
    "contradiction": _poisoned(notes.CONTRADICTION, 1),
    "flood": _poisoned(notes.CONTRADICTION, _FLOOD),
    "tenants": _tenants,
    "concurrent": _concurrent,
}
"""By name, what is made of an office for the `turn`-th time."""
