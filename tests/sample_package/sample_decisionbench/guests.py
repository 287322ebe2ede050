"""A domain: may this guest come in once more?"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from framework.contracts import Domain, Provenance
from framework.records import ABSTAIN, Case, Event, FactField, Gold, GoldItem, Span, TaskCard
from framework.registry import register
from framework.text.canonical import digest

FIELDS = (FactField(key="visits", label="Visits so far", type="count", aliases=("visits so far",)),)
CARD = TaskCard(
    instruction="Decide whether the guest may come in, by the house rules in the record.",
    query="visits so far and the house rules",
    decisions=("APPROVE", "DENY"),
    default_decision="APPROVE",
    verbs={"APPROVE": "approve", "DENY": "deny", ABSTAIN: "refer"},
    fields=FIELDS,
)


@dataclass(frozen=True)
class GuestsSettings:
    """`notes`: documents of no consequence in a history."""

    notes: int = 6


@register("domain", "sample_guests")
class Guests(Domain[GuestsSettings]):
    """Guests and a limit of visits that the house rules set; both vary by case."""

    provenance = Provenance(source="generated", revision="1", licence="MIT", citation="none")
    provides = ("decision", "facts", "items")
    headline = ("eda", "frp", "surface_ceiling")
    success_axis = "eda"

    @property
    def nominal_tokens(self) -> int:
        return 60 + 25 * self.settings.notes

    @property
    def fields(self) -> tuple[FactField, ...]:
        return FIELDS

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        for index in range(100_000 if n is None else n):
            history_id = f"{seed}-{index}"
            visits, limit = _drawn(history_id)
            fact = Span(source_id="form", text=_fact(visits))
            rule = Span(source_id="rules", text=_rule(limit))
            items = (
                GoldItem(
                    id="visits",
                    kind="fact",
                    key="visits",
                    type="count",
                    anchors=(f"{visits} visits",),
                    bindings=("Visits so far",),
                    spans=(fact,),
                    critical=True,
                ),
                GoldItem(id="GR-1", kind="rule", key="GR-1", spans=(rule,), critical=True),
            )
            gold = Gold(items=items, decision="DENY" if visits > limit else "APPROVE")
            yield Case(id=f"guest-{history_id}", history_id=history_id, task=CARD, gold=gold)

    def history(self, history_id: str) -> Iterator[Event]:
        visits, limit = _drawn(history_id)
        remaining = "Rules in force: GR-1. Precedence: deny, approve. If no rule applies, approve."
        yield _event("rules", 1, "policy", f"{_rule(limit)} {remaining}")
        yield _event("form", 2, "form", _fact(visits))
        for number in range(self.settings.notes):
            yield _event(f"n{number}", 3 + number % 20, "note", "The lobby was quiet all morning.")

    def digest(self) -> str:
        return digest("sample-guests-1")


def _drawn(history_id: str) -> tuple[int, int]:
    """Visits and limit, from the id alone; on either side of the limit equally often."""
    draw = random.Random(history_id)
    limit = draw.randint(3, 30)
    return limit + draw.choice((-2, -1, 1, 2)), limit


def _fact(visits: int) -> str:
    return f"Visits so far: {visits} visits."


def _rule(limit: int) -> str:
    return f"GR-1. Deny if the visits so far is above {limit} visits; reason: too many visits."


def _event(name: str, day: int, kind: str, body: str) -> Event:
    time = f"2026-03-{day:02d}"
    return Event(id=name, text=f"{time} | {kind} | Front desk\n{body}", time=time, kind=kind)
