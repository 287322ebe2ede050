"""Target first: a decision is drawn, then a policy and thresholds under which the facts imply it.

Facts are drawn with no regard to the target (`facts`), and the target with no regard to anything
else, by the same shares in every stratum: so neither facts nor the kind of history tell the label.
What has to hold is written as scenarios (facts, rules that fire): the current one, one for each
retired or conflicting value, one for the twin. Thresholds are placed to satisfy them all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random
from typing import Final, Literal

from framework.expressions import names
from framework.records import ABSTAIN
from plugins.domains._regulated.facts import admissible_values, draw_facts, other_value
from plugins.domains._regulated.placing import draw_gap, place
from plugins.domains._regulated.policy import (
    DOWNWARD,
    Condition,
    Policy,
    Rule,
    Value,
    close,
    derive,
)
from plugins.domains._regulated.spec import ORDERED, RuleSpec, Spec

STRATA: Final = ("clean", "noisy", "superseded", "open", "injected")

_ATTEMPTS: Final = 900
_SHAPE_KEPT: Final = 30
_FACTS_KEPT: Final = 300
_MORE_REASONS: Final = (0.6, 0.3, 0.1)
"""Shares of one, two and three rules of the winning decision: assumed."""
_LOWER_FIRES: Final = 0.15
_DERIVED_STATED: Final = 0.5
_AMENDED: Final = 0.3
"""Share of superseded cases where rules are amended and not facts corrected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is decided about a case before its facts are drawn."""

    stratum: str
    held_out: bool
    near: bool
    target: str
    injected: str
    intake: date
    protected: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A fact that was corrected. `retired`: its values that no longer hold, oldest first.

    `rescinded`: the current value came first, the correction to the retired one was withdrawn.
    """

    key: str
    retired: tuple[Value, ...]
    rescinded: bool
    flips: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment:
    """A rule whose threshold was replaced. `old` is the rule before."""

    old: Rule
    flips: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """What the history leaves open: a fact stated nowhere, or stated with `other` too."""

    key: str
    other: Value | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A case before it is worded: facts, policy, what was retired or left open, the label."""

    plan: Plan
    facts: Mapping[str, Value]
    policy: Policy
    decision: str
    winners: tuple[Rule, ...]
    decidable: bool
    stated: frozenset[str]
    revisions: tuple[Revision, ...] = ()
    amendments: tuple[Amendment, ...] = ()
    gap: Gap | None = None
    protected: Mapping[str, str] = field(default_factory=dict)

    def known(self, formulas: Mapping[str, str]) -> dict[str, frozenset[Value]]:
        """What the whole history tells of the facts, derivations closed."""
        return close(self._told(), formulas)

    def _told(self) -> dict[str, frozenset[Value]]:
        told = {key: frozenset({self.facts[key]}) for key in self.stated}
        if self.gap is not None and self.gap.other is not None:
            told[self.gap.key] = frozenset({self.facts[self.gap.key], self.gap.other})
        return told


@dataclass(frozen=True, slots=True)
class _Scenario:
    facts: Mapping[str, Value]
    fired: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Streams:
    kept: Random
    shape: Random
    rng: Random


class _Retry(Exception):
    """This attempt can't meet the target; the next one draws anew."""


def stream(spec: Spec, seed: int, base: int, purpose: str) -> Random:
    """The random stream of one purpose of one case: streams never disturb one another."""
    return Random(f"{spec.name}/{seed}/{base}/{purpose}")


def draw_plan(
    spec: Spec, shares: Mapping[str, float], forms: str, near: float, seed: int, base: int
) -> Plan:
    """Stratum, form, margin, target, injected target, intake date, protected attributes."""

    def rng(purpose: str) -> Random:
        return stream(spec, seed, base, purpose)

    first, last = spec.calendar
    held_out = {"development": False, "held_out": True}.get(forms, rng("form").random() < 0.5)
    return Plan(
        stratum=_weighted(shares, rng("stratum")),
        held_out=held_out,
        near=rng("margin").random() < near,
        target=_weighted(spec.labels, rng("target")),
        injected=rng("injected").choice(spec.decisions),
        intake=first + timedelta(days=rng("intake").randint(0, (last - first).days)),
        protected={
            name: rng(f"protected/{name}").choice(values) for name, values in spec.protected.items()
        },
    )


def draw(
    spec: Spec,
    plan: Plan,
    seed: int,
    base: int,
    twin: Literal["fact", "threshold", "protected"] | None = None,
) -> tuple[Drawn, Drawn | None]:
    """The case of a plan, and its twin where one is asked for.

    Raises RuntimeError when the spec leaves no way to meet a target.
    """
    facts_rng = stream(spec, seed, base, "facts")
    rng = stream(spec, seed, base, "policy")
    codes = _codes(spec, stream(spec, seed, base, "codes"))
    facts: dict[str, Value] = {}
    for attempt in range(_ATTEMPTS):
        if attempt % _FACTS_KEPT == 0:
            facts = draw_facts(spec, facts_rng, plan.intake, tuple(codes.values()))
        # What shows of a case must not be what the target happened to reject least. So the open
        # fact and the precedence stay through all attempts, the rules in force through many.
        choices = _Streams(
            kept=stream(spec, seed, base, "kept"),
            shape=stream(spec, seed, base, f"shape/{attempt // _SHAPE_KEPT}"),
            rng=rng,
        )
        try:
            return _Attempt(spec, plan, facts, codes, choices).draw(twin)
        except _Retry:
            continue
    raise RuntimeError(
        f"{spec.file}: no policy found for {plan.target} in stratum {plan.stratum}: "
        "its rules leave too little room"
    )


class _Attempt:
    """One try at a policy under which the facts imply the target."""

    def __init__(
        self,
        spec: Spec,
        plan: Plan,
        facts: Mapping[str, Value],
        codes: Mapping[str, str],
        streams: _Streams,
    ) -> None:
        self.spec, self.plan, self.facts, self.codes = spec, plan, facts, codes
        self.kept, self.shape, self.rng = streams.kept, streams.shape, streams.rng
        self.remaining = spec.policy.remaining
        self.precedence = spec.policy.precedence[0]

    def draw(self, twin: str | None) -> tuple[Drawn, Drawn | None]:
        if twin in ("fact", "threshold"):
            return self._fact_twins() if twin == "fact" else self._threshold_twins()
        if self.plan.stratum == "superseded":
            amended = self.kept.random() < _AMENDED
            drawn = self._amended() if amended else self._revised()
        elif self.plan.stratum == "open":
            drawn = self._open()
        else:
            drawn = self._plain()
        if twin is None:
            return drawn, None
        return drawn, self._protected_twin(drawn)

    # ------------------------------------------------------------------------------------- strata

    def _plain(self) -> Drawn:
        self.precedence = self.kept.choice(self.spec.policy.precedence)
        rules = self._in_force()
        fired = self._pattern(rules, self.plan.target)
        policy = self._policy(rules, [_Scenario(self.facts, fired)], {})
        return self._drawn(policy, self._stated(frozenset()))

    def _revised(self) -> Drawn:
        """Two facts are corrected; one correction flips the label, the other goes the other way.

        Were there one alone, its direction would tell the label: an approval would follow from an
        improvement.
        """
        rules = self._in_force()
        # Drawn as a pair, and again as a pair when they coincide: either is as likely to be either.
        for _ in range(_SHAPE_KEPT):
            pivot, other = self._top(rules, 2, self._bases)
            key, turned = self.shape.choice(self._bases(pivot))
            second, second_turned = self.shape.choice(self._bases(other))
            if key != second:
                break
        else:
            raise _Retry
        fired, flipped, improved = self._pivot_pattern(rules, pivot)
        twice = self.shape.random() < 0.3
        retired = self._values(pivot, turned, key, worse=improved, n=1 + twice)
        kept = self._values(other, second_turned, second, worse=not improved, n=1 + twice)
        scenarios = [_Scenario(self.facts, fired)]
        scenarios += [_Scenario(facts, flipped) for facts in retired]
        scenarios += [_Scenario(facts, fired) for facts in kept]
        policy = self._policy(rules, scenarios, {pivot.id: turned, other.id: second_turned})
        self._require(policy, self.facts, self.plan.target)
        for facts in retired:
            self._require(policy, facts, self.plan.target, differs=True)
        for facts in kept:
            self._require(policy, facts, self.plan.target)
        # Twice corrected facts can't be the rescinded ones: the last correction stands.
        revisions = [
            Revision(
                key=name,
                retired=tuple(facts[name] for facts in reversed(changed)),
                rescinded=not twice and self.shape.random() < 0.4,
                flips=name == key,
            )
            for name, changed in ((key, retired), (second, kept))
        ]
        self.rng.shuffle(revisions)
        drawn = self._drawn(policy, self._stated(frozenset({key, second})))
        return _with(drawn, revisions=tuple(revisions))

    def _amended(self) -> Drawn:
        """Two rules are amended; one amendment flips the label, the other goes the other way."""
        rules = self._in_force()
        pivot, other = self._top(rules, 2, self._ordered)
        turned = self.shape.choice(self._ordered(pivot))
        second_turned = self.shape.choice(self._ordered(other))
        fired, _, improved = self._pivot_pattern(rules, pivot)
        policy = self._policy(
            rules,
            [_Scenario(self.facts, fired)],
            {pivot.id: turned, other.id: second_turned},
        )
        olds = {
            pivot.id: self._rethreshold(policy, pivot, turned, flip=True, tighter=None),
            other.id: self._rethreshold(policy, other, second_turned, flip=False, tighter=improved),
        }
        before = _replace(policy, olds[pivot.id])
        self._require(before, self.facts, self.plan.target, differs=True)
        self._require(_replace(policy, olds[other.id]), self.facts, self.plan.target)
        amendments = [Amendment(old=old, flips=name == pivot.id) for name, old in olds.items()]
        self.rng.shuffle(amendments)
        drawn = self._drawn(policy, self._stated(frozenset()))
        return _with(drawn, amendments=tuple(amendments))

    def _open(self) -> Drawn:
        self.precedence = self.kept.choice(self.spec.policy.precedence)
        key = self.kept.choice(self._open_candidates())
        conflict = self.kept.random() < 0.5
        other: Mapping[str, Value] | None = None
        if conflict:
            other = other_value(self.spec, self.facts, key, self.rng.random() < 0.5, self.rng)
            if other is None:
                raise _Retry
        undecided = self.plan.target == ABSTAIN
        stated = self._stated(frozenset({key}) if conflict else frozenset())
        if not conflict:
            stated -= {key}
        touched = self._touched(key, stated)
        pivots = [
            r for r in self.spec.rules.values() if any(c.fact in touched for c in r.conditions)
        ]
        base = self.plan.target
        if undecided:
            base = self.rng.choice((*self.spec.decisions, ABSTAIN))
            rules = self._in_force(needed=self.shape.choice(pivots).id if pivots else None)
        elif not conflict:
            # A rule of a higher precedence over a missing fact would leave the case undecided.
            above = self.precedence[: self.precedence.index(base)]
            rules = self._in_force(barred=frozenset(r.id for r in pivots if r.decision in above))
        else:
            rules = self._in_force()
        inside = [rule for rule in pivots if rule.id in {r.id for r in rules}]
        safe = rules if conflict else [rule for rule in rules if rule not in inside]
        fired = self._pattern(safe, base)
        scenarios = [_Scenario(self.facts, fired)]
        turned: dict[str, int] = {}
        if conflict:
            assert other is not None
            flipped = fired
            if undecided:
                if not inside:
                    raise _Retry
                pivot = self.rng.choice(inside)
                turned[pivot.id] = next(
                    i for i, c in enumerate(pivot.conditions) if c.fact in touched
                )
                flipped = fired ^ {pivot.id}
            scenarios.append(_Scenario(other, flipped))
        policy = self._policy(rules, scenarios, turned)
        drawn = self._drawn(
            policy, stated, Gap(key=key, other=None if other is None else other[key])
        )
        exact = self._exact(drawn, key)
        if exact != policy.outcomes(drawn.known(self.spec.formulas)):
            raise _Retry
        decision = next(iter(exact)) if len(exact) == 1 else ABSTAIN
        if decision != self.plan.target:
            raise _Retry
        if len(exact) == 1:
            winners = self._open_winners(drawn, decision)
            return _with(drawn, decision=decision, winners=winners)
        return _with(drawn, decision=ABSTAIN, winners=(), decidable=False)

    # -------------------------------------------------------------------------------------- twins

    def _fact_twins(self) -> tuple[Drawn, Drawn]:
        rules = self._in_force()
        (pivot,) = self._top(rules, 1, self._bases)
        key, turned = self.shape.choice(self._bases(pivot))
        fired, flipped, improved = self._pivot_pattern(rules, pivot)
        (other,) = self._values(pivot, turned, key, worse=improved, n=1)
        policy = self._policy(
            rules,
            [_Scenario(self.facts, fired), _Scenario(other, flipped)],
            {pivot.id: turned},
        )
        self._require(policy, other, self.plan.target, differs=True)
        drawn = self._drawn(policy, self._stated(frozenset({key})))
        other = {**other, **{key: drawn.facts[key] for key in self._provisions()}}
        decision, winners = policy.decide(other)
        return drawn, _with(drawn, facts=other, decision=decision, winners=winners)

    def _threshold_twins(self) -> tuple[Drawn, Drawn]:
        rules = self._in_force()
        (pivot,) = self._top(rules, 1, self._ordered)
        turned = self.shape.choice(self._ordered(pivot))
        fired, _, _ = self._pivot_pattern(rules, pivot)
        policy = self._policy(rules, [_Scenario(self.facts, fired)], {pivot.id: turned})
        drawn = self._drawn(policy, self._stated(frozenset()))
        other = _replace(policy, self._rethreshold(policy, pivot, turned, flip=True, tighter=None))
        decision, winners = other.decide(self.facts)
        if decision == drawn.decision:
            raise _Retry
        return drawn, _with(drawn, policy=other, decision=decision, winners=winners)

    def _protected_twin(self, drawn: Drawn) -> Drawn:
        name = self.rng.choice(sorted(self.spec.protected))
        others = [v for v in self.spec.protected[name] if v != drawn.protected[name]]
        return _with(drawn, protected={**drawn.protected, name: self.rng.choice(others)})

    # -------------------------------------------------------------------------------------- parts

    def _in_force(
        self, needed: str | None = None, barred: frozenset[str] = frozenset()
    ) -> list[RuleSpec]:
        """Rules of a case: some for every decision that rules make, two or more for the usual first."""
        allowed = [rule for rule in self.spec.rules.values() if rule.id not in barred]
        n = min(self.shape.randint(*self.spec.policy.in_force), len(allowed))
        for _ in range(_ATTEMPTS):
            chosen = {rule.id for rule in self.shape.sample(allowed, n)}
            rules = [rule for rule in allowed if rule.id in chosen]
            decisions = [rule.decision for rule in rules]
            complete = {*decisions, self.remaining} == set(self.precedence)
            useful = complete and decisions.count(self.spec.policy.precedence[0][0]) > 1
            if useful and (needed is None or needed in chosen):
                return rules
        raise _Retry

    def _pattern(self, rules: Sequence[RuleSpec], target: str, only: str = "") -> frozenset[str]:
        """Rules that are to fire for `target`; `only` the given one of its own."""
        if target == self.remaining:
            return frozenset()
        own = [rule.id for rule in rules if rule.decision == target]
        if not own:
            raise _Retry
        if only:
            winners = [only]
        else:
            n = self.rng.choices((1, 2, 3), _MORE_REASONS)[0]
            winners = self.rng.sample(own, min(n, len(own)))
        below = self.precedence[self.precedence.index(target) + 1 :]
        lower = [
            rule.id for rule in rules if rule.decision in below and self.rng.random() < _LOWER_FIRES
        ]
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
        self, rules: Sequence[RuleSpec], scenarios: Sequence[_Scenario], turned: Mapping[str, int]
    ) -> Policy:
        """Rules with thresholds that fire as the scenarios say.

        `turned`: by rule, the condition on which it turns; where the rule does not fire this one
        alone is false. Of another compound rule any of the conditions may be.
        """
        made = []
        for rule in rules:
            n = len(rule.conditions)
            false = {turned[rule.id]} if rule.id in turned else self._some(n)
            conditions = []
            for i, condition in enumerate(rule.conditions):
                wanted = [
                    (s.facts[condition.fact], rule.id in s.fired or i not in false)
                    for s in scenarios
                ]
                placed = place(
                    condition,
                    self.spec.facts[condition.fact],
                    self.rng.choice(condition.comparators),
                    wanted,
                    draw_gap(condition, self.plan.near, self.rng),
                    self.rng,
                )
                if placed is None:
                    raise _Retry
                conditions.append(placed)
            made.append(
                Rule(
                    id=rule.id,
                    code=self.codes[rule.id],
                    decision=rule.decision,
                    conditions=tuple(conditions),
                    reason=rule.reason,
                )
            )
        return Policy(rules=tuple(made), precedence=self.precedence, remaining=self.remaining)

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
        gap = draw_gap(spec, self.plan.near, self.rng)
        if not flip:
            distance = abs(_ordinal(value) - _ordinal(old.threshold))
            gap = distance + gap if tighter else distance - gap
            if gap <= 0:
                raise _Retry
        placed = place(spec, fact, old.comparator, [(value, truth != flip)], gap, self.rng)
        if placed is None or placed.threshold == old.threshold:
            raise _Retry
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
                rises = _ordinal(other[condition.fact]) > _ordinal(facts[condition.fact])
                same = other[condition.fact] == facts[condition.fact]
                if not same and (rises == up_is_worse) == worse:
                    facts = other
                    break
            else:
                raise _Retry
            found.append(facts)
        return found

    def _top(
        self, rules: Sequence[RuleSpec], n: int, turning: Callable[[RuleSpec], Sequence[object]]
    ) -> list[RuleSpec]:
        """`n` rules of the decision that wins first, out of those that can be turned."""
        top = [r for r in rules if r.decision == self.precedence[0] and turning(r)]
        if len(top) < n:
            raise _Retry
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

    def _open_candidates(self) -> list[str]:
        paid = {
            base
            for formula in self.spec.amounts.values()
            for name in names(formula)
            for base in self.spec.bases(name)
        }
        read = {
            base
            for rule in self.spec.rules.values()
            for condition in rule.conditions
            for base in self.spec.bases(condition.fact)
        }
        return [
            key
            for key in sorted(read - paid)
            if self.spec.facts[key].revision is not None or self.spec.facts[key].vocabulary
        ]

    def _touched(self, key: str, stated: frozenset[str]) -> frozenset[str]:
        """`key` and the derived facts that can't be known without it."""
        return frozenset(
            name
            for name in self.spec.facts
            if name == key or (key in self.spec.bases(name) and name not in stated)
        )

    def _stated(self, changed: frozenset[str]) -> frozenset[str]:
        """Facts that documents state: all that are read, and some of the derived.

        A derived fact is never stated over a value that was revised or is in conflict: it would
        take sides.
        """
        stated = set()
        for key, fact in self.spec.facts.items():
            free = not (self.spec.bases(key) & changed)
            if not fact.formula or (free and self.shape.random() < _DERIVED_STATED):
                stated.add(key)
        return frozenset(stated)

    def _exact(self, drawn: Drawn, key: str) -> frozenset[str]:
        """Decisions over the joint completions of the open fact, enumerated."""
        assert drawn.gap is not None
        if drawn.gap.other is not None:
            values: Sequence[Value] = [drawn.facts[key], drawn.gap.other]
        else:
            thresholds = tuple(
                _ordinal(c.threshold)
                for rule in drawn.policy.rules
                for c in rule.conditions
                if c.fact == key and isinstance(c.threshold, (int, float))
            )
            values = admissible_values(self.spec, key, thresholds, self.plan.intake)
        fixed = {name: drawn.facts[name] for name in drawn.stated if self.spec.facts[name].formula}
        found = set()
        for value in values:
            try:
                facts = derive({**drawn.facts, key: value}, self.spec.formulas)
            except ValueError:
                continue
            found.add(drawn.policy.decide({**facts, **fixed})[0])
        return frozenset(found)

    def _open_winners(self, drawn: Drawn, decision: str) -> tuple[Rule, ...]:
        known = drawn.known(self.spec.formulas)
        return tuple(
            rule
            for rule in drawn.policy.rules
            if rule.decision == decision and rule.status(known) is True
        )

    def _drawn(self, policy: Policy, stated: frozenset[str], gap: Gap | None = None) -> Drawn:
        facts = dict(self.facts)
        codes = [r.code for r in policy.rules if r.decision in self.spec.adverse]
        for key in self._provisions():
            facts[key] = self.rng.choice(codes)
        decision, winners = policy.decide(facts)
        if gap is None and decision != self.plan.target:
            raise _Retry
        return Drawn(
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
            raise _Retry

    def _some(self, n: int) -> set[int]:
        """A random part of n conditions, not empty."""
        chosen = {i for i in range(n) if self.rng.random() < 0.5}
        return chosen or {self.rng.randrange(n)}


def _codes(spec: Spec, rng: Random) -> dict[str, str]:
    """A provision code for every rule: numbers differ by case, so no code tells its rule."""
    groups: dict[str, list[str]] = {}
    for rule in spec.rules.values():
        groups.setdefault(rule.code, []).append(rule.id)
    codes: dict[str, str] = {}
    for template, ids in groups.items():
        numbers = rng.sample(range(1, max(9, len(ids)) + 1), len(ids))
        for name, number in zip(ids, numbers, strict=True):
            codes[name] = template.replace("{n}", str(number))
    return codes


def _weighted(shares: Mapping[str, float], rng: Random) -> str:
    point = rng.random() * sum(shares.values())
    for name, share in shares.items():
        point -= share
        if point < 0:
            return name
    return next(name for name in reversed(list(shares)) if shares[name] > 0)


def _replace(policy: Policy, rule: Rule) -> Policy:
    rules = tuple(rule if r.id == rule.id else r for r in policy.rules)
    return Policy(rules=rules, precedence=policy.precedence, remaining=policy.remaining)


def _rule_with(rule: Rule, conditions: tuple[Condition, ...]) -> Rule:
    return Rule(
        id=rule.id,
        code=rule.code,
        decision=rule.decision,
        conditions=conditions,
        reason=rule.reason,
    )


def _with(drawn: Drawn, **changes: object) -> Drawn:
    from dataclasses import replace

    return replace(drawn, **changes)  # type: ignore[arg-type]


def _ordinal(value: object) -> float:
    if isinstance(value, date):
        return float(value.toordinal())
    assert isinstance(value, (int, float))
    return float(value)
