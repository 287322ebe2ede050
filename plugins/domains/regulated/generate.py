"""Target first: a decision is sampled, then a policy and thresholds under which the facts imply it.

Facts are drawn with no regard to the target (`facts`), and the target with no regard to anything
else, by the same shares in every stratum: so neither facts nor the kind of history tell the label.
What has to hold is written as scenarios (facts, rules that fire): the current one, one for each
retired or conflicting value, one for the counterpart. Thresholds are placed to satisfy them all.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Final, Literal

from framework.errors import UserError
from framework.records import ABSTAIN
from framework.text.expressions import names
from plugins.domains.regulated.chains import is_figure_itself
from plugins.domains.regulated.facts import admissible_values, other_value, sample_facts
from plugins.domains.regulated.policy import Policy, Rule, Value, derive
from plugins.domains.regulated.sampled import Amendment, Gap, Plan, Revision, Sampled, stream
from plugins.domains.regulated.spec import Spec
from plugins.domains.regulated.target import (
    SHAPE_KEPT,
    Retry,
    Scenario,
    Streams,
    Targeting,
    ordinal,
)

_ATTEMPTS: Final = 900
_FACTS_KEPT: Final = 300
_AMENDED: Final = 0.3
"""Share of superseded cases where rules are amended and not facts corrected."""


def draw(
    spec: Spec,
    plan: Plan,
    seed: int,
    base: int,
    differs: Literal["fact", "threshold", "protected"] | None = None,
) -> tuple[Sampled, Sampled | None]:
    """The case of a plan, and its counterpart where one is asked for.

    Raises UserError, with what most attempts lacked, when the spec leaves no way to meet a target.
    """
    facts_rng = stream(spec, seed, base, "facts")
    rng = stream(spec, seed, base, "policy")
    codes = _codes(spec, stream(spec, seed, base, "codes"))
    facts: dict[str, Value] = {}
    lacked = Counter[str]()
    for attempt in range(_ATTEMPTS):
        if attempt % _FACTS_KEPT == 0:
            facts = sample_facts(spec, facts_rng, plan.intake, tuple(codes.values()))
        # What shows of a case must not be what the target happened to reject least. So the open
        # fact and the precedence stay through all attempts, the rules in force through many.
        choices = Streams(
            kept=stream(spec, seed, base, "kept"),
            shape=stream(spec, seed, base, f"shape/{attempt // SHAPE_KEPT}"),
            rng=rng,
        )
        try:
            return _Attempt(spec, plan, facts, codes, choices).draw(differs)
        except Retry as retry:
            lacked[str(retry)] += 1
    (most, times), *_ = lacked.most_common(1)
    raise UserError(
        f"{spec.file}: rules: they leave too little room for {plan.target} in stratum "
        f"{plan.stratum}: {times} of {_ATTEMPTS} attempts lacked {most}"
    )


class _Attempt(Targeting):
    """One try at a policy under which the facts imply the target."""

    def draw(self, differs: str | None) -> tuple[Sampled, Sampled | None]:
        if differs in ("fact", "threshold"):
            return self._fact_pair() if differs == "fact" else self._threshold_pair()
        if self.plan.stratum == "superseded":
            amended = self.kept.random() < _AMENDED
            sampled = self._amended() if amended else self._revised()
        elif self.plan.stratum == "open":
            sampled = self._open()
        else:
            sampled = self._plain()
        if differs is None:
            return sampled, None
        return sampled, self._protected_pair(sampled)

    # ------------------------------------------------------------------------------------- strata

    def _plain(self) -> Sampled:
        self.precedence = self.kept.choice(self.spec.policy.precedence)
        rules = self._in_force()
        fired = self._pattern(rules, self.plan.target)
        policy = self._policy(rules, [Scenario(self.facts, fired)], {})
        return self._sampled(policy, self._stated(frozenset()))

    def _revised(self) -> Sampled:
        """Two facts are corrected; one correction flips the label, the other goes the other way.

        Were there one alone, its direction would tell the label: an approval would follow from an
        improvement.
        """
        rules = self._in_force(first=3)
        # Sampled as a pair, again as a pair when they coincide: either is as likely to be either.
        for _ in range(SHAPE_KEPT):
            pivot, other = self._top(rules, 2, self._bases)
            key, turned = self.shape.choice(self._bases(pivot))
            second, second_turned = self.shape.choice(self._bases(other))
            if key != second:
                break
        else:
            raise Retry("two facts that can be corrected")
        fired, flipped, improved = self._pivot_pattern(rules, pivot)
        twice = self.shape.random() < 0.3
        retired = self._values(pivot, turned, key, worse=improved, n=1 + twice)
        kept = self._values(other, second_turned, second, worse=not improved, n=1 + twice)
        for name, changed in ((key, retired), (second, kept)):
            if any(is_figure_itself(self.spec, self.facts, name, f[name]) for f in changed):
                raise Retry(f"another value of {name}")
        scenarios = [Scenario(self.facts, fired)]
        scenarios += [Scenario(facts, flipped) for facts in retired]
        scenarios += [Scenario(facts, fired) for facts in kept]
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
        sampled = self._sampled(policy, self._stated(frozenset({key, second})))
        return dataclasses.replace(sampled, revisions=tuple(revisions))

    def _amended(self) -> Sampled:
        """Two rules are amended; one amendment flips the label, the other goes the other way."""
        rules = self._in_force(first=3)
        pivot, other = self._top(rules, 2, self._ordered)
        turned = self.shape.choice(self._ordered(pivot))
        second_turned = self.shape.choice(self._ordered(other))
        fired, _, improved = self._pivot_pattern(rules, pivot)
        policy = self._policy(
            rules,
            [Scenario(self.facts, fired)],
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
        sampled = self._sampled(policy, self._stated(frozenset()))
        return dataclasses.replace(sampled, amendments=tuple(amendments))

    def _open(self) -> Sampled:
        self.precedence = self.kept.choice(self.spec.policy.precedence)
        key = self.kept.choice(self._open_candidates())
        conflict = self.kept.random() < 0.5
        other: Mapping[str, Value] | None = None
        if conflict:
            other = other_value(self.spec, self.facts, key, self.rng.random() < 0.5, self.rng)
            if other is None or is_figure_itself(self.spec, self.facts, key, other[key]):
                raise Retry(f"another value of {key}")
        undecided = self.plan.target == ABSTAIN
        stated = self._stated(frozenset({key}) if conflict else frozenset())
        if not conflict:
            stated -= {key}
        touched = self._touched(key, stated)
        pivots = [r for r in self.spec.rules if any(c.fact in touched for c in r.conditions)]
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
        scenarios = [Scenario(self.facts, fired)]
        turned: dict[str, int] = {}
        if conflict:
            assert other is not None
            flipped = fired
            if undecided:
                if not inside:
                    raise Retry(f"a rule in force on {key}")
                pivot = self.rng.choice(inside)
                turned[pivot.id] = next(
                    i for i, c in enumerate(pivot.conditions) if c.fact in touched
                )
                flipped = fired ^ {pivot.id}
            scenarios.append(Scenario(other, flipped))
        policy = self._policy(rules, scenarios, turned)
        sampled = self._sampled(
            policy, stated, Gap(key=key, other=None if other is None else other[key])
        )
        exact = self._exact(sampled, key)
        if exact != policy.outcomes(sampled.known(self.spec.formulas)):
            raise Retry(f"rules of which none reads what another reads, beside {key}")
        decision = next(iter(exact)) if len(exact) == 1 else ABSTAIN
        if decision != self.plan.target:
            raise Retry(f"thresholds that give {self.plan.target} with {key} open")
        if len(exact) == 1:
            winners = self._open_winners(sampled, decision)
            return dataclasses.replace(sampled, decision=decision, winners=winners)
        return dataclasses.replace(sampled, decision=ABSTAIN, winners=(), decidable=False)

    # -------------------------------------------------------------------------------------- pairs

    def _fact_pair(self) -> tuple[Sampled, Sampled]:
        rules = self._in_force()
        (pivot,) = self._top(rules, 1, self._bases)
        key, turned = self.shape.choice(self._bases(pivot))
        fired, flipped, improved = self._pivot_pattern(rules, pivot)
        (other,) = self._values(pivot, turned, key, worse=improved, n=1)
        policy = self._policy(
            rules,
            [Scenario(self.facts, fired), Scenario(other, flipped)],
            {pivot.id: turned},
        )
        self._require(policy, other, self.plan.target, differs=True)
        sampled = self._sampled(policy, self._stated(frozenset({key})))
        other = {**other, **{key: sampled.facts[key] for key in self._provisions()}}
        decision, winners = policy.decide(other)
        return sampled, dataclasses.replace(
            sampled, facts=other, decision=decision, winners=winners
        )

    def _threshold_pair(self) -> tuple[Sampled, Sampled]:
        rules = self._in_force()
        (pivot,) = self._top(rules, 1, self._ordered)
        turned = self.shape.choice(self._ordered(pivot))
        fired, _, _ = self._pivot_pattern(rules, pivot)
        policy = self._policy(rules, [Scenario(self.facts, fired)], {pivot.id: turned})
        sampled = self._sampled(policy, self._stated(frozenset()))
        other = _replace(policy, self._rethreshold(policy, pivot, turned, flip=True, tighter=None))
        decision, winners = other.decide(self.facts)
        if decision == sampled.decision:
            raise Retry(f"another threshold of {pivot.id} that turns the decision")
        return sampled, dataclasses.replace(
            sampled, policy=other, decision=decision, winners=winners
        )

    def _protected_pair(self, sampled: Sampled) -> Sampled:
        name = self.rng.choice(sorted(self.spec.protected))
        reference = self.spec.reference_groups[name]
        others = [v for v in self.spec.protected[name] if v != reference]
        # One of the two is of the reference group, whichever comes first.
        other = self.rng.choice(others) if sampled.protected[name] == reference else reference
        return dataclasses.replace(sampled, protected={**sampled.protected, name: other})

    # ------------------------------------------------------------------------------ what is open

    def _open_candidates(self) -> list[str]:
        paid = {
            base
            for formula in self.spec.amounts.values()
            for name in names(formula)
            for base in self.spec.bases(name)
        }
        read = {
            base
            for rule in self.spec.rules
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

    def _exact(self, sampled: Sampled, key: str) -> frozenset[str]:
        """Decisions over the joint completions of the open fact, enumerated."""
        assert sampled.gap is not None
        if sampled.gap.other is not None:
            values: Sequence[Value] = [sampled.facts[key], sampled.gap.other]
        else:
            thresholds = tuple(
                ordinal(c.threshold)
                for rule in sampled.policy.rules
                for c in rule.conditions
                if c.fact == key and isinstance(c.threshold, (int, float))
            )
            values = admissible_values(self.spec, key, thresholds, self.plan.intake)
        fixed = {
            name: sampled.facts[name] for name in sampled.stated if self.spec.facts[name].formula
        }
        found = set()
        for value in values:
            try:
                facts = derive({**sampled.facts, key: value}, self.spec.formulas)
            except ValueError:
                continue
            found.add(sampled.policy.decide({**facts, **fixed})[0])
        return frozenset(found)

    def _open_winners(self, sampled: Sampled, decision: str) -> tuple[Rule, ...]:
        known = sampled.known(self.spec.formulas)
        return tuple(
            rule
            for rule in sampled.policy.rules
            if rule.decision == decision and rule.status(known) is True
        )


def _codes(spec: Spec, rng: Random) -> dict[str, str]:
    """A provision code for every rule: numbers differ by case, so no code tells its rule."""
    groups: dict[str, list[str]] = {}
    for rule in spec.rules:
        groups.setdefault(rule.code, []).append(rule.id)
    codes: dict[str, str] = {}
    for template, ids in groups.items():
        numbers = rng.sample(range(1, max(9, len(ids)) + 1), len(ids))
        for name, number in zip(ids, numbers, strict=True):
            codes[name] = template.replace("{n}", str(number))
    return codes


def _replace(policy: Policy, rule: Rule) -> Policy:
    rules = tuple(rule if r.id == rule.id else r for r in policy.rules)
    return Policy(rules=rules, precedence=policy.precedence, remaining=policy.remaining)
