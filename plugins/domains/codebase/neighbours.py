"""Decisions on other programs, so that neither links nor length tell which decision governs.

Every decision in force, whatever it is for, has one link up or (a third of them) two, and one down
or two; the service's own chains have that above their entries, and what is missing below the
entries and above the rules leads to decisions on other programs, which have the same. Three in
seven replaced another. What is left are the ends of the graph.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any, Final

from plugins.domains.codebase.decision import Decision

SEED: Final = "codebase neighbours 1"
FIRST: Final = 1_001
"""The number of the first of them, before all are numbered by their dates."""
RELATIONS: Final = ("implements", "derived_from", "constrains")
TWO: Final = 1 / 3
"""How many have a second link in a direction: as many as among the service's own entries."""
REPLACING: Final = 3 / 7
"""How many replaced another: as many as among the rules."""


@dataclass(slots=True)
class _Graph:
    """Links up by number, and the places that are still open."""

    rng: random.Random
    up: dict[int, list[tuple[str, int]]] = field(default_factory=dict)
    open: list[int] = field(default_factory=list)

    def link(self, below: int, above: int) -> None:
        self.up.setdefault(below, []).append((self.rng.choice(RELATIONS), above))

    def places(self) -> int:
        return 1 + (self.rng.random() < TWO)

    def take(self) -> set[int]:
        """One or two open places, of different decisions."""
        found: set[int] = set()
        for _ in range(self.places()):
            others = [number for number in self.open if number not in found]
            if others:
                number = self.rng.choice(others)
                self.open.remove(number)
                found.add(number)
        return found


def with_neighbours(
    own: Mapping[int, Decision], rules: Collection[int], count: int, parts: Mapping[str, Any]
) -> dict[int, Decision]:
    """The service's own decisions, linked to `count` others, and these."""
    rng = random.Random(SEED)
    found = {n: d if d.rule else _settling(d, parts, named=True) for n, d in own.items()}
    retired = {d.replaces for d in own.values() if d.replaces}
    in_force = [n for n in own if n not in retired]
    old = max(0, min(count, round(REPLACING / (1 + REPLACING) * (len(in_force) + count)
                                  - len(retired) / (1 + REPLACING))))  # fmt: skip
    new = range(FIRST, FIRST + count - old)
    graph = _Graph(rng, {n: list(d.up) for n, d in own.items()})
    _upwards(graph, sorted(rules), new[: len(new) // 2])
    _downwards(graph, own, in_force, new[len(new) // 2 :])
    days = sorted(date.fromisoformat(d.date) for d in own.values())
    titles = rng.sample(_titles(parts), len(new))
    for number, title in zip(new, titles, strict=True):
        day = days[0] + timedelta(days=rng.randrange((days[-1] - days[0]).days))
        found[number] = _settling(_decision(number, title, day, parts), parts)
    heirs = rng.sample([n for n in [*in_force, *new] if n not in rules], old) if old else []
    for number, heir in enumerate(heirs, start=FIRST + len(new)):
        day = date.fromisoformat(found[heir].date) - timedelta(days=rng.randrange(60, 500))
        past = replace(_decision(number, found[heir].title, day, parts), author=found[heir].author)
        found[number] = _settling(past, parts, named=heir in own, like=heir)
        found[heir] = replace(found[heir], replaces=number)
    for number in [*sorted(retired), *range(FIRST + len(new), FIRST + count)]:
        for above in rng.sample([*in_force, *new], graph.places()) if count else ():
            graph.link(number, above)
    return {n: replace(d, up=tuple(graph.up.get(n, ()))) for n, d in found.items()}


def _upwards(graph: _Graph, rules: list[int], new: range) -> None:
    """What the rules stand below, and what that stands below."""
    graph.open = [rule for rule in rules for _ in range(graph.places())]
    for number in new:
        for below in graph.take():
            graph.link(below, number)
        graph.open += [number] * graph.places()


def _downwards(graph: _Graph, own: Mapping[int, Decision], in_force: list[int], new: range) -> None:
    """What stands below the service's own decisions, and below that."""
    below = [above for d in own.values() for _, above in d.up]
    graph.open = [n for n in in_force for _ in range(graph.places() - below.count(n))]
    for number in new:
        for above in graph.take():
            graph.link(number, above)
        graph.open += [number] * graph.places()


def _titles(parts: Mapping[str, Any]) -> list[str]:
    nouns = parts["nouns"]
    return [f"{a} and {b.lower()}" for i, a in enumerate(nouns) for b in nouns[i + 1 :]]


def _decision(number: int, title: str, day: date, parts: Mapping[str, Any]) -> Decision:
    rng = random.Random(f"{SEED}/{number}")
    return Decision(
        number=number,
        title=title,
        author=rng.choice(parts["authors"]),
        date=day.isoformat(),
        weight=0,
        text=" ".join(rng.sample(parts["reasons"], 2)),
    )


def _settling(
    decision: Decision, parts: Mapping[str, Any], *, named: bool = False, like: int | None = None
) -> Decision:
    """The decision with a sentence on another program, of the form of the decision `like`."""
    forms = [rule for rule in parts["rules"] if rule.get("named", True) or not named]
    form = random.Random(f"{SEED}/{like or decision.number}/form").choice(forms)
    rng = random.Random(f"{SEED}/{decision.number}/rule")
    w, v = rng.sample(parts["names"], 2)
    filled = {"w": w, "v": v, "n": rng.choice(parts["figures"])}
    return replace(
        decision,
        beside=form["rule"].format(**filled),
        beside_said=form["said"].format(**filled),
    )
