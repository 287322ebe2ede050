"""The laws of a memory architecture, as one check that any author can run.

    from framework.testing.arch_conformance import check_arch

    def test_my_arch() -> None:
        check_arch(MyArch, MySettings())

It opens the arch on small hand-made histories with a model that answers by rule, and raises
AssertionError with the law that failed. What it holds to:

- `recall` gives at most `k` items, best first, of distinct ids, with finite signals, from sources
  that arrived; it never changes the memory, and the same history gives the same items.
- A history may be empty, is read once, in order; a query may be empty.
- Declarations are true: what the arch does not declare (task, gold, schema, edges, model, budget,
  randomness, query) is out of its reach or without effect.
"""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar, cast

from framework.contracts import (
    PLAIN,
    Arch,
    ArchContext,
    Embedder,
    Operation,
    Profile,
    Query,
    answer_by_rule,
)
from framework.errors import UserError
from framework.records import EMPTY, Event, FactField, Gold, GoldItem, Item, Span, TaskCard
from framework.registry import NoSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Req = TypeVar("Req")
Res = TypeVar("Res")
T = TypeVar("T")

BUDGET: Final = 60
"""Tokens: room for two or three of the events, so that what uses a budget has to choose."""

FIELDS: Final = (
    FactField(key="income", label="Annual income", type="money"),
    FactField(key="score", label="Credit score", type="score"),
)
TASK: Final = TaskCard(
    instruction="Decide the application.",
    query="annual income and credit score of the applicant",
    decisions=("APPROVE", "DENY"),
    default_decision="APPROVE",
    verbs={"APPROVE": "approve", "DENY": "deny"},
    fields=FIELDS,
)


def history() -> tuple[Event, ...]:
    """Nine events: a policy, figures, a correction of one, reasons, noise; with typed edges."""
    texts = (
        ("e1", "policy", "UP-1. Deny if the credit score is below 640; reason: credit score.", ()),
        ("e2", "form", "Annual income: $61,000.\nEmployer: Pacific Logistics.", ()),
        ("e3", "report", "The credit score is 655. Two accounts are open.", (("cites", "e1"),)),
        (
            "e4",
            "letter",
            "The gap in employment arose because the applicant cared for a parent; "
            "it is therefore not a sign of unstable income.",
            (("supports", "e2"),),
        ),
        ("e5b", "note", "The file was moved to the second floor.", ()),
        (
            "e6",
            "letter",
            "Correction dated 2026-03-05: the credit score is 610, not 655.",
            (("supersedes", "e3"),),
        ),
        ("e7", "note", "The applicant called to ask when the office opens.", ()),
        ("e8", "note", "The applicant called to ask when the office opens.", ()),
        ("e9", "report", "The deposit of $4,500 came from the sale of a car.", (("cites", "e2"),)),
    )
    return tuple(
        Event(
            id=name,
            text=f"2026-03-0{i} | {kind} | Office\n{text}",
            time=f"2026-03-0{i}",
            kind=kind,
            edges=edges,
        )
        for i, (name, kind, text, edges) in enumerate(texts, start=1)
    )


def gold(events: Sequence[Event]) -> Gold:
    """Gold of `history`: its last line of two events, one of them critical."""
    by_id = {event.id: event.text.rsplit("\n", 1)[-1] for event in events}
    spans = {name: (Span(source_id=name, text=text),) for name, text in by_id.items()}
    return Gold(
        items=(
            GoldItem(id="income", kind="fact", key="income", spans=spans.get("e2", ())),
            GoldItem(
                id="score", kind="fact", key="score", spans=spans.get("e6", ()), critical=True
            ),
        ),
        decision="DENY",
    )


@dataclass(slots=True)
class RuleClient:
    """A client that answers every operation by its rule, as `profile` reads; it counts calls."""

    kind = "rule-based"
    identity: ClassVar[Mapping[str, Any]] = EMPTY
    calls: int = 0
    profile: Profile = PLAIN

    def choose(self, options: Sequence[str]) -> str:
        """Always the first: there is one case here."""
        return options[0]

    async def ask(self, operation: Operation[Req, Res], request: Req) -> Res:
        """The rule-based response; the prompt is rendered too, so that a bad request shows."""
        self.calls += 1
        operation.prompt(request)
        return answer_by_rule(operation, request, self.profile)


class NoClient:
    """The client of an arch that declares no model: any call is a broken declaration."""

    kind = "rule-based"
    identity: ClassVar[Mapping[str, Any]] = EMPTY

    def choose(self, options: Sequence[str]) -> str:
        """Raise AssertionError."""
        raise AssertionError("chose a decision, which is for readers")

    async def ask(self, operation: Operation[Req, Res], request: Req) -> Res:
        """Raise AssertionError."""
        raise AssertionError(f"asked a model for {operation.name} without declaring needs_model")


class WordsEmbedder(Embedder[NoSettings]):
    """An embedder for tests: words counted by the sum of their letters."""

    name = "words"
    kind = "lexical"
    dimension = 32

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Counts of words by place, normalised."""
        import numpy as np

        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, sum(map(ord, word)) % self.dimension] += 1
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)


class _Hidden:
    """Stands where an arch declares that it does not look; any look is a broken declaration."""

    def __init__(self, what: str) -> None:
        object.__setattr__(self, "_what", what)

    def __getattribute__(self, name: str) -> Any:
        what = object.__getattribute__(self, "_what")
        raise AssertionError(f"looked at {what} without declaring it")

    def __len__(self) -> int:
        return int(self.length)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def __getitem__(self, key: Any) -> Any:
        return self.items[key]


@contextmanager
def as_laws() -> Iterator[None]:
    """What a run refuses inside is a broken law: TypeError, ValueError and UserError."""
    try:
        yield
    except (TypeError, ValueError, UserError) as error:
        raise AssertionError(str(error)) from None


def settle(value: Awaitable[T] | T) -> T:
    """`value`, run to its end where it is awaitable. Not to be called from a running event loop."""

    async def wait(pending: Awaitable[T]) -> T:
        return await pending

    return asyncio.run(wait(value)) if inspect.isawaitable(value) else value


def open_arch(
    arch: type[Arch[Any]],
    settings: Any,
    events: Sequence[Event],
    *,
    budget_tokens: int = BUDGET,
    seed: int = 7,
    trial: int = 0,
) -> Arch[Any]:
    """An instance with a history taken in, told what it declares and nothing else."""
    context = ArchContext(
        budget_tokens=None if arch.unbudgeted else budget_tokens,
        client=RuleClient() if arch.needs_model else NoClient(),
        fields=FIELDS if arch.knows_schema else cast(Any, _Hidden("the schema")),
        embedder=WordsEmbedder(NoSettings())
        if arch.uses_embedder
        else cast(Any, _Hidden("the embedder")),
        seed=seed,
        trial=trial,
    )
    instance = arch(settings, context)
    settle(instance.ingest(iter(events)))
    return instance


def ask(
    instance: Arch[Any],
    events: Sequence[Event],
    k: int = 100,
    text: str = TASK.query,
    case_seed: int = 0,
) -> list[Item]:
    """What the instance recalls for a query that holds what the arch declares and nothing else."""
    query = Query(
        text=text,
        task=TASK if instance.sees_task else cast(Any, _Hidden("the task")),
        gold=gold(events) if instance.sees_gold else cast(Any, _Hidden("the gold")),
        seed=case_seed,
    )
    return list(settle(instance.recall(query, k)))


def check_arch(arch: type[Arch[Any]], settings: Any) -> None:
    """Hold an arch with these settings to every law. Raises AssertionError naming the first broken.

    Asks nothing of quality: a bad memory passes. Must not be called from a running event loop.
    """
    check_declarations(arch, settings)
    events = history()
    for part in ((), events[:1], events):
        check_recall(arch, settings, part)
    check_told(arch, settings, events)
    check_random(arch, settings, events)


def check_declarations(arch: type[Arch[Any]], settings: Any) -> None:
    """Declarations are of their types and do not contradict each other."""
    with as_laws():
        arch.check_declared()
    assert not (arch.unbudgeted and arch.budget_at != "none"), (
        "an unbudgeted arch has no budget to use"
    )
    assert isinstance(settings, arch.Settings), f"settings are not {arch.Settings.__name__}"
    assert (arch.__doc__ or "").strip(), "a docstring says what the arch is and where it is from"


def check_recall(arch: type[Arch[Any]], settings: Any, events: Sequence[Event]) -> None:
    """Items are well formed, at most k, the same every time, and recall leaves no trace."""
    arrived = {event.id for event in events}
    instance = open_arch(arch, settings, events)
    before = freeze(instance)
    for k in (0, 1, 2, 100):
        items = ask(instance, events, k)
        assert len(items) <= k, f"{len(items)} items for k={k}"
        assert all(isinstance(item, Item) for item in items), "an item is not an Item"
        assert len({item.id for item in items}) == len(items), "two items of one id"
        for item in items:
            assert item.text.strip(), f"item {item.id} has no text"
            bad = {k: v for k, v in item.signals.items() if not math.isfinite(v)}
            assert not bad, f"signals of {item.id} are not finite: {bad}"
            strangers = set(item.source_ids) - arrived
            assert not strangers, f"sources of {item.id} never arrived: {sorted(strangers)}"
        assert ask(instance, events, k) == items, "recall differs when asked again"
    for text in ("", cast(str, None)):
        ask(instance, events, 5, text)
    report = instance.report()
    assert all(math.isfinite(value) for value in report.values()), f"report: {dict(report)}"
    assert freeze(instance) == before, "recall changed the memory"
    again = ask(open_arch(arch, settings, events), events)
    assert again == ask(instance, events), "the same history gave other items"


def check_told(arch: type[Arch[Any]], settings: Any, events: Sequence[Event]) -> None:
    """What the arch does not declare has no effect on what it recalls."""
    full = ask(open_arch(arch, settings, events), events)
    if not arch.gold_edges:
        bare = [replace(event, edges=()) for event in events]
        assert ask(open_arch(arch, settings, bare), bare) == full, "edges have an effect"
    if arch.budget_at == "none":
        wide = open_arch(arch, settings, events, budget_tokens=10 * BUDGET)
        assert ask(wide, events) == full, "the budget has an effect"
    if arch.query == "none":
        other = ask(open_arch(arch, settings, events), events, text="office opens second floor")
        assert other == full, "the query has an effect"


def check_random(arch: type[Arch[Any]], settings: Any, events: Sequence[Event]) -> None:
    """One trial means no randomness; several differ, by case as well, and can be repeated."""
    first = open_arch(arch, settings, events)
    assert first.trials >= 1, f"trials is {first.trials}"
    trials = [ask(open_arch(arch, settings, events, trial=t), events) for t in range(6)]
    seeds = [ask(open_arch(arch, settings, events, seed=s), events) for s in range(6)]
    cases = [ask(first, events, case_seed=s) for s in range(6)]
    if first.trials == 1:
        assert all(items == trials[0] for items in trials + seeds + cases), (
            "one trial, but seed or trial counts"
        )
    else:
        assert any(items != trials[0] for items in trials), (
            "several trials, but they are all the same"
        )
        assert any(items != seeds[0] for items in seeds), "the seed does not count"
        assert any(items != cases[0] for items in cases), (
            "all cases of a history share a choice: they are no independent choices"
        )


def freeze(value: Any, _within: tuple[int, ...] = ()) -> Any:
    """A deep, comparable picture of an arch's state, its settings and context left out.

    Containers, dataclasses, arrays and plain objects are taken apart; anything else stands for
    itself by `repr`.
    """
    if value is None or isinstance(value, (str, bytes, int, float, bool)):
        return value
    if id(value) in _within:
        return "<itself>"
    within = (*_within, id(value))
    kind = type(value).__qualname__
    if isinstance(value, Arch):
        state = {k: v for k, v in vars(value).items() if k not in ("settings", "context")}
        return kind, freeze(state, within)
    if isinstance(value, Mapping):
        return kind, [(freeze(k, within), freeze(v, within)) for k, v in value.items()]
    if isinstance(value, (set, frozenset)):
        return kind, sorted((freeze(v, within) for v in value), key=repr)
    if isinstance(value, Sequence):
        return kind, [freeze(v, within) for v in value]
    if hasattr(value, "tobytes"):  # numpy arrays, without importing numpy
        return kind, str(getattr(value, "dtype", "")), value.tobytes()
    if is_dataclass(value) and not isinstance(value, type):
        return kind, [(f.name, freeze(getattr(value, f.name), within)) for f in fields(value)]
    if hasattr(value, "__dict__") and not callable(value):
        return kind, freeze(vars(value), within)
    return kind, repr(value)
