"""What surrounds the path: gates, protocols and trackers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol, Self

from framework.contracts.arch import Arch
from framework.contracts.configured import Configured, S
from framework.contracts.domain import Domain
from framework.records import Case, Event, MemoryView, Row
from framework.records import RowKey as RowKey

IS_BASELINE: Final = "this run is the baseline"
"""Why a run that a gate was asked for has no verdict: it would be compared with itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOutcome:
    """`passed` is None when no gate was asked for. `findings`: one mapping per axis judged.

    against : by directory, the head hash of the journal of each run that was compared with.
    """

    name: str
    passed: bool | None
    findings: tuple[Mapping[str, Any], ...] = ()
    reason: str = ""
    against: Mapping[str, str] = field(default_factory=dict)


class Gate(Configured[S], group="gate"):
    """Decides on rows of a run against the rows of its baseline on the same cases.

    in_loops : whether it judges interim analyses of a loop, whose rows have the one axis `correct`.
    """

    in_loops: ClassVar[bool] = False

    @property
    @abstractmethod
    def baseline(self) -> str | None:
        """The arch to compare with, a run directory, or None when the gate is open."""

    @property
    def axes(self) -> Sequence[str]:
        """The gated axes, so that one that is never filled is found before anything runs."""
        return tuple(getattr(self.settings, "axes", ()))

    @property
    def per_type_floor(self) -> float | None:
        """The share of a question type's OPTIMIZE cases that an edit may lose; None for any."""
        return None

    def at_interim(self, number: int, *, fresh: bool) -> Gate[Any]:
        """The gate of the `number`-th interim analysis (from 1) of held-out cases.

        fresh : whether those cases were never asked before.
        """
        return self

    @abstractmethod
    def decide(
        self,
        rows: Sequence[Row],
        baseline: Sequence[Row],
        seed: int,
        floor: Sequence[Row] | None = None,
    ) -> GateOutcome:
        """The outcome. A row with an error counts as the worst case.

        `floor` holds the rows of `arch=none` on the same cases, where they were run: a baseline
        that hardly beats it can't carry a claim of non-inferiority.
        """


Views = Callable[[Domain[Any], Case, MemoryView, Iterable[Event]], Mapping[str, MemoryView]]
"""Further views that a case is answered from, by name; given the one that its memory showed, and
the events of its history."""


class Pipeline(Protocol):
    """The one path, composed: what a protocol drives. See `framework.pipeline.path.Pipeline`."""

    def with_views(self, views: Views) -> Pipeline:
        """The same path, whose reader answers each case from further views too.

        Axes find these answers in `Scored.others`; what they take is booked on `control`.
        """
        ...

    def with_arch(self, around: Callable[[type[Arch[Any]]], type[Arch[Any]]]) -> Pipeline:
        """The same path with what is made of its arch (of the same settings), memories its own."""
        ...

    def rows(
        self, cases: Iterable[Case], done: frozenset[RowKey], *, answer: bool, k: int | None
    ) -> AsyncIterator[tuple[Row, Mapping[str, Any]]]:
        """Rows with their record for answers.jsonl, as they finish."""
        ...


def _nowhere(type_: str, payload: Mapping[str, Any]) -> None:
    """Write nothing."""


def _unregistered(digest: str) -> Mapping[str, Any]:
    """Register nothing."""
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolContext:
    """What a protocol is given of its run, once, when it is made.

    parts : by group, an instance of the plugin chosen: those of `RunProtocol.groups`, and `gate`.
    settings : by group, the identity of each, and of the protocol, for the record.
    write : appends an event (type, payload) to the run's journal.
    register : says in the register beside the runs that held-out cases of a digest are opened, and
    returns what belongs into the event of it (`framework.store.openings.register`).
    recorded : the protocol's own events that the journal holds already, oldest first, read lazily.
    inherited : so many of them were taken over from another run and are not to be compared.
    live : False where nothing may be asked or measured: all of it must be recorded.
    """

    parts: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    seed: int = 0
    write: Callable[[str, Mapping[str, Any]], object] = _nowhere
    register: Callable[[str], Mapping[str, Any]] = _unregistered
    recorded: Iterable[tuple[str, Mapping[str, Any]]] = ()
    inherited: int = 0
    live: bool = True


class RunProtocol(Configured[S], group="protocol"):
    """Drives the one path. It has no path of its own.

    answers : whether a reader answers. groups : config groups that only this protocol has.
    axes : names of axes that are measured under it beside the domain's. headline : their columns
        that tables show beside the domain's headline. like : the protocol that a domain must allow
        where it need not name this one; empty where it must. controls : whether its figures lie
        between those of arms that are a floor and a ceiling (`Arch.control`).
    in_turns : whether a case takes as many rows as it has turns, which nobody knows beforehand.
    seal : the type of its event after which nothing may be chosen any more, so that no other run
    may begin with it. None for a protocol that writes no events. A journal may hold any types but
    those of the run's own (`framework.store`).
    """

    answers: ClassVar[bool] = True
    groups: ClassVar[tuple[str, ...]] = ()
    axes: ClassVar[tuple[str, ...]] = ()
    headline: ClassVar[tuple[str, ...]] = ()
    like: ClassVar[str] = ""
    controls: ClassVar[bool] = True
    in_turns: ClassVar[bool] = False
    seal: ClassVar[str | None] = None

    def __init__(self, settings: S, context: ProtocolContext | None = None) -> None:
        self.settings = settings
        self.context = context or ProtocolContext()

    def in_journal(self, **journal: Any) -> Self:
        """The same protocol with its run's journal: the fields of `ProtocolContext` on it."""
        return type(self)(self.settings, replace(self.context, **journal))

    @abstractmethod
    def drive(
        self, pipeline: Pipeline, cases: Iterable[Case], done: frozenset[RowKey]
    ) -> AsyncIterator[tuple[Row, Mapping[str, Any]]]:
        """Rows with their records, leaving out the keys in `done`."""

    def check(self, domain: Domain[Any]) -> None:
        """Find what of the context can not work, before anything is written. Raises UserError."""

    def report(self) -> Mapping[str, Any] | None:
        """After `drive`: what the run's directory holds as `NAME.json`; None for nothing.

        A run that is no part of a sweep ends with a page then, as a sweep does.
        """
        return None

    @classmethod
    def of_sweep(cls, reports: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
        """Reports of a sweep's finished runs side by side: what its directory holds as `NAME.json`.

        Each of `reports` has `arm` (how the run differs from the others), `directory` (its name)
        and `results`, what `report` gave. None for nothing.
        """
        return None


class Tracker(Configured[S], group="tracking"):
    """Copies finished run and sweep directories to a tracking server. The directory is the truth.

    An upload may be repeated: it finishes what was cut off and makes nothing twice (the ids are
    kept in `tracking.json` beside the files). Both raise `framework.errors.TrackingError` when the
    server can't be reached: the run is on disk all the same.
    """

    @abstractmethod
    def upload_run(self, directory: Path, sweep: Path | None) -> str:
        """Upload a finished run, as a child of its sweep's parent run where there is one."""

    @abstractmethod
    def upload_sweep(self, directory: Path) -> str:
        """Upload a sweep's own files and tables to its parent run."""
