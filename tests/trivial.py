"""A trivial domain, arm, reader and model: the smallest things that go through the whole path.

Importing this module registers them as `trivial` (and the arm `hostile`). They measure the harness
itself: its overhead, its budget, its behaviour when a plugin misbehaves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from framework.config import Plan, plan
from framework.contracts import (
    Arch,
    Axis,
    Budget,
    Client,
    Domain,
    Model,
    Operation,
    Provenance,
    Query,
    Reader,
    Reply,
    Req,
    Res,
    Scored,
    Tracker,
    answer_by_rule,
)
from framework.records import (
    Answer,
    AxisScore,
    Case,
    Event,
    Gold,
    GoldItem,
    Item,
    MemoryView,
    Span,
    TaskCard,
)
from framework.registry import register
from framework.text.canonical import digest

CARD = TaskCard(
    instruction="Answer YES when the number is even, NO when it is odd.",
    query="Is the number even?",
    decisions=("YES", "NO"),
    default_decision="NO",
)


@dataclass(frozen=True)
class TrivialSettings:
    """`events`: how many a history has."""

    events: int = 2


@register("domain", "trivial")
class TrivialDomain(Domain[TrivialSettings]):
    """Is the number in the history even?"""

    provenance = Provenance(source="generated", revision="1", licence="MIT", citation="none")
    provides = ("trivial",)
    headline = ("right",)

    @property
    def nominal_tokens(self) -> int:
        return 8 * self.settings.events

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        for i in range(1_000_000 if n is None else n):
            number = int(digest([seed, i])[7:15], 16)
            text = f"The number is {number}."
            span = Span(source_id="e0", text=text)
            item = GoldItem(id="number", kind="fact", key="number", spans=(span,), critical=True)
            gold = Gold(items=(item,), decision="NO" if number % 2 else "YES")
            case_id = f"t{i:06d}"
            yield Case(id=case_id, history_id=f"{number}", task=CARD, gold=gold)

    def history(self, history_id: str) -> Iterator[Event]:
        for i in range(self.settings.events):
            text = f"The number is {history_id}." if i == 0 else f"Nothing of note on day {i}."
            yield Event(id=f"e{i}", text=text, time="2026-01-01", kind="note")

    def digest(self) -> str:
        return digest("trivial-1")


@register("arch", "trivial")
class TrivialArch(Arch[Any]):
    """Every event, in order of arrival."""

    def ingest(self, events: Iterable[Event]) -> None:
        self._items = [
            Item(id=e.id, text=e.text, signals={"position": i}, source_ids=(e.id,))
            for i, e in enumerate(events)
        ]

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        return self._items[:k]


@dataclass(frozen=True)
class HostileSettings:
    """`texts`: what the arm gives back, whatever it is asked, `copies` times over."""

    texts: tuple[str, ...] = ("word " * 10_000,)
    copies: int = 3


@register("arch", "hostile")
class HostileArch(Arch[HostileSettings]):
    """Gives back far more than it may."""

    def ingest(self, events: Iterable[Event]) -> None:
        list(events)

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        texts = self.settings.texts * self.settings.copies
        return [Item(id=f"h{i}", text=text) for i, text in enumerate(texts)]


@dataclass(frozen=True)
class TrivialBudgetSettings:
    """`limit` in tokens."""

    limit: int = 100
    packing: Literal["truncate", "whole"] = "truncate"


@register("budget", "trivial")
class TrivialBudget(Budget[TrivialBudgetSettings]):
    """So many tokens."""

    def tokens(self, domain: str, nominal_tokens: int) -> int:
        return self.settings.limit

    @property
    def packing(self) -> Literal["truncate", "whole"]:
        return self.settings.packing


@dataclass(frozen=True)
class TrivialReaderSettings:
    """`fail_on`: the reader raises when this text is in the view (empty: never)."""

    fail_on: str = ""


@register("reader", "trivial")
class TrivialReader(Reader[TrivialReaderSettings]):
    """Reads the number off the view, with no model."""

    def answer(self, task: TaskCard, view: MemoryView, client: Client) -> Answer:
        if self.settings.fail_on and self.settings.fail_on in view.text:
            raise RuntimeError("the reader was told to fail")
        for word in view.text.replace(".", "").split():
            if word.isdigit():
                return Answer(decision="NO" if int(word) % 2 else "YES")
        return Answer(decision=task.default_decision, defaulted=True)


@register("model", "trivial")
class TrivialModel(Model[Any]):
    """Answers every operation by its rule."""

    kind = "rule-based"

    async def run(self, operation: Operation[Req, Res], request: Req, sample: int) -> Reply[Res]:
        response = answer_by_rule(operation, request)
        return Reply(response=response, text=operation.render(response))


@register("axis", "trivial")
class TrivialAxis(Axis[Any]):
    """Whether the decision is right."""

    names = ("right",)
    needs = ("trivial",)
    higher_is_better: ClassVar[Mapping[str, bool | None]] = {"right": True}
    model_free: ClassVar[frozenset[str]] = frozenset()

    def score(self, scored: Scored) -> AxisScore:
        assert scored.answer is not None
        right = scored.answer.decision == scored.case.gold.decision
        return AxisScore(values={"right": float(right)})


@register("tracking", "trivial")
class TrivialTracker(Tracker[Any]):
    """Uploads nothing and remembers what it was asked to."""

    uploads: ClassVar[list[Path]] = []

    def upload_run(self, directory: Path, sweep: Path | None) -> str:
        self.uploads.append(directory)
        return directory.name

    def upload_sweep(self, directory: Path) -> str:
        self.uploads.append(directory)
        return directory.name


def trivial_plan(**changed: Any) -> Plan:
    """A plan of the trivial plugins; `changed` replaces top-level keys or whole groups."""
    config: dict[str, Any] = {
        "n_cases": 20,
        "seed": 7,
        **{g: {"plugin": "trivial"} for g in ("domain", "arch", "budget", "reader", "model")},
        "judge": {"plugin": "rules"},
        "gate": {"plugin": "noninferiority"},
        "protocol": {"plugin": "evaluate"},
        "tracking": {"plugin": "trivial"},
    }
    return plan({**config, **changed})


def with_top(plan_: Plan, **changed: Any) -> Plan:
    """The plan with other top-level values."""
    return replace(plan_, top=replace(plan_.top, **changed))
