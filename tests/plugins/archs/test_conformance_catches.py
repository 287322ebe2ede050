"""The conformance suite finds an arch that breaks a law: one broken arch per law."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from framework.contracts import Arch, Operation, Profile, Prompt, Query, Rule
from framework.records import Event, Item
from framework.registry import NoSettings, register
from framework.testing.arch_conformance import check_arch


class Good(Arch[NoSettings]):
    """Events in order of arrival; every broken arch below differs from it in one thing."""

    query = "none"

    def ingest(self, events: Iterable[Event]) -> None:
        self.events = list(events)

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        return [
            Item(id=e.id, text=e.text, signals={"rank": 1.0}, source_ids=(e.id,))
            for e in self.events[:k]
        ]


class Echo(Operation[str, str]):
    """An operation that answers with its request."""

    name = "recalled_echo"

    def prompt(self, request: str) -> Prompt:
        return Prompt(system="", user=request)

    def parse(self, text: str, request: str) -> str:
        return text


@register("rule", "recalled_echo")
class EchoRule(Rule[str, str]):
    """Its request."""

    def answer(self, request: str, profile: Profile) -> str:
        return request


def recalling(change: Callable[[Good, list[Item], Query, int], Sequence[Item]]) -> type[Good]:
    """`Good` with what it recalls changed."""

    class Broken(Good):
        """Broken."""

        def recall(self, query: Query, k: int) -> Sequence[Item]:
            return change(self, list(super().recall(query, k)), query, k)

    return Broken


def mutates(arch: Good, items: list[Item], query: Query, k: int) -> list[Item]:
    vars(arch)["asked"] = vars(arch).get("asked", 0) + 1
    return items


def shuffles(arch: Good, items: list[Item], query: Query, k: int) -> list[Item]:
    random.Random(arch.context.seed).shuffle(items)
    return items


def every_event(arch: Good, items: list[Item], query: Query, k: int) -> Sequence[Item]:
    return Good.recall(arch, query, 1000)


def with_signal(value: float) -> type[Good]:
    return recalling(lambda a, items, q, k: [replace(i, signals={"s": value}) for i in items])


class Asks(Good):
    """Asks a model without saying so."""

    async def ingest(self, events: Iterable[Event]) -> None:  # type: ignore[override]
        super().ingest(events)
        await self.context.client.ask(Echo(), "hello")


class Edges(Good):
    """Reads edges without saying so."""

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        return [i for i, e in zip(super().recall(query, k), self.events, strict=False) if e.edges]


class SaysTrials(Good):
    """Says it chooses at random, and does not."""

    @property
    def trials(self) -> int:
        return 10


class Greedy(Good):
    """Reads the events twice."""

    def ingest(self, events: Iterable[Event]) -> None:
        self.events = [e for _ in range(2) for e in events]
        assert len(list(events)) or not self.events, "the second reading was empty"


BROKEN: list[tuple[type[Arch[Any]], str]] = [
    (recalling(mutates), "changed the memory"),
    (recalling(shuffles), "one trial, but seed or trial counts"),
    (recalling(every_event), r"items for k=0"),
    (recalling(lambda a, items, q, k: items[:1] * min(k, 2)), "two items of one id"),
    (recalling(lambda a, items, q, k: [replace(i, text=" ") for i in items]), "has no text"),
    (
        recalling(lambda a, items, q, k: [replace(i, source_ids=("x",)) for i in items]),
        "never arrived",
    ),
    (with_signal(float("nan")), "not finite"),
    (recalling(lambda a, items, q, k: items if q.gold else []), "looked at the gold"),
    (recalling(lambda a, items, q, k: [i for i in items if q.task.query]), "looked at the task"),
    (
        recalling(lambda a, items, q, k: [i for i in items if q.gold.decision]),
        "looked at the gold",
    ),
    (recalling(lambda a, items, q, k: [i for i in items if a.context.fields[0]]), "the schema"),
    (
        recalling(lambda a, items, q, k: items[: (a.context.budget_tokens or 0) // 20]),
        "the budget has an effect",
    ),
    (
        recalling(lambda a, items, q, k: items if q.text and "income" in q.text else items[1:]),
        "the query has an effect",
    ),
    (Asks, "asked a model for recalled_echo"),
    (Edges, "edges have an effect"),
    (SaysTrials, "all the same"),
    (Greedy, "second reading"),
]


def test_a_good_arch_passes() -> None:
    check_arch(Good, NoSettings())


@pytest.mark.parametrize(("arch", "law"), BROKEN)
def test_a_broken_arch_is_found(arch: type[Arch[Any]], law: str) -> None:
    with pytest.raises(AssertionError, match=law):
        check_arch(arch, NoSettings())


@pytest.mark.parametrize(
    ("name", "value", "law"),
    [
        ("budget_at", "sometimes", "budget_at: .sometimes. given"),
        ("query", "mine", "query: .mine. given"),
        ("sees_task", 1, "sees_task: 1 given, true or false"),
        ("__doc__", "", "a docstring says"),
    ],
)
def test_a_wrong_declaration_is_found(name: str, value: object, law: str) -> None:
    broken = type("Broken", (Good,), {"__doc__": "Broken.", name: value})
    with pytest.raises(AssertionError, match=law):
        check_arch(broken, NoSettings())


def test_an_arch_that_says_exempt_is_unbudgeted() -> None:
    """The attribute's name before: archs of other packages may still have it."""

    class OfBefore(Good):
        exempt = True

    assert OfBefore.unbudgeted
    assert not Good.unbudgeted
