"""Memory architectures, and what they are told."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from framework.contracts.configured import Configured, S
from framework.contracts.embedder import Embedder
from framework.contracts.model import Client
from framework.records import Event, FactField, Gold, Item, TaskCard


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What an arm is asked with. `task` and `gold` are None unless the arm declares them.

    `seed` is the case's own: with `ArchContext.trial` it feeds what an arm draws for one task.
    """

    text: str
    task: TaskCard | None = None
    gold: Gold | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchContext:
    """What an arm gets when it is opened on one history.

    `budget_tokens` is None for an unbudgeted arm. `fields` is empty unless the arm declares
    `knows_schema`, `embedder` None unless it declares `uses_embedder`. `seed` and `trial` feed the
    arm's own randomness: nothing else may, but `Query.seed`.
    """

    budget_tokens: int | None
    client: Client
    fields: tuple[FactField, ...] = ()
    embedder: Embedder[Any] | None = None
    seed: int = 0
    trial: int = 0


class Arch(Configured[S], group="arch"):
    """A memory architecture: one instance is opened per history (and trial).

    Declarations are printed beside every result, so a reader sees what an arm was told.
    `budget_at`: where the arm itself uses the budget (packing enforces it on every arm but an
    `unbudgeted` one, once named `exempt`). Events reach an arm without edges unless it declares
    `gold_edges`; to one that declares `uses_extractor` they come with the kinds and edges that the
    run's extractor read from their text, in place of the given ones, where `extractor` is not
    `none`. `adapted`: a third-party system behind an adapter, whose faults look like a bad memory;
    `deterministic`: whether such a system is said to give the same results in every run. `axes`:
    those that are measured of it beside the domain's. `control`: which end of the scale an arm
    marks; a result without either says which arms would.
    """

    budget_at: ClassVar[Literal["ingest", "recall", "none"]] = "none"
    needs_model: ClassVar[bool] = False
    sees_task: ClassVar[bool] = False
    knows_schema: ClassVar[bool] = False
    gold_edges: ClassVar[bool] = False
    uses_embedder: ClassVar[bool] = False
    uses_extractor: ClassVar[bool] = False
    sees_gold: ClassVar[bool] = False
    unbudgeted: ClassVar[bool] = False
    adapted: ClassVar[bool] = False
    deterministic: ClassVar[bool] = True
    axes: ClassVar[tuple[str, ...]] = ()
    query: ClassVar[Literal["task", "none"]] = "task"
    control: ClassVar[Literal["", "floor", "ceiling"]] = ""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for former, name in (("exempt", "unbudgeted"), ("draws", "trials")):
            if former in vars(cls):
                setattr(cls, name, vars(cls)[former])

    def __init__(self, settings: S, context: ArchContext) -> None:
        self.settings = settings
        self.context = context

    @property
    def trials(self) -> int:
        """Independent trials to average over: at least 10 for an arm that chooses at random."""
        return 1

    @abstractmethod
    def ingest(self, events: Iterable[Event]) -> Awaitable[None] | None:
        """Take in a history, in order of arrival. Called once."""

    @abstractmethod
    def recall(self, query: Query, k: int) -> Awaitable[Sequence[Item]] | Sequence[Item]:
        """At most `k` items, best first. Never changes the memory."""

    def report(self) -> Mapping[str, float]:
        """What the arm measured of itself on this history, as the share of entries dropped."""
        return {}


@runtime_checkable
class Mutable(Protocol):
    """An arm that lives on after `ingest`: it takes in more, and may forget.

    An arm need not be one: what it holds can be made again from the events that remain.
    Both methods block, and are called from threads.
    """

    @property
    def forgets(self) -> bool:
        """Whether it offers deletion; False: `forget` is never called."""
        ...

    @property
    def concurrent(self) -> bool:
        """Whether several threads may be in `write` at once."""
        ...

    def write(self, events: Iterable[Event]) -> None:
        """Take in more, in this order."""
        ...

    def forget(self, ids: Iterable[str]) -> None:
        """Delete the events of these ids, with whatever was made of them."""
        ...
