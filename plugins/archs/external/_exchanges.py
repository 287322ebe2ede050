"""A system whose exchanges are kept: what was asked before is answered without it.

    operations --> a chain of keys --> recorded? --> the answer as it was (_recorded.py)
                                          | no
                                          v
                         the system, started and told all that led here --> answer, recorded

A key is a digest of the mapping, of every operation that changed the memory, in order, and of the
operation itself. A search changes nothing, so searches of one history may come in any order.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from framework.errors import DataError, DoesNotFit, StopRun
from framework.models.client import Ledger, UsageContext, current_usage, track_usage
from framework.records import EMPTY, Event, Usage
from framework.text.canonical import digest
from plugins.archs.external._last import Last, Left, left
from plugins.archs.external._mapping import Found, SystemFailed
from plugins.archs.external._recorded import Recorded

if TYPE_CHECKING:
    from plugins.archs.external._memory import System

_OF_THE_CALL: Final = ("paid_usd", "paid_calls", "seconds", "call_seconds")
"""Of the usage: what a repetition takes anew, or not at all."""
_DRIVERS: Final = "drivers"
"""Of a file's first line: the drivers that its answers came through."""
_KEPT: Final = slice(7, 23)
"""Of a key, in the file: 64 bits, which tell some thousand answers of one history apart."""


class Exchanges:
    """One history's exchanges, behind the interface of a running system.

    folder : of the files. about : all that has a part in the answers, as plain data. open : a fresh
    system, for what is not recorded; None, to replay, where that raises StopRun. Failures are
    recorded too, and prompts that did not fit, but no failures that `close` makes, or a model, nor
    of a system that does not start.
    last_s : seconds that a system's last answer takes at most, which its keeper leaves in the file
    of `last` (_last.py), there before `open` is called; None where it leaves none.
    drivers : the files of ours that speak to the system, by their digests. What was recorded with
    others can be replayed, but nothing is added to it: StopRun. Keys don't hold them.
    """

    __slots__ = (
        "_asks", "_closed", "_done", "_drivers", "_failure", "_key", "_last_s", "_left", "_live",
        "_lock", "_named", "_open", "_recorded", "_told", "last",
    )  # fmt: skip

    def __init__(
        self,
        folder: Path,
        about: Mapping[str, Any],
        history: Sequence[Event],
        open: Callable[[], System] | None,
        *,
        drivers: Mapping[str, str] = EMPTY,
        last_s: float | None = None,
    ) -> None:
        self._open, self._last_s = open, last_s
        self.last: Last | None = None
        self._left: dict[str, Left] = {}
        self._drivers = drivers
        self._asks = "model" in about or "embedder" in about
        self._live: System | None = None
        self._key = chain = digest([about, _scope().sample])
        for event in history:
            chain = _next(chain, "write", event)
        path = folder / f"{chain[7:39]}.jsonl.gz"
        try:
            told = {**about, **({_DRIVERS: drivers} if drivers else {})}
            self._recorded = Recorded(path, told, [event.text for event in history])
        except DataError as error:
            raise StopRun(str(error)) from None
        self._done: list[tuple[str, Event | None]] = []
        self._told: set[str] = set()
        self._named: dict[str, list[str]] = defaultdict(list)
        self._lock = threading.Lock()
        self._closed, self._failure = False, ""

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Around an ingest: another process with the same history waits, and then reads."""
        if self._open is None:
            yield
            return
        with self._recorded.turn() as file:
            if file is None:
                raise SystemFailed("closed while another process had its history")
            yield
            self._recorded.flush()

    def write(self, event: Event) -> None:
        self._change("write", event)

    def reset(self) -> None:
        self._change("reset", None)

    def forget(self, event: Event, given: str) -> None:
        self._change("forget", event)

    def search(self, query: str, limit: int) -> list[Found]:
        asked = {"query": query, "limit": limit, "sample": _scope().sample}

        def search(system: System) -> Mapping[str, Any]:
            found = system.search(query, limit)
            return {"found": [[one.text, self._sources(one), one.score] for one in found]}

        key = _next(self._key, "search", asked)
        answer = self._answer(key, f"a search for {query[:60]!r}", search)
        return [Found(text=text, ids=tuple(ids), score=s) for text, ids, s in answer["found"]]

    def expect(self, question: bytes, answer: bytes) -> None:
        """Nothing: it takes by itself what was left."""

    def tools(self) -> list[str]:
        return self._live.tools() if self._live is not None else []

    def close(self) -> None:
        self._closed = True
        if self._live is not None:
            self._live.close()
        self._recorded.close()
        if self.last is not None:
            self.last.close()

    def _change(self, operation: str, event: Event | None) -> None:
        def change(system: System) -> Mapping[str, Any]:
            self._tell(system, operation, event)
            return {}

        key = _next(self._key, operation, event)
        self._answer(key, f"the {operation} of {event.id if event else 'all'}", change)
        self._key = key
        self._done.append((operation, event))
        if event is not None:
            self._told.add(event.id)

    def _tell(self, system: System, operation: str, event: Event | None) -> None:
        if event is None:
            system.reset()
        elif operation == "forget":
            named = [name for name, events in self._named.items() if event.id in events]
            system.forget(event, named[-1] if named else "")
        elif (given := system.write(event)) is not None:
            self._named[given].append(event.id)

    def _sources(self, found: Found) -> list[str]:
        """The events that ids of a result stand for: a system told again gives other ids."""
        names = (event for id_ in found.ids for event in reversed(self._named.get(id_, [id_])))
        return [name for name in names if name in self._told]

    def _answer(
        self, key: str, what: str, ask: Callable[[System], Mapping[str, Any]]
    ) -> Mapping[str, Any]:
        """The answer under a key; SystemFailed or DoesNotFit, raised, where it is that.

        Raises StopRun where none is and none can be asked for.
        """
        used = Usage()
        key = key[_KEPT]
        known = self._recorded.get(key)
        if known is None and self._open is None:
            why = "; none is kept where a call to a model failed" if self._asks else ""
            raise StopRun(f"arch.replay: {self._recorded.path} has no answer to {what}{why}")
        if known is None:
            with self._lock:
                known = self._recorded.get(key)
                if known is None:
                    known, used = self._asked(key, ask)
        _book(Usage(**known.get("usage", {})), used)
        if "failed" in known:
            raise SystemFailed(known["failed"])
        if "unfit" in known:
            raise DoesNotFit(*known["unfit"])
        return known

    def _asked(
        self, key: str, ask: Callable[[System], Mapping[str, Any]]
    ) -> tuple[Mapping[str, Any], Usage]:
        """The system's answer, recorded, and all that getting it took.

        What was used is booked where there is no answer, whatever the reason.
        """
        before, ledger = Ledger(), Ledger()
        try:
            answer = self._tried(key, ask, before, ledger)
            used = _total(ledger)
            if measured := _measured(used):
                answer["usage"] = measured
            at_once = not answer.keys().isdisjoint(("found", "failed", "unfit"))
            stands = self._recorded.put(key, answer, at_once=at_once)
            if (known := self._left.pop(key, None)) is not None:
                known.path.unlink(missing_ok=True)
            return stands, used.plus(_total(before))
        except BaseException:
            _book(_total(ledger), _total(ledger).plus(_total(before)))
            raise

    def _tried(
        self,
        key: str,
        ask: Callable[[System], Mapping[str, Any]],
        before: Ledger,
        ledger: Ledger,
    ) -> dict[str, Any]:
        """The answer. before : takes what telling the system again used; ledger : the operation."""
        answer: dict[str, Any]
        begun = time.perf_counter()
        try:
            if self._failure:
                raise SystemFailed(f"it has ended before: {self._failure}")
            with _metered(before):
                system = self._caught_up()
            if self.last is not None:
                self.last.note(key)
            if (known := self._left.get(key)) is not None:
                system.expect(known.question, known.answer)
            begun = time.perf_counter()
            with _metered(ledger):
                answer = dict(ask(system))
        except SystemFailed as failed:
            if self._closed and not self._failure:  # by us, in the middle of it
                raise
            self._failure = self._failure or str(failed)
            if self._live is None:  # it never started, so that it answered nothing
                raise
            answer = {"failed": str(failed)}
        except DoesNotFit as unfit:
            answer = {"unfit": [unfit.needs, unfit.context]}
        answer["seconds"] = round(time.perf_counter() - begun, 4)
        return answer

    def _is_known(self, key: str) -> bool:
        return self._recorded.get(key) is not None

    def _require_same_drivers(self) -> None:
        """Raise StopRun where the file's answers came through other drivers than those of now."""
        then = self._recorded.about.get(_DRIVERS)
        for name in sorted(self._drivers.keys() | (then or {}).keys()):
            if then is not None and then.get(name) != self._drivers.get(name):
                raise StopRun(
                    f"{self._recorded.path}: recorded with another {name}, so nothing is added to "
                    "it: give arch.exchanges another folder, or remove this file"
                )

    def _caught_up(self) -> System:
        """The running system, told all that led here if it was not running before."""
        assert self._open is not None
        if self._live is None:
            self._require_same_drivers()
            if self._last_s is not None:
                self._left = left(self._recorded.path, self._last_s, self._is_known)
                self.last = Last(self._recorded.path)
            self._live = self._open()
            for operation, event in self._done:
                self._tell(self._live, operation, event)
        return self._live


def _next(key: str, operation: str, content: Any) -> str:
    return digest([key, operation, content])


def _scope() -> UsageContext:
    """What calls are booked on; nowhere, outside of a run."""
    try:
        return current_usage()
    except LookupError:
        return UsageContext(ledger=Ledger(), phase="recall", sample=0)


def _book(measured: Usage, taken: Usage) -> None:
    """Book what is the same in a repetition, with what the calls of now took."""
    used = replace(measured, **{name: getattr(taken, name) for name in _OF_THE_CALL})
    if used != Usage():
        scope = _scope()
        scope.ledger.book(scope.phase, used)


def _metered(ledger: Ledger) -> contextlib.AbstractContextManager[None]:
    scope = _scope()
    return track_usage(ledger, scope.phase, scope.sample, keep_prompts=scope.keep_prompts)


def _total(ledger: Ledger) -> Usage:
    total = Usage()
    for usage in ledger.entries.values():
        total = total.plus(usage)
    return total


def _measured(usage: Usage) -> dict[str, Any]:
    """What a repetition has again, without zeros."""
    names = (f.name for f in fields(usage) if f.name not in _OF_THE_CALL)
    return {name: value for name in names if (value := getattr(usage, name))}
