"""From what must hold to a policy: rules in force, which of them fire, thresholds that say so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from random import Random
from typing import Final

from plugins.domains.regulated.chains import rests_on_entries
from plugins.domains.regulated.facts import other_value
from plugins.domains.regulated.policy import DOWNWARD, Condition, Policy, Rule, Value
from plugins.domains.regulated.sampled import Gap, Plan, Sampled
from plugins.domains.regulated.spec import ORDERED, RuleSpec, Spec, most_together
from plugins.domains.regulated.thresholds import place, sample_gap

SHAPE_KEPT: Final = 30
"""Attempts before the shape of a case is drawn anew."""

_TRIES: Final = 500
_MORE_REASONS: Final = (0.6, 0.3, 0.1)
"""Shares of one, two and three rules of the winning decision: assumed."""
_LOWER_FIRES: Final = 0.15
_DERIVED_STATED: Final = 0.5


_LEAST_GAP: Final = 0.25
"""Of the usual gap, the least that is left of one that makes up for another."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """Facts as they are or might be, and the rules that are to fire on them."""

    facts: Mapping[str, Value]
    fired: frozenset[str]


@dataclass(frozen=True, slots=True)
class Streams:
    """Random streams: `kept` through all attempts, `shape` through many, `rng` anew in each."""

    kept: Random
    shape: Random
    rng: Random


class Retry(Exception):
    """This attempt can't meet the target; the next one draws anew. It says what was not found."""


class Targeting:
    """The means by which one attempt meets its target; `sample` says what has to hold."""

    def __init__(
        self,
        spec: Spec,
        plan: Plan,
        facts: Mapping[str, Value],
        codes: Mapping[str, str],
        streams: Streams,
    ) -> None:
        self.spec, self.plan, self.facts, self.codes = spec, plan, facts, codes
        self.kept, self.shape, self.rng = streams.kept, streams.shape, streams.rng
        self.remaining = spec.policy.remaining
        self.precedence = spec.policy.precedence[0]

    def _in_force(
        self, needed: str | None = None, barred: frozenset[str] = frozenset(), first: int = 2
    ) -> list[RuleSpec]:
        """Rules of a case: two or more for every decision, where the spec allows it.

        `first`: as many for the decision that usually wins first. Without those that are barred
        they may be fewer than the policy has otherwise.
        """
        allowed = [rule for rule in self.spec.rules if rule.id not in barred]
        there = Counter(rule.decision for rule in allowed)
        enough = {d: max(1, min(2, there[d])) for d in self.precedence if d != self.remaining}
        enough[self.spec.policy.precedence[0][0]] = first
        n = max(self.shape.randint(*self.spec.policy.in_force), sum(enough.values()))
        n = min(n, most_together(allowed))
        for _ in range(_TRIES):
            chosen = {rule.id for rule in self.shape.sample(allowed, n)}
            rules = [rule for rule in allowed if rule.id in chosen]
            decisions = Counter(rule.decision for rule in rules)
            # A rule alone has none beside it by which its threshold can be made up for.
            useful = all(decisions[d] >= least for d, least in enough.items())
            # Two thresholds around one value would tell its place between them without it.
            read = [condition.fact for rule in rules for condition in rule.conditions]
            useful = useful and len(set(read)) == len(read)
            if useful and (needed is None or needed in chosen):
                return rules
        raise Retry("rules that can be in force together")

    def _pattern(self, rules: Sequence[RuleSpec], target: str, only: str = "") -> frozenset[str]:
        """Rules that are to fire for `target`; `only` the given one of its own."""
        if target == self.remaining:
            return frozenset()
        own = [rule.id for rule in rules if rule.decision == target]
        if not own:
            raise Retry(f"a rule of {target}")
        if only:
            winners = [only]
        else:
            n = self.rng.choices((1, 2, 3), _MORE_REASONS)[0]
            winners = self.rng.sample(own, min(n, max(1, len(own) // 2)))
        lower = []
        for decision in self.precedence[self.precedence.index(target) + 1 :]:
            others = [rule.id for rule in rules if rule.decision == decision]
            fired = [name for name in others if self.rng.random() < _LOWER_FIRES]
            lower += fired[: len(others) // 2]
        return frozenset((*winners, *lower))

    def _pivot_pattern(
        self, rules: Sequence[RuleSpec], pivot: RuleSpec
    ) -> tuple[frozenset[str], frozenset[str], bool]:
        """(rules that fire, rules that would fire were the pivot other, whether it improved)."""
        improved = self.plan.target != self.precedence[0]
        if improved:
            fired = self._pattern(rules, self.plan.target)
            return fired, fired | {pivot.id}, True
        fired = self._pattern(rules, self.plan.target, only=pivot.id)
        return fired, fired - {pivot.id}, False

    def _policy(
        self, rules: Sequence[RuleSpec], scenarios: Sequence[Scenario], turned: Mapping[str, int]
    ) -> Policy:
        """Rules with thresholds that fire as the scenarios say.

        `turned`: by rule, the condition on which it turns; where the rule does not fire this one
        alone is false. Of another compound rule any of the conditions may be.

        A rule that fires has its threshold on the near side of the value, so that thresholds alone
        would tell the decision. What it lacks is shared out among the rules of its decision that do
        not fire: whatever fires, the thresholds of a decision lie as far from the values on
        average.
        """
        made: dict[str, Rule] = {}
        for decision in dict.fromkeys(rule.decision for rule in rules):
            group = [rule for rule in rules if rule.decision == decision]
            fixed = [r for r in group if r.id in scenarios[0].fired or r.id in turned]
            free = [rule for rule in group if rule not in fixed]
            lacking = 0.0
            for rule in fixed:
                made[rule.id] = self._rule(rule, scenarios, turned)
                if self._ordered(rule):
                    lacking += _usual(rule) - self._away(rule, made[rule.id])
            sharing = sum(bool(self._ordered(rule)) for rule in free)
            if lacking and not sharing:
                raise Retry(f"a rule with a number beside those of {decision} that fire")
            for rule in free:
                more = lacking / sharing / _false(rule) if sharing else 0.0
                made[rule.id] = self._rule(rule, scenarios, turned, max(_LEAST_GAP, 1 + more))
        return Policy(
            rules=tuple(made[rule.id] for rule in rules),
            precedence=self.precedence,
            remaining=self.remaining,
        )

    def _rule(
        self,
        rule: RuleSpec,
        scenarios: Sequence[Scenario],
        turned: Mapping[str, int],
        scale: float = 1.0,
    ) -> Rule:
        """One rule; `scale` multiplies the gap of a condition that is false."""
        false = {turned[rule.id]} if rule.id in turned else self._some(len(rule.conditions))
        conditions = []
        for i, condition in enumerate(rule.conditions):
            wanted = [
                (s.facts[condition.fact], rule.id in s.fired or i not in false) for s in scenarios
            ]
            gap = sample_gap(condition, self.plan.near, self.rng)
            placed = place(
                condition,
                self.spec.facts[condition.fact],
                self.rng.choice(condition.comparators),
                wanted,
                gap * (1.0 if wanted[0][1] else scale),
                self.rng,
            )
            if placed is None:
                raise Retry(f"a threshold of {rule.id} on {condition.fact}")
            conditions.append(placed)
        return Rule(
            id=rule.id,
            code=self.codes[rule.id],
            decision=rule.decision,
            conditions=tuple(conditions),
            reason=rule.reason,
        )

    def _away(self, rule: RuleSpec, placed: Rule) -> float:
        """How far thresholds lie beyond the values, in usual gaps, on average; below 0: short."""
        found = []
        for i in self._ordered(rule):
            low, high = rule.conditions[i].near if self.plan.near else rule.conditions[i].far
            condition = placed.conditions[i]
            over = ordinal(condition.threshold) - ordinal(self.facts[condition.fact])
            found.append((-over if condition.comparator in DOWNWARD else over) * 2 / (low + high))
        return sum(found) / len(found)

    def _rethreshold(
        self, policy: Policy, rule: RuleSpec, turned: int, *, flip: bool, tighter: bool | None
    ) -> Rule:
        """The rule with another threshold in the condition on which it turns.

        `flip`: on the other side of the value; otherwise on the same, for a rule that does not
        fire: farther from the value when the amendment made it `tighter`, nearer when looser.
        """
        current = next(r for r in policy.rules if r.id == rule.id)
        old = current.conditions[turned]
        value = self.facts[old.fact]
        truth = old.holds(value)
        spec, fact = rule.conditions[turned], self.spec.facts[old.fact]
        gap = sample_gap(spec, self.plan.near, self.rng)
        if not flip:
            distance = abs(ordinal(value) - ordinal(old.threshold))
            gap = distance + gap if tighter else distance - gap
            if gap <= 0:
                raise Retry(f"another threshold of {rule.id} on {old.fact}")
        placed = place(spec, fact, old.comparator, [(value, truth != flip)], gap, self.rng)
        if placed is None or placed.threshold == old.threshold:
            raise Retry(f"another threshold of {rule.id} on {old.fact}")
        conditions = list(current.conditions)
        conditions[turned] = placed
        return _rule_with(current, tuple(conditions))

    def _values(
        self, rule: RuleSpec, turned: int, key: str, *, worse: bool, n: int
    ) -> list[Mapping[str, Value]]:
        """`n` further and further versions of the facts with `key` worse (better) for the rule."""
        condition = rule.conditions[turned]
        up_is_worse = condition.comparators[0] not in DOWNWARD
        found: list[Mapping[str, Value]] = []
        facts: Mapping[str, Value] = self.facts
        for _ in range(n):
            for up in (True, False):
                other = other_value(self.spec, facts, key, up, self.rng)
                if other is None:
                    continue
                rises = ordinal(other[condition.fact]) > ordinal(facts[condition.fact])
                same = other[condition.fact] == facts[condition.fact]
                if not same and (rises == up_is_worse) == worse:
                    facts = other
                    break
            else:
                raise Retry(f"another value of {key}")
            found.append(facts)
        return found

    def _top(
        self, rules: Sequence[RuleSpec], n: int, turning: Callable[[RuleSpec], Sequence[object]]
    ) -> list[RuleSpec]:
        """`n` rules of the decision that wins first, out of those that can be turned."""
        top = [r for r in rules if r.decision == self.precedence[0] and turning(r)]
        if len(top) < n:
            raise Retry(f"rules of {self.precedence[0]} whose facts have a revision or an order")
        return self.shape.sample(top, n)

    def _bases(self, rule: RuleSpec) -> list[tuple[str, int]]:
        """Facts that may be revised under the rule, each with the condition that rests on it."""
        return [
            (base, i)
            for i, condition in enumerate(rule.conditions)
            for base in sorted(self.spec.bases(condition.fact))
            if self.spec.facts[base].revision is not None and self.spec.facts[base].type in ORDERED
        ]

    def _ordered(self, rule: RuleSpec) -> list[int]:
        """Conditions with a threshold on a scale."""
        return [
            i for i, c in enumerate(rule.conditions) if self.spec.facts[c.fact].type != "category"
        ]

    def _stated(self, changed: frozenset[str]) -> frozenset[str]:
        """Facts that documents state: all that are read, and some of the derived.

        A derived fact is never stated over a value that was revised or is in conflict: it would
        take sides. Nor is one that is computed from entries, which would not be needed then.
        """
        stated = set()
        for key, fact in self.spec.facts.items():
            free = not (self.spec.bases(key) & changed) and not rests_on_entries(self.spec, key)
            if not fact.formula or (free and self.shape.random() < _DERIVED_STATED):
                stated.add(key)
        return frozenset(stated)

    def _sampled(self, policy: Policy, stated: frozenset[str], gap: Gap | None = None) -> Sampled:
        facts = dict(self.facts)
        codes = [r.code for r in policy.rules if r.decision in self.spec.adverse]
        for key in self._provisions():
            facts[key] = self.rng.choice(codes)
        decision, winners = policy.decide(facts)
        if gap is None and decision != self.plan.target:
            raise Retry(f"thresholds that give {self.plan.target}")
        return Sampled(
            plan=self.plan,
            facts=facts,
            policy=policy,
            decision=decision,
            winners=winners,
            decidable=True,
            stated=stated,
            gap=gap,
            protected=self.plan.protected,
        )

    def _provisions(self) -> list[str]:
        return [fact.key for fact in self.spec.facts.values() if fact.type == "provision"]

    def _require(
        self, policy: Policy, facts: Mapping[str, Value], label: str, *, differs: bool = False
    ) -> None:
        if (policy.decide(facts)[0] == label) == differs:
            raise Retry(f"thresholds that give {label}")

    def _some(self, n: int) -> set[int]:
        """A random part of n conditions, not empty."""
        chosen = {i for i in range(n) if self.rng.random() < 0.5}
        return chosen or {self.rng.randrange(n)}


def _false(rule: RuleSpec) -> float:
    """The share of a rule's conditions that are false where it does not fire: see `_some`."""
    n = len(rule.conditions)
    return 0.5 + 0.5**n / n


def _usual(rule: RuleSpec) -> float:
    """How far thresholds lie beyond the values, in usual gaps, where the rule does not fire."""
    return 2 * _false(rule) - 1


def _rule_with(rule: Rule, conditions: tuple[Condition, ...]) -> Rule:
    return Rule(
        id=rule.id,
        code=rule.code,
        decision=rule.decision,
        conditions=conditions,
        reason=rule.reason,
    )


def ordinal(value: object) -> float:
    """The value as a number, a date by its day."""
    if isinstance(value, date):
        return float(value.toordinal())
    assert isinstance(value, (int, float))
    return float(value)
