"""Of `precedents`: whether an order by itself gives the record that governs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, Final

from benchmarks.studies.leaks.measures import (
    Table,
    short,
)
from framework.contracts import Domain
from framework.records import Answer, Case, Event

TAKEN: Final = 10
"""Records that an order may pick."""


Order = Callable[[Case, Sequence[Event]], Iterable[Event]]
"""The records of a case's history, given in order of arrival, in the order of a shortcut."""


def _most_derived(case: Case, events: Iterable[Event]) -> list[Event]:
    """Those from which most records are derived; ties as they are given."""
    events = list(events)
    times = Counter(to for e in events for relation, to in e.edges if relation == "derived_from")
    return sorted(events, key=lambda event: -times[event.id])


ORDERS: Final[Mapping[str, Order]] = {
    "newest first": lambda case, events: reversed(events),
    "oldest first": lambda case, events: events,
    "longest first": lambda case, events: sorted(events, key=lambda e: -len(e.text)),
    "shortest first": lambda case, events: sorted(events, key=lambda e: len(e.text)),
    "by id": lambda case, events: sorted(events, key=lambda e: e.id),
    "most records derived from it, ties oldest first": _most_derived,
    "most records derived from it, ties newest first": (
        lambda case, events: _most_derived(case, reversed(events))
    ),
}
STRATA: Final = ("standing", "precedent", "corrected")


def precedents(domain: Domain[Any], cases: Sequence[Case]) -> Table:
    """By stratum, whether the record that governs is among the first ten of an order."""
    by_stratum = [[case for case in cases if case.stratum == name] for name in STRATA]
    sizes = [[sum(1 for _ in domain.history(c.history_id)) for c in own] for own in by_stratum]
    complying = [fmean(domain.success(as_planned(c), c.gold) for c in own) for own in by_stratum]
    return [
        ("order", *STRATA),
        *(
            (name, *(short(holding(order, domain, own, TAKEN)) for own in by_stratum))
            for name, order in ORDERS.items()
        ),
        ("ten at random", *(short(fmean(TAKEN / size for size in own)) for own in sizes)),
        ("*the plan as proposed complies*", *map(short, complying)),
    ]


def holding(order: Order, domain: Domain[Any], cases: Sequence[Case], taken: int) -> float:
    """In what share of cases the record that governs is among the first of an order."""
    found = []
    for case in cases:
        events = list(order(case, list(domain.history(case.history_id))))
        found.append(case.gold.governing[0] in {event.id for event in events[:taken]})
    return fmean(found)


def as_planned(case: Case) -> Answer:
    """The change plan as it stands, given as the edit."""
    plan = json.loads(case.task.material["change_plan"])
    edit = [
        {"component": plan["component"], "setting": one["setting"], "value": one["value"]}
        for one in plan["settings"]
    ]
    return Answer(edit=json.dumps(edit))
