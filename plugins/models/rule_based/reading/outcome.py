"""What a policy decides when some values are open: three-valued logic over admissible completions.

A rule is true, false or unknown. The decision is determined when every admissible completion of
what is open gives the same one: each stated figure of a conflict; for a missing figure, values on
either side of and at every threshold that it is compared with; for a rule in force that was not
seen, either answer (validity.md section 2). Completions are explored rule by rule in the
order of precedence and no further than two different outcomes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final, TypeVar

from plugins.models.rule_based.reading.facts import Facts
from plugins.models.rule_based.reading.policy import Condition, Policy, PolicyRule
from plugins.models.rule_based.reading.quantities import Quantity, quantity_of

_T = TypeVar("_T")
_OTHER: Final = "\N{NULL}other"
"""A category that no policy names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The decision, empty when undetermined, and every rule with whether it fires (None: open)."""

    decision: str
    rules: tuple[tuple[PolicyRule, bool | None], ...] = ()

    @property
    def fired(self) -> tuple[PolicyRule, ...]:
        """The rules of the decision that fire, in order of their codes."""
        return tuple(rule for rule, state in self.rules if state and rule.decision == self.decision)


def decide(policy: Policy, facts: Facts) -> Outcome:
    """What the policy decides of the facts. No policy at all determines nothing."""
    completions = _Completions(policy, facts)
    rules = tuple((rule, _agreed(completions.states(rule, {}))) for rule in policy.rules)
    decision = _agreed(completions.outcomes({})) if policy.rules else None
    return Outcome(decision=decision or "", rules=rules)


def _agreed(found: Iterator[_T]) -> _T | None:
    """What all of `found` are, None when two differ; looks no further than that."""
    first = next(found, None)
    return first if all(other == first for other in found) else None


def condition_holds(condition: Condition, left: Quantity, right: Quantity | None) -> bool:
    """Whether a condition holds of `left`, and of `right` where it names another field.

    Quantities of two kinds (a date and a number) have no order: then none holds.
    """
    comparison = condition.comparison
    if comparison in ("in", "not in"):
        listed = any(left == quantity_of(option) for option in condition.options)
        return listed == (comparison == "in")
    if condition.options:
        right = quantity_of(condition.options[0])
    if isinstance(left, date) and isinstance(right, date):
        return _ordered(comparison, left.toordinal(), right.toordinal())
    if isinstance(left, float) and isinstance(right, float):
        return _ordered(comparison, left, right)
    return False


def _ordered(comparison: str, left: float, right: float) -> bool:
    match comparison:
        case ">":
            return left > right
        case ">=":
            return left >= right
        case "<":
            return left < right
        case _:
            return left <= right


class _Completions:
    """The completions of one case. An assignment maps open keys to the value tried."""

    def __init__(self, policy: Policy, facts: Facts) -> None:
        self.policy = policy
        self.facts = facts
        self._possibles: dict[str, tuple[Quantity, ...]] = {}
        listed = dict.fromkeys(policy.precedence)
        self.levels = [
            (decision, [rule for rule in policy.rules if rule.decision == decision])
            for decision in [*listed, *sorted({r.decision for r in policy.rules} - listed.keys())]
        ]
        self.ordered = {rule.decision for rule in policy.rules} <= listed.keys()

    def outcomes(self, assignment: Mapping[str, Quantity]) -> Iterator[str]:
        """The outcome of every completion of `assignment`, with repeats; empty: not determined."""
        settled = self._settled(assignment)
        if settled is not None:
            yield from settled
            return
        for further in self._completed(self._first_open(assignment), assignment):
            yield from self.outcomes(further)

    def states(self, rule: PolicyRule, assignment: Mapping[str, Quantity]) -> Iterator[bool]:
        """Whether the rule fires in every completion of what it turns on, with repeats."""
        state = self.state(rule, assignment)
        if state is not None:
            yield state
            return
        for further in self._completed(rule, assignment):
            yield from self.states(rule, further)

    def _completed(
        self, rule: PolicyRule, assignment: Mapping[str, Quantity]
    ) -> Iterator[Mapping[str, Quantity]]:
        """`assignment` with one open key of the rule completed in every admissible way."""
        key = next(self._open_keys(rule, assignment))
        return ({**assignment, key: value} for value in self._admissible(key))

    def _settled(self, assignment: Mapping[str, Quantity]) -> tuple[str, ...] | None:
        """Outcomes that `assignment` settles already; None when an open rule still matters."""
        unseen = bool(self.policy.missing)
        firing: list[str] = []
        for position, (decision, rules) in enumerate(self.levels):
            states = [self.state(rule, assignment) for rule in rules]
            if True in states:
                if self.ordered:
                    # A rule that was not seen may be of any decision that comes earlier.
                    return ("", decision) if unseen and position > 0 else (decision,)
                firing.append(decision)
            elif None in states:
                return None
        if firing:
            return (firing[0],) if len(firing) == 1 and not unseen else ("",)
        return ("",) if unseen else (self.policy.remaining,)

    def _first_open(self, assignment: Mapping[str, Quantity]) -> PolicyRule:
        return next(
            rule
            for _, rules in self.levels
            for rule in rules
            if self.state(rule, assignment) is None
        )

    def state(self, rule: PolicyRule, assignment: Mapping[str, Quantity]) -> bool | None:
        """Whether the rule fires: all of its conditions hold."""
        states = [self._condition(condition, assignment) for condition in rule.conditions]
        if False in states:
            return False
        return None if None in states else True

    def _condition(self, condition: Condition, assignment: Mapping[str, Quantity]) -> bool | None:
        left = self._quantity(condition.left, assignment)
        if left is None:
            return None
        right = self._quantity(condition.right, assignment) if condition.right else None
        if condition.right and right is None:
            return None
        return condition_holds(condition, left, right)

    def _quantity(self, key: str, assignment: Mapping[str, Quantity]) -> Quantity | None:
        """The value of a field under `assignment`, stated or derived; None while it is open.

        What derives from a missing figure is missing itself: representatives of the figure stand
        for no particular value, so nothing is computed from them.
        """
        stated = self.facts.stated(key)
        if len(stated) == 1:
            return quantity_of(stated[0])
        if stated or key in assignment:
            return assignment.get(key)
        inputs = {
            name: self._quantity(name, assignment)
            for name in self.facts.inputs(key)
            if self._possible(name)
        }
        known = {name: quantity for name, quantity in inputs.items() if quantity is not None}
        if not known or len(known) < len(self.facts.inputs(key)):
            return None
        return self.facts.compute(key, known)

    def _possible(self, key: str) -> tuple[Quantity, ...]:
        """Every value that the stated figures allow for a field; none when one of them misses."""
        if key not in self._possibles:
            self._possibles[key] = ()  # also ends a formula that leads back to itself
            self._possibles[key] = self._stated_or_derived(key)
        return self._possibles[key]

    def _stated_or_derived(self, key: str) -> tuple[Quantity, ...]:
        if stated := self.facts.stated(key):
            return tuple(map(quantity_of, stated))
        inputs = self.facts.inputs(key)
        if not inputs:
            return ()
        figures = itertools.product(*map(self._possible, inputs))
        computed = (self.facts.compute(key, dict(zip(inputs, f, strict=True))) for f in figures)
        return tuple(quantity for quantity in computed if quantity is not None)

    def _open_keys(self, rule: PolicyRule, assignment: Mapping[str, Quantity]) -> Iterator[str]:
        """The keys to complete before the rule has a value, those in conflict before missing."""
        for condition in rule.conditions:
            if self._condition(condition, assignment) is None:
                for key in filter(None, (condition.left, condition.right)):
                    if self._quantity(key, assignment) is None:
                        yield self._leaf(key, assignment)

    def _leaf(self, key: str, assignment: Mapping[str, Quantity]) -> str:
        """What to complete for an open field: the conflict it derives from, or itself."""
        if not self.facts.stated(key) and self._possible(key):
            for name in self.facts.inputs(key):
                if self._quantity(name, assignment) is None:
                    return self._leaf(name, assignment)
        return key

    def _admissible(self, key: str) -> list[Quantity]:
        """What to try for an open field: its conflicting figures, or representatives."""
        stated = self.facts.stated(key)
        if stated:
            return [quantity_of(value) for value in stated]
        linked = self._linked(key)
        found = {quantity for other in linked for quantity in self._compared_with(other)}
        texts = sorted(q for q in found if isinstance(q, str))
        days = sorted(q.toordinal() for q in found if isinstance(q, date))
        numbers = sorted(q for q in found if isinstance(q, float))
        tried: list[Quantity] = []
        if texts:
            tried += [*texts, _OTHER]
        if days:
            tried += [date.fromordinal(day) for day in _around_days(days, len(linked))]
        if numbers or not tried:
            tried += _around(numbers or [0.0], len(linked))
        return tried

    def _linked(self, key: str) -> list[str]:
        """`key` and the fields that conditions compare it with, directly or through others."""
        linked = [key]
        for one in linked:
            for rule in self.policy.rules:
                for condition in rule.conditions:
                    pair = (condition.left, condition.right)
                    linked.extend(k for k in pair if one in pair and k and k not in linked)
        return linked

    def _compared_with(self, key: str) -> Iterator[Quantity]:
        """The literals that conditions compare a field with, and what its own value may be."""
        for rule in self.policy.rules:
            for condition in rule.conditions:
                if condition.left == key:
                    yield from map(quantity_of, condition.options)
        yield from self._possible(key)


def _around(numbers: list[float], places: int) -> list[float]:
    """At, between, below and above sorted numbers, with room for `places` different values each.

    Of fields that are compared with each other, every order between two thresholds is then met.
    """
    steps = range(1, places + 1)
    between = [
        a + (b - a) * i / (places + 1) for a, b in itertools.pairwise(numbers) for i in steps
    ]
    outside = [n for i in steps for n in (numbers[0] - i, numbers[-1] + i)]
    return sorted([*numbers, *between, *outside])


def _around_days(days: list[int], places: int) -> list[int]:
    """At and around sorted days, as `_around`."""
    near = {day + shift for day in days for shift in range(-places, places + 1)}
    return sorted(day for day in near if 1 <= day <= date.max.toordinal())
