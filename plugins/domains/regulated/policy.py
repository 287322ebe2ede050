"""The decision policy: what it computes from facts, and from facts that are only partly known.

Knowledge of a fact is the finite set of values that it may have, or nothing at all (any value). A
rule is true, false or unknown over what is known; the outcome is determined when the walk down the
precedence can end at one decision only (validity.md section 2).
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final

from framework.text.expressions import evaluate, names

Value = float | date | str
Threshold = float | date | tuple[str, ...]
Knowledge = Mapping[str, frozenset[Value]]
"""Values a fact may have, by key; a key that is absent may have any."""

UPWARD: Final = ("above", "at or above", "after")
DOWNWARD: Final = ("below", "at or below", "before")
LISTED: Final = ("one of", "not one of")
COMPARATORS: Final = UPWARD + DOWNWARD + LISTED

_MOST_COMPLETIONS: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """`fact comparator threshold`, as in `dti above 43.0`."""

    fact: str
    comparator: str
    threshold: Threshold

    def holds(self, value: Value) -> bool:
        """Whether the condition is true of `value`."""
        bound = self.threshold
        if isinstance(bound, tuple):
            return (value in bound) == (self.comparator == "one of")
        left, right = _ordinal(value), _ordinal(bound)
        match self.comparator:
            case "above" | "after":
                return left > right
            case "at or above":
                return left >= right
            case "below" | "before":
                return left < right
            case "at or below":
                return left <= right
        raise AssertionError(self.comparator)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A provision of the case's policy: `decision` where all conditions hold.

    `id` is the rule's name in the spec, `code` the provision as the case's policy numbers it.
    """

    id: str
    code: str
    decision: str
    conditions: tuple[Condition, ...]
    reason: str

    def fires(self, facts: Mapping[str, Value]) -> bool:
        """Whether every condition holds of `facts`."""
        return all(c.holds(facts[c.fact]) for c in self.conditions)

    def status(self, known: Knowledge) -> bool | None:
        """True or False where the rule has one truth value over what is known, None otherwise."""
        truths = [_status(c, known.get(c.fact)) for c in self.conditions]
        if False in truths:
            return False
        return None if None in truths else True


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Rules in force, the order in which decisions win, and the outcome when no rule fires."""

    rules: tuple[Rule, ...]
    precedence: tuple[str, ...]
    remaining: str

    def decide(self, facts: Mapping[str, Value]) -> tuple[str, tuple[Rule, ...]]:
        """The decision on fully known facts, and the rules of that decision that fired."""
        fired = [rule for rule in self.rules if rule.fires(facts)]
        for decision in self.precedence:
            winners = tuple(rule for rule in fired if rule.decision == decision)
            if winners:
                return decision, winners
        return self.remaining, ()

    def outcomes(self, known: Knowledge) -> frozenset[str]:
        """The decisions that some completion of what is known may lead to.

        Rules are taken one by one, so facts that two rules share are not coupled: the set may be
        larger than that of the joint completions, never smaller.
        """
        statuses = [(rule.decision, rule.status(known)) for rule in self.rules]
        return walk(statuses, self.precedence, self.remaining)


def walk(
    statuses: Collection[tuple[str, bool | None]], precedence: Collection[str], remaining: str
) -> frozenset[str]:
    """Decisions that can win, given each rule's decision and truth value (None: unknown)."""
    found: set[str] = set()
    for decision in precedence:
        own = [status for name, status in statuses if name == decision]
        if True in own:
            return frozenset(found | {decision})
        if None in own:
            found.add(decision)
    return frozenset(found | {remaining})


def close(known: Knowledge, formulas: Mapping[str, str]) -> dict[str, frozenset[Value]]:
    """`known` with every derived fact whose operands are known and that is not known itself."""
    closed = dict(known)
    for key, formula in formulas.items():
        operands = sorted(names(formula))
        if key in closed or any(o not in closed for o in operands):
            continue
        choices = [sorted(closed[o], key=_ordinal) for o in operands]
        values: set[Value] = set()
        for n, combination in enumerate(itertools.product(*choices)):
            if n >= _MOST_COMPLETIONS:
                raise ValueError(f"more than {_MOST_COMPLETIONS} completions of {key}")
            values.add(compute(formula, dict(zip(operands, combination, strict=True))))
        closed[key] = frozenset(values)
    return closed


def compute(formula: str, facts: Mapping[str, Value]) -> float:
    """The value of a formula over facts. Raises ValueError when one is not a number or date."""
    return evaluate(formula, {k: v for k, v in facts.items() if not isinstance(v, str)})


def derive(facts: Mapping[str, Value], formulas: Mapping[str, str]) -> dict[str, Value]:
    """`facts` with every derived fact computed afresh, in the order of `formulas`."""
    full = {key: value for key, value in facts.items() if key not in formulas}
    for key, formula in formulas.items():
        full[key] = compute(formula, full)
    return full


def _status(condition: Condition, values: frozenset[Value] | None) -> bool | None:
    if values is None:
        return None
    truths = {condition.holds(value) for value in values}
    return truths.pop() if len(truths) == 1 else None


def _ordinal(value: Value) -> float:
    if isinstance(value, date):
        return float(value.toordinal())
    if isinstance(value, str):
        raise TypeError(f"{value!r} has no order")
    return value
