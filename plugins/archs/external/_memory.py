"""The arm around a third-party system, whatever it is reached through."""

from __future__ import annotations

import asyncio
import os
import threading
import uuid
import weakref
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from contextvars import copy_context
from functools import cache
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from framework.contracts import Arch, ArchContext, Query
from framework.errors import UserError
from framework.models.dry_run import current_dry_run
from framework.records import Event, Item
from framework.registry import find, identity_of
from plugins.archs.external._exchanges import Exchanges
from plugins.archs.external._mapping import Found
from plugins.archs.external._proxy import Proxy
from plugins.archs.external._settings import Models, SystemSettings
from plugins.archs.external._trace import Tracer

S = TypeVar("S", bound=SystemSettings)
T = TypeVar("T")


class System(Protocol):
    """A running system, for one history. Each call raises SystemFailed, and none outlasts its time.

    Calls come from one thread after the other, but for writes to one that is declared `concurrent`;
    `close` may come from another at any time, ends what
    is under way, and may be called again.
    """

    def write(self, event: Event) -> str | None:
        """Take in one event; the id that the system gives it, where the mapping says."""

    def search(self, query: str, limit: int) -> list[Found]:
        """The results, best first; as many as the system gives, whatever it was asked for."""

    def forget(self, event: Event, given: str) -> None:
        """Delete an event; `given` is the id that the system gave it, if any."""

    def expect(self, question: bytes, answer: bytes) -> None:
        """Take `answer` if the next call asks `question`: it was given to a run that was killed."""

    def reset(self) -> None:
        """Forget everything. Raises NoReset where nothing declares how."""

    def tools(self) -> list[str]:
        """The names of what it offers."""

    def close(self) -> None:
        """End it, with every process that came of it."""


class Carried:
    """A system whose model calls are carried to the run's, each operation's on its own account."""

    def __init__(self, system: System, proxy: Proxy, loop: asyncio.AbstractEventLoop) -> None:
        self._system, self._proxy, self._loop = system, proxy, loop
        proxy.stop = system.close

    def write(self, event: Event) -> str | None:
        with self._proxy.serving(self._loop, searching=False):
            return self._system.write(event)

    def search(self, query: str, limit: int) -> list[Found]:
        with self._proxy.serving(self._loop, searching=True):
            return self._system.search(query, limit)

    def forget(self, event: Event, given: str) -> None:
        with self._proxy.serving(self._loop, searching=False):
            self._system.forget(event, given)

    def expect(self, question: bytes, answer: bytes) -> None:
        self._system.expect(question, answer)

    def reset(self) -> None:
        with self._proxy.serving(self._loop, searching=False):
            self._system.reset()

    def tools(self) -> list[str]:
        with self._proxy.serving(self._loop, searching=False):
            return self._system.tools()

    def close(self) -> None:
        self._system.close()
        self._proxy.close()


class ExternalMemory(Arch[S]):
    """A third-party system: opened fresh for a history, closed with the last use of the memory.

    Whatever fails, or is cancelled, closes it: the history's cases become rows with the error, and
    the next history gets a new one.
    """

    adapted = True
    deterministic = False
    axes = ("traced",)
    _opened: Sequence[System] = ()

    def __init__(self, settings: S, context: ArchContext) -> None:
        super().__init__(settings, context)
        # What sets this history apart in a store that others write to as well, earlier runs too: so
        # by chance, not by the seed. No measured value may depend on it. Some take only a UUID.
        self.tenant = str(uuid.uuid4())
        if current_dry_run() is not None:
            raise UserError(
                "a third-party system can't be estimated, as it would have to be started and to "
                "take in the histories; estimate another arm with the same budget"
            )
        if self.needs_model and context.client.kind != "llm":
            raise UserError(
                "this memory calls a language model, which model=rule_based is not: choose "
                "model=local or another"
            )
        if settings.replay:
            settings.require_recorded()
        else:  # last: it may install what the system needs
            self.require()

    @classmethod
    def under(cls, settings: S) -> type[Self]:
        """What the mapping declares is the arm's own declaration."""
        declaring: type[Self] = _declaring(
            cls, settings.deterministic, getattr(settings, "models", None)
        )
        return declaring

    @abstractmethod
    def require(self) -> None:
        """Raise UserError where the system can't be started or reached from this machine at all."""

    @abstractmethod
    def open(self, proxy: Proxy | None = None) -> System:
        """A fresh system, started and empty; the proxy carries its models. Raises SystemFailed."""

    @property
    def leaves_last(self) -> bool:
        """Whether the keeper of its system can leave an answer that no arm took, in `last`."""
        return False

    @property
    def last(self) -> Path | None:
        """Where an answer that no arm took is left; None where it is not."""
        kept = [one.last for one in self._opened if isinstance(one, Exchanges)]
        return kept[0].path if kept and kept[0] is not None else None

    def start(self, loop: asyncio.AbstractEventLoop) -> System:
        """What `open` gives; the models that its mapping declares are asked in this loop.

        Raises SystemFailed, and what a call of it to a model raises.
        """
        models: Models | None = getattr(self.settings, "models", None)
        if models is None:
            return self.open()
        proxy = Proxy(models, self.context)
        try:
            with proxy.serving(loop, searching=False):
                system = self.open(proxy)
        except BaseException:
            proxy.close()
            raise
        return Carried(system, proxy, loop)

    async def ingest(self, events: Iterable[Event]) -> None:
        history = tuple(events)  # here: a domain's generator knows no threads
        self._tracer = Tracer(history)
        self._told = {event.id: event for event in history}
        self._guard = threading.Lock()
        self._opened = []
        self._named: dict[str, list[str]] = defaultdict(list)
        self._stopped = False
        try:
            await _in_thread(self._write, history, asyncio.get_running_loop())
        except BaseException:
            self._close()
            raise

    def _write(self, history: Sequence[Event], loop: asyncio.AbstractEventLoop) -> None:
        system = self._begin(history, loop)
        self._opened = [system]
        weakref.finalize(self, system.close)
        with system.turn() if isinstance(system, Exchanges) else nullcontext():
            for event in history:
                if self._stopped:  # nobody waits for this thread any more
                    system.close()
                    return
                given = system.write(event)
                if given is not None:
                    self._named[given].append(event.id)

    def _begin(self, history: Sequence[Event], loop: asyncio.AbstractEventLoop) -> System:
        """A fresh system, or the exchanges with one, recorded before or now."""
        if self.settings.exchanges is None:
            return self.start(loop)
        this = weakref.ref(self)  # what a finalizer holds must not hold this

        def opened() -> System:
            arm = this()
            assert arm is not None, "an arm that nobody has can't be asked"
            return arm.start(loop)

        return Exchanges(
            Path(self.settings.exchanges),
            self.about(),
            history,
            None if self.settings.replay else opened,
            drivers=self.settings.drivers,
            last_s=self.settings.timeout_seconds if self.leaves_last else None,
        )

    def about(self) -> dict[str, Any]:
        """All beside the history that has a part in what the system answers, as plain data."""
        plugin = find("arch", self.name)
        about = {"arch": plugin.name, **identity_of(plugin, self.settings)}
        if self.needs_model:
            about["model"] = dict(self.context.client.identity)
        if self.uses_embedder:
            embedder = self.context.embedder
            assert embedder is not None
            made = find("embedder", embedder.name)
            about["embedder"] = {"plugin": made.name, **identity_of(made, embedder.settings)}
        return {**about, "trial": self.context.trial}

    async def recall(self, query: Query, k: int) -> Sequence[Item]:
        limit = min(k, self.settings.limit or k)
        if limit == 0:
            return []
        try:
            found = await _in_thread(self._opened[0].search, query.text or "", limit)
        except BaseException:
            self._close()
            raise
        return self._tracer.items(found, self._named)[:limit]

    @property
    def forgets(self) -> bool:
        """Whether the mapping says how an event is deleted."""
        return self.settings.offers_deletion

    @property
    def concurrent(self) -> bool:
        """Whether several may write at once; what is recorded or metered has one order."""
        apart = self.settings.exchanges is None and getattr(self.settings, "models", None) is None
        return self.settings.concurrent and apart

    def write(self, events: Iterable[Event]) -> None:
        """Tell the system more, after its history."""
        with self._changing() as system:
            for event in events:
                given = system.write(event)
                with self._guard:
                    self._tracer.add(event)
                    self._told[event.id] = event
                    if given is not None:
                        self._named[given].append(event.id)

    def forget(self, ids: Iterable[str]) -> None:
        """Have the system delete events, in the way that the mapping declares."""
        names = {event: given for given, events in self._named.items() for event in events}
        with self._changing() as system:
            for id_ in ids:
                system.forget(self._told[id_], names.get(id_, ""))

    @contextmanager
    def _changing(self) -> Iterator[System]:
        """Around what changes the system after its history."""
        (system,) = self._opened
        try:
            with system.turn() if isinstance(system, Exchanges) else nullcontext():
                yield system
        except BaseException:
            self._close()
            raise

    def _close(self) -> None:
        """End the systems after something failed, which stays the reason whatever else fails."""
        self._stopped = True
        for system in self._opened:
            with suppress(OSError):
                system.close()


async def _in_thread(function: Callable[..., T], *args: Any) -> T:
    """What a blocking operation of a system returns, run on a thread of our own.

    The loop's own threads are for what the calls of the system to a model need: operations that
    waited on all of these would wait for ever.
    """
    loop, within = asyncio.get_running_loop(), copy_context().run
    return await loop.run_in_executor(_threads(os.getpid()), within, function, *args)


@cache
def _threads(process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(64, thread_name_prefix="memory")


@cache
def _declaring(cls: Any, deterministic: bool, models: Models | None) -> Any:
    """The class, which says of itself what a mapping declares."""
    said = {key: getattr(cls, key) for key in ("__module__", "__qualname__", "__doc__")}
    said["deterministic"] = deterministic
    if models is not None:
        said |= {"needs_model": models.chat, "uses_embedder": models.embeddings}
    return type(cls)(cls.__name__, (cls,), said)
