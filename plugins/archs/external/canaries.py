"""Canaries: known facts in, known facts out, before any number of a system is printed.

Each is a small history whose right answer is known. One that fails says what the mapping, or the
system, does wrong; a system may be what it is (one that rewrites its texts fails `verbatim`), but
nobody has to guess it from a score.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from framework.contracts import Arch, ArchContext
from framework.contracts.probe import Finding, Probe
from framework.errors import DoesNotFit, ModelError
from framework.models.client import Ledger, track_usage
from framework.records import Event
from framework.registry import register
from plugins.archs.external._kept import keep, kept, left_out, place_of, without_vectors
from plugins.archs.external._mapping import Found, NoReset, SystemFailed, uses
from plugins.archs.external._memory import ExternalMemory, System
from plugins.archs.external._settings import CalledSettings
from plugins.archs.external._trace import Tracer

FIRST: Final = ("Marta", "Jonas", "Aiko", "Pedro", "Lena", "Omar", "Ruth", "Ivan")
LAST: Final = ("Ilves", "Brandt", "Mori", "Salgado", "Novak", "Haddad")
THINGS: Final = ("locker", "badge", "parking place", "telephone", "printer", "archive box")
RESULTS: Final = 5
"""Results that a canary asks for, where the number is not what it is about."""
_MANY: Final = 10_000
_SOON_S: Final = 5.0
"""Within it, what a search misses is looked for again: a system may index after its answer."""
_EVERY_S: Final = 0.5
_FAULTS: Final = (SystemFailed, ModelError, DoesNotFit)
"""What of a system, or of a model that it asks, is a finding and no mistake of ours."""
_log = logging.getLogger("framework.canaries")


class _Wrong(Exception):
    """What a canary found wrong."""


class _Skipped(Exception):
    """Why a canary does not apply."""


class Stand:
    """Opens fresh systems for a canary, and closes them after it."""

    def __init__(
        self, arch: type[ExternalMemory[Any]], settings: Any, context: ArchContext | None
    ) -> None:
        nothing: Any = None  # asks no model of ours
        self._arch, self.settings = arch, settings
        self._context = context or ArchContext(budget_tokens=None, client=nothing)
        self._opened: list[System] = []
        self._loop = asyncio.new_event_loop()  # where its models are asked
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def open(self, events: Sequence[Event] = ()) -> System:
        """A fresh system with a history of its own taken in."""
        system = self._arch(self.settings, self._context).start(self._loop)
        self._opened.append(system)
        for event in events:
            system.write(event)
        return system

    def close(self) -> None:
        """Close them all."""
        for system in self._opened:
            with suppress(OSError):
                system.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


Canary = Callable[[Stand], str]
_CANARIES: dict[str, Canary] = {}
_SLOW: Final = ("many",)


def canary(check: Canary) -> Canary:
    """Register a canary by its name: it returns what it saw, or raises `_Wrong`."""
    _CANARIES[check.__name__] = check
    return check


def fact(number: int, text: str, day: int = 1) -> Event:
    """An event of a canary's history."""
    date = f"2026-03-{day:02d}"
    return Event(id=f"c{number}", text=f"{date}: {text}", time=date, kind="note")


def code(number: int) -> str:
    """A code that nothing else in a canary holds; two of them share no digit pattern by chance."""
    return f"QX-{7919 * (number + 11) % 100_000:05d}"


def facts() -> list[tuple[str, Event]]:
    """What to ask for, and the fact: one for each thing and last name."""
    found = list[tuple[str, Event]]()
    for i, thing in enumerate(THINGS):
        for j, last in enumerate(LAST[:4]):
            n = len(found)
            what = f"{thing} of {FIRST[(i + j) % len(FIRST)]} {last}"
            found.append((what, fact(n, f"The {what} is {code(n)}.", day=1 + n)))
    return found


def texts(found: Sequence[Found]) -> str:
    """All that was found, as one text."""
    return "\n".join(result.text for result in found)


def expect(found: Sequence[Found], wanted: str, what: str) -> None:
    """Raise `_Wrong` where a text is not among the results."""
    if wanted not in texts(found):
        raise _Wrong(f"{what}: {wanted!r} is not among {len(found)} results")


def seconds_until(holds: Callable[[], bool]) -> float | None:
    """How long it took until something held; None where it did not within `_SOON_S`."""
    begun = time.monotonic()
    while time.monotonic() - begun < _SOON_S:
        time.sleep(_EVERY_S)
        if holds():
            return time.monotonic() - begun
    return None


def waited(settings: Any, is_found: Callable[[], bool]) -> str:
    """What waiting shows of what a search missed, as the end of "it is not found"."""
    after = seconds_until(is_found)
    if after is None:
        return f", nor within {_SOON_S:g} s"
    return f" at once, but {after:.1f} s later: {_how_to_wait(settings)}"


def _how_to_wait(settings: Any) -> str:
    """What makes a search wait for what was written."""
    if not isinstance(settings, CalledSettings):
        return "it has to answer a write only when that can be found"
    if settings.settle is None:
        return "declare `settle`, so that a search waits until writes are processed"
    return "its `settle` ends too early; `until` says what its answer has to hold"


@canary
def answers(stand: Stand) -> str:
    """It starts, takes an event in and answers a search."""
    begun = time.perf_counter()
    stand.open([fact(0, f"The locker is {code(0)}.")]).search("locker", RESULTS)
    return f"started, one write and one search in {time.perf_counter() - begun:.2f} s"


@canary
def empty(stand: Stand) -> str:
    """An empty memory finds nothing, and says so without an error."""
    found = stand.open().search("the locker", RESULTS)
    if found:
        raise _Wrong(f"an empty memory gave {found[0].text[:60]!r}")
    return "an empty memory finds nothing"


@canary
def recalls(stand: Stand) -> str:
    """Each of 24 facts comes back, asked for in its own words."""
    known = facts()
    system = stand.open([event for _, event in known])

    def lost(asked: Iterable[int]) -> list[int]:
        return [n for n in asked if code(n) not in texts(system.search(known[n][0], RESULTS))]

    if missed := lost(range(len(known))):
        said = f"of {len(known)} facts {len(missed)} ({known[missed[0]][0]!r} first)"
        later = waited(stand.settings, lambda: not lost(missed))
        raise _Wrong(f"{said} were not found{later}")
    return f"{len(known)} of {len(known)} facts came back"


@canary
def question(stand: Stand) -> str:
    """A fact comes back for a question in other words than its own."""
    system = stand.open([event for _, event in facts()])
    what, event = facts()[0]
    found = system.search(f"Which one is the {what}, please?", RESULTS)
    expect(found, code(0), f"asked with a question for {event.text!r}")
    return "a question in other words finds its fact"


@canary
def distractors(stand: Stand) -> str:
    """One fact is told from 47 that differ by a name."""
    people = [f"{first} {last}" for first in FIRST for last in LAST]
    system = stand.open([fact(n, f"The locker of {p} is {code(n)}.") for n, p in enumerate(people)])
    for n in (0, 20, 47):
        found = system.search(f"locker of {people[n]}", RESULTS)
        expect(found, code(n), f"asked for {people[n]!r} among {len(people)} people")
    return f"a fact is told from {len(people) - 1} that differ by a name"


@canary
def order(stand: Stand) -> str:
    """The best result comes first."""
    near = [fact(n, f"The {thing} is new.") for n, thing in enumerate(THINGS[1:], start=1)]
    system = stand.open([near[0], fact(0, f"The locker of Marta Ilves is {code(0)}."), *near[1:]])
    found = system.search("The locker of Marta Ilves is", RESULTS)
    expect(found[:1], code(0), "the first result of a search in the fact's own words")
    return "the best result comes first"


@canary
def duplicates(stand: Stand) -> str:
    """No result comes twice."""
    found = stand.open([event for _, event in facts()]).search("locker of", RESULTS)
    if len({result.text for result in found}) < len(found):
        raise _Wrong(f"of {len(found)} results some are the same")
    return f"{len(found)} results, all different"


@canary
def repeats(stand: Stand) -> str:
    """The same search gives the same results: recall changes nothing."""
    system = stand.open([event for _, event in facts()])
    seen = [[r.text for r in system.search("locker of Marta", RESULTS)] for _ in range(4)]
    if any(one != seen[0] for one in seen):
        raise _Wrong("the same search gave other results when asked again")
    return "the same search gives the same results"


@canary
def deterministic(stand: Stand) -> str:
    """Two runs of one history give the same results, where the mapping says so."""
    events = [event for _, event in facts()]
    seen = []
    for _ in range(2):
        system = stand.open()
        named = {given: e.id for e in events if (given := system.write(e)) is not None}
        found = [result for what, _ in facts()[::3] for result in system.search(what, RESULTS)]
        ids = [[named.get(name, name) for name in result.ids] for result in found]
        seen.append([(one.text, one.score, own) for one, own in zip(found, ids, strict=True)])
        system.close()
    same = seen[0] == seen[1]
    if not stand.settings.deterministic:
        said = "the same results" if same else "other results"
        raise _Skipped(f"not declared; two runs of a small history gave {said}")
    if not same:
        raise _Wrong("declared deterministic, and two runs of a small history gave other results")
    return "two runs of a small history gave the same results, as declared"


def _without_limit(settings: Any) -> str:
    """That the number of results is not sent, where it is not."""
    called = isinstance(settings, CalledSettings) and not uses(settings.search.filled, "limit")
    return ": {limit} is nowhere in `search`" if called else ""


@canary
def limit(stand: Stand) -> str:
    """It gives no more results than it is asked for."""
    found = stand.open([event for _, event in facts()]).search("The", 3)
    if len(found) > 3:
        reason = _without_limit(stand.settings)
        raise _Wrong(f"3 results were asked for, {len(found)} came{reason}")
    if not found:
        raise _Wrong("a search for a word of all 24 facts found nothing")
    return f"3 results were asked for, {len(found)} came"


@canary
def plenty(stand: Stand) -> str:
    """It gives as many results as it is asked for, where as many share a word with the search."""
    wanted, known = 20, facts()
    found = stand.open([event for _, event in known]).search(" ".join(THINGS), wanted)
    if len(found) < wanted:
        reason = _without_limit(stand.settings)
        raise _Wrong(
            f"{wanted} results were asked for, {len(found)} came, and {len(known)} share a word"
            f"{reason}"
        )
    return f"{wanted} results were asked for, {len(found)} came"


@canary
def dates(stand: Stand) -> str:
    """A result still says when."""
    events = [fact(n, f"The rent of the hall became {code(n)}.", 3 * n + 2) for n in range(4)]
    found = stand.open(events).search("rent of the hall became", RESULTS)
    for n, event in enumerate(events):
        told = [result.text for result in found if code(n) in result.text]
        if not told:
            raise _Wrong(f"of {len(events)} values in time {code(n)} of {event.time} is missing")
        if not any(event.time in text for text in told):
            raise _Wrong(f"the date {event.time} is lost: {told[0][:60]!r}")
    return "every value comes with its date"


@canary
def late(stand: Stand) -> str:
    """What is written after a search is found by the next one."""
    system = stand.open([fact(0, f"The locker of Marta Ilves is {code(0)}.")])
    system.search("locker of Marta Ilves", RESULTS)
    system.write(fact(1, f"The badge of Aiko Mori is {code(1)}."))
    query = "badge of Aiko Mori"

    def is_found() -> bool:
        return code(1) in texts(system.search(query, RESULTS))

    if not is_found():
        said = f"what was written after a search, {code(1)!r}, is not found"
        raise _Wrong(f"{said}{waited(stand.settings, is_found)}")
    return "what is written after a search is found"


@canary
def tenants(stand: Stand) -> str:
    """Two histories open at once know nothing of each other."""
    one = stand.open([fact(1, f"The locker of Marta Ilves is {code(1)}.")])
    two = stand.open(
        [fact(2, f"The locker of Marta Ilves is {code(2)}.")]
    )  # which must not empty `one`
    for system, own, other in ((one, code(1), code(2)), (two, code(2), code(1))):
        found = system.search("locker of Marta Ilves", RESULTS)
        if other in texts(found):
            raise _Wrong("a history was told what another holds")
        expect(found, own, "with two histories open at once")
    return "two histories know nothing of each other"


@canary
def fresh(stand: Stand) -> str:
    """A history after another finds nothing of it."""
    stand.open([fact(0, f"The locker of Marta Ilves is {code(0)}.")]).close()
    if code(0) in texts(stand.open().search("locker of Marta Ilves", RESULTS)):
        raise _Wrong("a new history was told what an earlier one held")
    return "a new history finds nothing of an earlier one"


@canary
def reset(stand: Stand) -> str:
    """After a reset nothing is left, and writing goes on."""
    system = stand.open([fact(0, f"The locker of Marta Ilves is {code(0)}.")])
    try:
        system.reset()
    except NoReset:
        started = getattr(stand.settings, "is_started", True)
        apart = "a fresh system" if started else "a tenant of its own"
        raise _Skipped(f"none is declared: every history gets {apart}") from None
    if code(0) in texts(system.search("locker of Marta Ilves", RESULTS)):
        raise _Wrong("after a reset the memory still knows what it held")
    system.write(fact(1, f"The badge of Aiko Mori is {code(1)}."))
    expect(system.search("badge of Aiko Mori", RESULTS), code(1), "written after a reset")
    return "nothing is left after a reset, and writing goes on"


@canary
def forget(stand: Stand) -> str:
    """A deleted fact is found no more, and the others still are."""
    if not stand.settings.offers_deletion:
        name = "forget" if isinstance(stand.settings, CalledSettings) else "forgets"
        raise _Skipped(f"no deletion is declared (`{name}`)")
    known = facts()[:4]
    system = stand.open()
    given = [system.write(event) or "" for _, event in known]
    what, event = known[0]
    for n, (other, _) in enumerate(known):
        expect(system.search(other, RESULTS), code(n), "before any was deleted")
    system.forget(event, given[0])

    def is_gone() -> bool:
        return code(0) not in texts(system.search(what, RESULTS))

    if not is_gone():
        after = seconds_until(is_gone)
        till = f"within {_SOON_S:g} s" if after is None else f"until {after:.1f} s later"
        raise _Wrong(f"a fact was deleted, and {code(0)!r} is found {till}")
    for n, (other, _) in enumerate(known[1:], start=1):
        expect(system.search(other, RESULTS), code(n), "after another was deleted")
    return f"a deleted fact is found no more, {len(known) - 1} others still are"


@canary
def unicode(stand: Stand) -> str:
    """Letters of any script survive."""
    told = "Der Schlüssel von Zoë Łukasiewicz liegt bei 鍵屋 «مفتاح» 🗝."
    expect(stand.open([fact(0, told)]).search("Zoë Łukasiewicz", RESULTS), told[4:], "any script")
    return "letters of any script survive"


@canary
def verbatim(stand: Stand) -> str:
    """A text comes back as it was written, with its line breaks."""
    told = "Locker of Marta Ilves:\n  width: 40 cm\n  MARK: Qx-zB"
    found = stand.open([fact(0, told)]).search("Locker of Marta Ilves", RESULTS)
    expect(found, told, "a text of three lines")
    return "texts come back as they were written"


@canary
def whole(stand: Stand) -> str:
    """The end of a long text comes back."""
    filler = " ".join(f"Shelf {n} of the locker of Marta Ilves is empty." for n in range(60))
    system = stand.open([fact(0, f"Begin {code(1)}. {filler} The end is {code(2)}.")])
    for n, query in ((1, "Begin"), (2, "The end is")):
        expect(system.search(query, RESULTS), code(n), f"of a text of {len(filler):,} characters")
    return f"both ends of a text of {len(filler):,} characters came back"


@canary
def ids(stand: Stand) -> str:
    """The ids of results are those of the events that their texts come from."""
    events = [event for _, event in facts()]
    system = stand.open()
    named = {given: [e.id] for e in events if (given := system.write(e)) is not None}
    tracer, by_id, by_words, strange = Tracer(events), 0, 0, 0
    written = {event.id for event in events}
    found = [result for what, _ in facts() for result in system.search(what, RESULTS)]
    for result in found:
        said = [event for name in result.ids for event in named.get(name, [name])]
        sources = [event for event in said if event in written]
        aligned, share = tracer.trace(Found(text=result.text), {})
        known = bool(sources)
        by_id, by_words = by_id + known, by_words + (share > 0)
        strange += bool(result.ids) and not known
        if share == 1 and known and not set(sources) & set(aligned):
            raise _Wrong(f"{result.text[:60]!r} has the id of {sources[0]}, not of {aligned[0]}")
    told = f", {strange} an id of no event" if strange else ""
    return (
        f"of {len(found)} results {by_id} have an event's id{told}, {by_words} can be traced by "
        "their words"
    )


@canary
def many(stand: Stand) -> str:
    """The first, the middle and the last of 10,000 events are found (slow)."""
    begun = time.perf_counter()
    events = [fact(n, f"Visitor {n} came at noon and left at six.") for n in range(_MANY)]
    places = {"first": 0, "middle": _MANY // 2, "last": _MANY - 1}
    for thing, n in zip(THINGS, places.values(), strict=False):
        events[n] = fact(n, f"The {thing} of Marta Ilves is {code(n)}.")
    system = stand.open(events)
    written = time.perf_counter() - begun
    for thing, (place, n) in zip(THINGS, places.items(), strict=False):
        found = system.search(f"{thing} of Marta Ilves", RESULTS)
        expect(found, code(n), f"the {place} of {_MANY:,} events")
    return f"first, middle and last of {_MANY:,} events found; written in {written:.1f} s"


@register("probe", "canaries")
class Canaries(Probe):
    """Writes known facts and searches for them: whether a system behaves as its mapping says."""

    def fits(self, arch: type[Arch[Any]]) -> bool:
        return issubclass(arch, ExternalMemory)

    def run(
        self, arch: type[Arch[Any]], settings: Any, slow: bool, context: ArchContext | None = None
    ) -> Iterator[Finding]:
        assert issubclass(arch, ExternalMemory)
        for name in _CANARIES:
            if name in _SLOW and not slow:
                continue
            finding = check(name, arch, settings, context)
            yield finding
            if name == "answers":
                if not finding.passed:  # the others would say the same
                    return
                yield _tools(arch, settings, context)

    def before_run(
        self, arch: type[Arch[Any]], settings: Any, context: Callable[[], ArchContext]
    ) -> Iterable[Finding]:
        """What all of them find, now or when they last passed, or why none is asked."""
        assert issubclass(arch, ExternalMemory)
        if why := left_out(settings):
            return [Finding(name="canaries", passed=None, text=f"not asked: {why}")]
        given = context()
        if why := without_vectors(given):
            return [Finding(name="canaries", passed=None, text=f"not asked: {why}")]
        place = place_of(arch.under(settings)(settings, given), Path(__file__))
        if found := kept(place):
            return found
        _log.info("the memory's canaries come before the first case (arch.canaries=false: none)")
        found = list(self.run(arch, settings, slow=False, context=given))
        if settings.version:
            keep(place, found)
        return found


def check(
    name: str,
    arch: type[ExternalMemory[Any]],
    settings: Any,
    context: ArchContext | None = None,
) -> Finding:
    """What one canary finds; `context` has the models of one that calls any."""
    try:
        with _stand(arch, settings, context) as stand:
            return Finding(name=name, passed=True, text=_CANARIES[name](stand))
    except _Skipped as why:
        return Finding(name=name, passed=None, text=str(why))
    except (_Wrong, *_FAULTS) as wrong:
        return Finding(name=name, passed=False, text=str(wrong))


def _tools(arch: type[ExternalMemory[Any]], settings: Any, context: ArchContext | None) -> Finding:
    """What it offers, to be told."""
    try:
        with _stand(arch, settings, context) as stand:
            offered = ", ".join(stand.open().tools())
    except _FAULTS as wrong:
        return Finding(name="tools", passed=False, text=str(wrong))
    return Finding(name="tools", passed=None, text=offered)


@contextmanager
def _stand(
    arch: type[ExternalMemory[Any]], settings: Any, context: ArchContext | None
) -> Iterator[Stand]:
    stand = Stand(arch, settings, context)
    try:
        with track_usage(Ledger(), "ingest", 0):
            yield stand
    finally:
        stand.close()
