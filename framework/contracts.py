"""The abstract base class of each plugin group: the whole surface that a plugin author meets.

A plugin is a class under `@register(group, name)` whose nested or assigned `Settings` is a frozen
dataclass. Methods that may call a model may be `async def`; the pipeline awaits what is awaitable,
so a plugin that calls none stays plain.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar

from framework.records import (
    ABSTAIN,
    Answer,
    AxisScore,
    Case,
    Event,
    FactField,
    Gold,
    Item,
    MemoryView,
    ReasoningPoint,
    Row,
    Standard,
    TaskCard,
)
from framework.registry import NoSettings

S = TypeVar("S")
Req = TypeVar("Req")
Res = TypeVar("Res")

RowKey = tuple[str, str, int, int, int]
"""(case_id, arm, variant, sample, turn): see `framework.records.Row.key`."""


# ------------------------------------------------------------------------------- operations, models


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What an operation sends to a language model."""

    system: str
    user: str

    @property
    def text(self) -> str:
        """System and user text as one, for counting and for the record."""
        return f"{self.system}\n\n{self.user}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How the rule-based model reads (validity.md section 1). Never given to a language model.

    schema : knows the task card's field labels and aliases.
    blind : knows no label: generic label-value and date extraction.
    noisy : as schema, but misses a statement or confuses its value at the given rates, decided by
        a hash of the statement and `seed`, so that the same text is always read the same way.
    """

    style: Literal["schema", "blind", "noisy"] = "schema"
    miss_rate: float = 0.0
    confuse_rate: float = 0.0
    seed: int = 0
    gullible: bool = False


class Operation(ABC, Generic[Req, Res]):
    """A typed question to a model. An LLM renders and parses; the rule-based model computes.

    `offline` works from the request alone. The model only dispatches, so third parties add
    operations without touching one.
    """

    name: ClassVar[str]

    @abstractmethod
    def prompt(self, request: Req) -> Prompt:
        """The text sent to a language model."""

    @abstractmethod
    def parse(self, text: str, request: Req) -> Res:
        """The response in a model's text. Raises ValueError when it can't be read as one."""

    @abstractmethod
    def offline(self, request: Req, profile: Profile) -> Res:
        """The rule-based response, deterministic in its arguments."""

    def render(self, response: Res) -> str:
        """The response as text: counted as output tokens when the rule-based model answered."""
        from framework.canonical import canonical_json

        return canonical_json(response)

    @staticmethod
    def json_object(text: str) -> dict[str, Any]:
        """The one JSON object in `text`. Raises ValueError when there is none."""
        start, end = text.find("{"), text.rfind("}")
        if start < 0 or end < start:
            raise ValueError("no JSON object in the response")
        value = json.loads(text[start : end + 1])
        if not isinstance(value, dict):
            raise ValueError("the response is not a JSON object")
        return value


class Client(Protocol):
    """What an arch, reader or judge asks a model through: phase and ledger are already bound."""

    async def ask(self, operation: Operation[Req, Res], request: Req) -> Res:
        """The model's response. Raises ModelError when the call fails for good."""
        ...


class Model(ABC, Generic[S]):
    """Answers operations. `kind` is `rule-based` or `llm` and marks every row and report."""

    name: ClassVar[str]
    kind: ClassVar[Literal["rule-based", "llm"]]
    Settings: ClassVar[type[Any]] = NoSettings

    def __init__(self, settings: S) -> None:
        self.settings = settings

    @abstractmethod
    async def run(
        self, operation: Operation[Req, Res], request: Req, sample: int
    ) -> tuple[Res, str]:
        """The response and its raw text, for sample index `sample` of the same request."""

    @property
    def concurrency(self) -> int:
        """Cases that may be under way at once."""
        return 1

    async def close(self) -> None:
        """Release connections."""
        return None


# ------------------------------------------------------------------------------------------ domains


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a domain's cases come from. All four are mandatory; `generated` is a valid source."""

    source: str
    revision: str
    licence: str
    citation: str


class Domain(ABC, Generic[S]):
    """Histories and the cases asked of them, with gold. Deterministic in (settings, seed, index).

    `axes` names the axis plugins that apply; `headline` the few axis columns that tables show and
    sweeps compare: a comparison of everything could conclude nothing.
    """

    name: ClassVar[str]
    provenance: ClassVar[Provenance]
    axes: ClassVar[tuple[str, ...]]
    headline: ClassVar[tuple[str, ...]]
    protocols: ClassVar[tuple[str, ...]] = ("evaluate", "retrieve")
    Settings: ClassVar[type[Any]] = NoSettings

    def __init__(self, settings: S) -> None:
        self.settings = settings

    @property
    @abstractmethod
    def nominal_tokens(self) -> int:
        """Fixed length of a history in tokens; budgets are ratios of it."""

    @property
    @abstractmethod
    def fields(self) -> tuple[FactField, ...]:
        """The public answer form: given at ingest to arms that declare `knows_schema`."""

    @abstractmethod
    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        """The first `n` cases (all, when None and the domain is finite), lazily."""

    @abstractmethod
    def history(self, history_id: str) -> Iterator[Event]:
        """The events of a history in order of arrival, lazily."""

    @abstractmethod
    def digest(self) -> str:
        """Digest of what the cases are made from (data file, spec), settings aside."""

    def success(self, answer: Answer, gold: Gold) -> bool:
        """The success axis: the label exactly, and the amount within the gold's tolerance."""
        if answer.decision != gold.decision:
            return False
        if gold.amount is None or gold.decision == ABSTAIN:
            return True
        return (
            answer.amount is not None and abs(answer.amount - gold.amount) <= gold.amount_tolerance
        )

    def without_injection(self, case: Case) -> Case | None:
        """The same case with nothing injected (its own history), to tell obedience from error.

        None where the case has no injection or the domain no such twin.
        """
        return None

    def decision_from(self, case: Case, retained: frozenset[str]) -> str | None:
        """What the policy decides when only these gold items are known; None when not defined.

        ABSTAIN when the admissible completions of what is missing differ (validity.md section 2).
        """
        return None


# -------------------------------------------------------------------------------------------- archs


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What an arm is asked with. `task` and `gold` are None unless the arm declares them."""

    text: str
    task: TaskCard | None = None
    gold: Gold | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchContext:
    """What an arm gets when it is opened on one history.

    `budget_tokens` is None for an exempt arm. `fields` is empty unless the arm declares
    `knows_schema`. `seed` and `draw` feed the arm's own randomness: nothing else may.
    """

    budget_tokens: int | None
    client: Client
    fields: tuple[FactField, ...] = ()
    seed: int = 0
    draw: int = 0


class Arch(ABC, Generic[S]):
    """A memory architecture: one instance is opened per history (and draw).

    Declarations are printed beside every result, so a reader sees what an arm was told.
    `budget_at`: where the arm itself uses the budget (packing enforces it on every arm but an
    `exempt` one). Events reach an arm without edges unless it declares `gold_edges`.
    """

    name: ClassVar[str]
    budget_at: ClassVar[Literal["ingest", "recall", "none"]] = "none"
    needs_model: ClassVar[bool] = False
    sees_task: ClassVar[bool] = False
    knows_schema: ClassVar[bool] = False
    gold_edges: ClassVar[bool] = False
    sees_gold: ClassVar[bool] = False
    exempt: ClassVar[bool] = False
    query: ClassVar[Literal["task", "none"]] = "task"
    Settings: ClassVar[type[Any]] = NoSettings

    def __init__(self, settings: S, context: ArchContext) -> None:
        self.settings = settings
        self.context = context

    @property
    def draws(self) -> int:
        """Independent draws to average over: at least 10 for an arm that chooses at random."""
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


# ------------------------------------------------------------------------ budgets, readers, judges


class Budget(ABC, Generic[S]):
    """How many tokens a view may hold, and how the last item is packed."""

    name: ClassVar[str]
    Settings: ClassVar[type[Any]] = NoSettings

    def __init__(self, settings: S) -> None:
        self.settings = settings

    @abstractmethod
    def tokens(self, domain: str, nominal_tokens: int) -> int:
        """The limit in tokens for a domain."""

    @property
    def packing(self) -> Literal["truncate", "whole"]:
        """`truncate` cuts the last item at a sentence, `whole` leaves out what does not fit."""
        return "truncate"


class Reader(ABC, Generic[S]):
    """Turns a view into an answer through a model."""

    name: ClassVar[str]
    Settings: ClassVar[type[Any]] = NoSettings

    def __init__(self, settings: S) -> None:
        self.settings = settings

    @abstractmethod
    def answer(
        self, task: TaskCard, view: MemoryView, client: Client
    ) -> Awaitable[Answer] | Answer:
        """The answer to the task from the view alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A judge's yes or no on one demand, with the words it rests on."""

    id: str
    met: bool
    evidence: str = ""


class Judge(ABC, Generic[S]):
    """Judges an answer. No signature carries an arm's name: a judge cannot see it."""

    name: ClassVar[str]
    kind: ClassVar[Literal["rule-based", "llm"]]
    Settings: ClassVar[type[Any]] = NoSettings

    def __init__(self, settings: S) -> None:
        self.settings = settings

    @abstractmethod
    def entail(
        self, rationale: str, points: Sequence[ReasoningPoint], client: Client
    ) -> Awaitable[Sequence[Verdict]] | Sequence[Verdict]:
        """Per reasoning point, whether the rationale entails it."""

    @abstractmethod
    def audit(
        self, answer: Answer, standard: Standard, client: Client
    ) -> Awaitable[Sequence[Verdict]] | Sequence[Verdict]:
        """Per checklist item of the standard, whether decision, rationale and notice meet it."""


# --------------------------------------------------------------------------------------------- axes


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """Everything an axis may look at for one case. `answer` is None in a retrieval protocol.

    `retained` maps every gold item's id to whether it was in the view, closure applied. `clean` is
    the answer to the case without its injection, None where there is none.
    """

    case: Case
    domain: Domain[Any]
    view: MemoryView
    answer: Answer | None
    retained: Mapping[str, bool]
    judge: Judge[Any] | None
    client: Client
    clean: Answer | None = None


class Axis(ABC, Generic[S]):
    """One measure or a family computed together. `names` are the columns it fills.

    higher_is_better : by name; None where neither direction is better.
    findings : names measured without a model; the others are, with a rule-based reader or judge, an
        instrument check and no evidence about language models (validity.md section 1).
    """

    name: ClassVar[str]
    names: ClassVar[tuple[str, ...]]
    needs_answer: ClassVar[bool] = True
    higher_is_better: ClassVar[Mapping[str, bool | None]]
    findings: ClassVar[frozenset[str]] = frozenset()
    Settings: ClassVar[type[Any]] = NoSettings

    def __init__(self, settings: S) -> None:
        self.settings = settings

    @abstractmethod
    def score(self, scored: Scored) -> Awaitable[AxisScore] | AxisScore:
        """Values for one case. None says that the axis is undefined for it, never 0."""


# ---------------------------------------------------------------------- gates, protocols, trackers


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOutcome:
    """`passed` is None when no gate was asked for. `findings`: one mapping per axis judged."""

    name: str
    passed: bool | None
    findings: tuple[Mapping[str, Any], ...] = ()
    reason: str = ""


class Gate(ABC, Generic[S]):
    """Decides on rows of a run against the rows of its baseline on the same cases."""

    name: ClassVar[str]
    Settings: ClassVar[type[Any]] = NoSettings

    def __init__(self, settings: S) -> None:
        self.settings = settings

    @property
    @abstractmethod
    def baseline(self) -> str | None:
        """The arch to compare with, a run directory, or None when the gate is open."""

    @property
    def axes(self) -> Sequence[str]:
        """The gated axes, so that one that is never filled is found before anything runs."""
        return tuple(getattr(self.settings, "axes", ()))

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


class Pipeline(Protocol):
    """The one path, composed: what a protocol drives. See `framework.pipeline.Pipeline`."""

    def rows(
        self, cases: Iterable[Case], done: frozenset[RowKey], *, answer: bool, k: int | None
    ) -> AsyncIterator[tuple[Row, Mapping[str, Any]]]:
        """Rows with their record for answers.jsonl, as they finish."""
        ...


class RunProtocol(ABC, Generic[S]):
    """Drives the one path. It has no path of its own. `answers`: whether a reader answers."""

    name: ClassVar[str]
    answers: ClassVar[bool] = True
    Settings: ClassVar[type[Any]] = NoSettings

    def __init__(self, settings: S) -> None:
        self.settings = settings

    @abstractmethod
    def drive(
        self, pipeline: Pipeline, cases: Iterable[Case], done: frozenset[RowKey]
    ) -> AsyncIterator[tuple[Row, Mapping[str, Any]]]:
        """Rows with their records, leaving out the keys in `done`."""


class Tracker(ABC, Generic[S]):
    """Copies finished run and sweep directories to a tracking server. The directory is the truth.

    An upload may be repeated: it finishes what was cut off and makes nothing twice (the ids are
    kept in `tracking.json` beside the files). Both raise `framework.errors.TrackingError` when the
    server can't be reached: the run is on disk all the same.
    """

    name: ClassVar[str]
    Settings: ClassVar[type[Any]] = NoSettings

    def __init__(self, settings: S) -> None:
        self.settings = settings

    @abstractmethod
    def upload_run(self, directory: Path, sweep: Path | None) -> str:
        """Upload a finished run, as a child of its sweep's parent run where there is one."""

    @abstractmethod
    def upload_sweep(self, directory: Path) -> str:
        """Upload a sweep's own files and tables to its parent run."""
