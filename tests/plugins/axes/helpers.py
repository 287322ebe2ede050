"""A hand-made loan case, a domain that holds no more than it needs, and a way to score an axis."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator, Mapping
from typing import Any, cast

from framework.contracts import Client, Domain, Scored
from framework.records import (
    ABSTAIN,
    Answer,
    AxisScore,
    Case,
    ChecklistItem,
    Event,
    Gold,
    GoldItem,
    Item,
    MemoryView,
    ReasoningPoint,
    Span,
    Standard,
    TaskCard,
)
from framework.registry import NoSettings, find, settings_of
from framework.retention import retained

INCOME = GoldItem(
    id="income",
    kind="fact",
    key="income",
    type="money",
    anchors=("$147,500",),
    bindings=("gross annual income",),
    spans=(Span(source_id="e1", text="Gross annual income: $147,500."),),
)
SCORE = GoldItem(
    id="score",
    kind="fact",
    key="credit_score",
    type="score",
    anchors=("601",),
    bindings=("credit score",),
    spans=(Span(source_id="e2", text="The credit score is 601."),),
    critical=True,
)
RULE = GoldItem(
    id="UP-1",
    kind="rule",
    key="UP-1",
    anchors=("640",),
    spans=(Span(source_id="e3", text="UP-1. Deny if the credit score is below 640."),),
    critical=True,
)
STANDARD = Standard(
    name="Regulation B",
    question="Is the notice sufficient?",
    items=(
        ChecklistItem(
            id="action",
            text="action taken",
            citation="(a)(2)",
            requires=((r"we (deny|declined)",),),
        ),
        ChecklistItem(
            id="reasons",
            text="specific reasons",
            citation="(b)(2)",
            requires=((r"because", r"reasons?:"),),
            forbids=(r"internal standards",),
        ),
        ChecklistItem(
            id="quote",
            text="provision verbatim",
            citation="(b)",
            requires=((r"Deny if the credit score is below 640",),),
            axis="crr_quote",
        ),
    ),
)
DENIAL = Gold(
    items=(INCOME, SCORE, RULE),
    decision="DENY",
    reasons=(
        ReasoningPoint(
            id="r1",
            text="The score of 601 is below the minimum.",
            requires=(("601",), ("below", "under"), ("640", "the minimum")),
            forbids=("not below",),
        ),
        ReasoningPoint(id="r2", text="Income is adequate.", requires=(("$147,500",),)),
    ),
    principal_reasons=("credit score too low",),
    all_reasons=("credit score too low", "score too low", "income insufficient"),
    adverse=("DENY",),
    standard=STANDARD,
)


class SmallDomain(Domain[NoSettings]):
    """Success as every domain has it; from a view the policy needs the score and the rule."""

    name = "small"

    def __init__(self) -> None:
        super().__init__(NoSettings())

    @property
    def nominal_tokens(self) -> int:
        return 100

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        yield from ()

    def history(self, history_id: str) -> Iterator[Event]:
        yield from ()

    def digest(self) -> str:
        return ""

    def decision_from(self, case: Case, retained: frozenset[str]) -> str | None:
        return case.gold.decision if {"score", "UP-1"} <= retained else ABSTAIN


def view(*texts: str, budget: int | None = 50, sources: tuple[str, ...] = ()) -> MemoryView:
    items = tuple(Item(id=str(i), text=t, source_ids=sources) for i, t in enumerate(texts))
    return MemoryView(items=items, tokens=0, budget_tokens=budget)


EVERYTHING = view(*(item.spans[0].text for item in DENIAL.items))


def scored(answer: Answer | None, gold: Gold = DENIAL, seen: MemoryView = EVERYTHING) -> Scored:
    judge = find("judge", "rules")
    return Scored(
        case=Case(id="c", history_id="h", task=TaskCard(instruction="", query=""), gold=gold),
        domain=SmallDomain(),
        view=seen,
        answer=answer,
        retained=retained(gold, seen),
        judge=judge.cls(settings_of(judge, {})),
        client=cast(Client, None),
    )


def score(axis: str, case: Scored) -> AxisScore:
    plugin = find("axis", axis)
    instance: Any = plugin.cls(settings_of(plugin, {}))
    result = instance.score(case)
    if inspect.iscoroutine(result):
        return cast(AxisScore, asyncio.run(result))
    return cast(AxisScore, result)


def values(
    axis: str, answer: Answer | None, gold: Gold = DENIAL, seen: MemoryView = EVERYTHING
) -> Mapping[str, float | None]:
    return score(axis, scored(answer, gold, seen)).values
