"""What is checked of a spec across its sections. Each raises UserError: `KEY: what is wrong`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NoReturn

from framework.errors import UserError
from framework.records import ABSTAIN
from framework.registry import nearest
from framework.text.expressions import names
from plugins.domains.regulated.grammar import placeholders
from plugins.domains.regulated.policy import LISTED
from plugins.domains.regulated.spec import (
    NO_RANGE,
    NUMERIC,
    ORDERED,
    SINGLE_USES,
    ConditionSpec,
    Fact,
    RuleSpec,
    Spec,
)


def check(spec: Spec) -> None:
    """Raise UserError for the first mistake."""
    _check_decisions(spec)
    _check_formulas(spec)
    ids = [rule.id for rule in spec.rules]
    if len(set(ids)) < len(ids):
        _fail("rules", "two rules of one id")
    for i, rule in enumerate(spec.rules):
        _check_word(f"rules.{i}.decision", rule.decision, spec.outcomes)
        for j, condition in enumerate(rule.conditions):
            _check_condition(f"rules.{i}.when.{j}", condition, spec)
    _check_policy(spec)
    _check_templates(spec)
    _check_standard(spec)
    _check_documents(spec)
    _check_revisions(spec)
    _check_held_out(spec)


def _fail(key: str, problem: str) -> NoReturn:
    raise UserError(f"{key}: {problem}")


def _check_word(key: str, given: str, allowed: Iterable[str]) -> None:
    if given not in (known := tuple(allowed)):
        _fail(key, f"{given!r} given{nearest(given, known)}")


def _check_decisions(spec: Spec) -> None:
    if ABSTAIN in spec.decisions:
        _fail("decisions", f"{ABSTAIN} is not to be listed")
    for key, given in (("verbs", spec.verbs), ("labels", spec.labels)):
        if set(given) != set(spec.outcomes):
            every = f"one entry for each of {', '.join(spec.outcomes)}"
            _fail(key, f"{', '.join(given)} given, {every}")
    shares = spec.labels.values()
    if any(share <= 0 for share in shares) or abs(sum(shares) - 1) > 1e-9:
        _fail("labels", "shares above 0 with sum 1 expected")
    _check_word("default", spec.default, spec.outcomes)
    for decision in spec.adverse:
        _check_word("adverse", decision, spec.decisions)
    for name, value in spec.reference_groups.items():
        if name not in spec.protected:
            key = f"reference_groups.{name}"
            _fail(key, f"no such attribute{nearest(name, spec.protected)}")
        _check_word(f"reference_groups.{name}", value, spec.protected[name])


def _check_formulas(spec: Spec) -> None:
    """Every formula uses only facts that come before it."""
    before: set[str] = set()
    for fact in spec.facts.values():
        place, formula = f"facts.{fact.key}.formula", fact.formula
        if fact.distribution is not None and fact.distribution.kind == "share":
            place, formula = f"facts.{fact.key}.distribution.of", fact.distribution.of
        if formula:
            for name in _check_formula(place, formula, spec.facts):
                if name not in before:
                    _fail(place, f"{name} stands after it")
        before.add(fact.key)
    for decision, formula in spec.amounts.items():
        if decision not in spec.decisions:
            _fail(f"amounts.{decision}", f"no such decision{nearest(decision, spec.decisions)}")
        _check_formula(f"amounts.{decision}", formula, spec.facts)


def _check_formula(place: str, formula: str, facts: Iterable[str]) -> frozenset[str]:
    """What the formula uses. Raises UserError where it can't be read or uses what is no fact."""
    try:
        used = names(formula)
    except ValueError as error:
        _fail(place, str(error))
    for name in sorted(used):
        _check_fact(place, name, facts)
    return used


def _check_fact(place: str, name: str, facts: Iterable[str]) -> None:
    if name not in (known := tuple(facts)):
        _fail(place, f"no fact {name!r}{nearest(name, known)}")


def _check_condition(place: str, condition: ConditionSpec, spec: Spec) -> None:
    """Its comparators and thresholds fit the fact, which has wordings for a condition."""
    _check_fact(f"{place}.fact", condition.fact, spec.facts)
    fact = spec.facts[condition.fact]
    category = fact.type == "category"
    for comparator in condition.comparators:
        dated = comparator in ("before", "after")
        if (comparator in LISTED) != category or dated != (fact.type == "date"):
            _fail(f"{place}.comparators", f"{comparator!r} does not fit {fact.key}, a {fact.type}")
    for key in ("near", "far"):
        if (getattr(condition, key) == NO_RANGE) != category:
            given = "a category has none" if category else "a value is required"
            _fail(f"{place}.{key}", given)
    if category:
        if not 1 <= condition.listed[0] <= condition.listed[1] < len(fact.vocabulary):
            _fail(f"{place}.listed", f"within 1 and {len(fact.vocabulary) - 1} expected")
    elif fact.type in NUMERIC:
        if 0 < condition.step < fact.step:
            finer = f"at least the fact's {fact.step:g} expected: a finer one tells its side"
            _fail(f"{place}.step", finer)
        reach = condition.far[1] + condition.step
        low, high = fact.range[0] - reach, fact.range[1] + reach
        if low < fact.admissible[0] or high > fact.admissible[1]:
            _fail(
                f"{place}.far",
                f"threshold out of range: {low:g} to {high:g} can be placed, "
                f"{fact.key} is within {fact.admissible[0]:g} and {fact.admissible[1]:g}",
            )
    if not fact.held_out.conditions:
        _fail(f"facts.{fact.key}.held_out.conditions", "a rule reads this fact")


def _check_policy(spec: Spec) -> None:
    policy, wording = spec.policy, spec.wording
    ruled = {rule.decision for rule in spec.rules}
    _check_word("policy.remaining", policy.remaining, spec.outcomes)
    for order in policy.precedence:
        for decision in order:
            _check_word("policy.precedence", decision, spec.outcomes)
        if set(order) != ruled | {order[-1]} or len(set(order)) != len(order):
            each = "each decision of a rule once, then the remaining one, expected"
            _fail("policy.precedence", each)
    if not 1 <= policy.in_force[0] <= policy.in_force[1] <= len(spec.rules):
        _fail("policy.in_force", f"within 1 and {len(spec.rules)} rules expected")
    used = {c for rule in spec.rules for cond in rule.conditions for c in cond.comparators}
    for comparator in sorted(used - set(wording.bounds)):
        _fail("wording.bounds", f"no held-out wording of {comparator!r}")
    for decision in sorted(ruled - set(wording.verbs)):
        _fail("wording.verbs", f"no held-out wording of {decision}")


def _check_templates(spec: Spec) -> None:
    """Every placeholder of a template is a slot."""
    for key, template, more in _templates(spec):
        for name in placeholders(template):
            if name not in spec.grammar and name not in more:
                _fail(key, f"no slot {name!r}{nearest(name, (*spec.grammar.names, *more))}")


def _templates(spec: Spec) -> Iterator[tuple[str, str, Iterable[str]]]:
    """Key, template, and the slots that it may have beside those of all."""
    for key, document in spec.documents.items():
        for part in ("sentences", "authors"):
            for i, template in enumerate(getattr(document, part)):
                yield f"documents.{key}.{part}.{i}", template, ()
        yield f"documents.{key}.title", document.title, ()
    for i, point in enumerate(spec.points):
        forms = tuple(form for group in point.requires for form in group)
        parts = {"requests": point.requests, "replies": point.replies, "text": (point.text,)}
        for part, templates in (*parts.items(), ("requires", forms)):
            for template in templates:
                yield f"points.{i}.{part}", template, point.slots
    for name, slots in (("slots", spec.slots), ("cast", spec.cast)):
        for slot, template in spec.grammar.templates(slots):
            yield f"{name}.{slot}", template, ()


def _check_standard(spec: Spec) -> None:
    if not spec.standard.items:
        _fail("standard.items", "at least one item expected")
    for item in spec.standard.items.values():
        forms = (*item.forbids, *(form for group in item.requires for form in group))
        named = [key for form in forms for key in re.findall(r"\{fact:(\w+)\}", form)]
        for key in (*item.rests_on, *named):
            _check_fact(f"standard.items.{item.id}", key, spec.facts)


def _check_documents(spec: Spec) -> None:
    """Every document that is named exists, and there is one of every use."""
    records = [d.id for d in spec.used("record")]
    for fact in spec.facts.values():
        for document in fact.documents:
            if document not in records:
                problem = f"no record {document!r}{nearest(document, records)}"
                _fail(f"facts.{fact.key}.documents", problem)
    for use in SINGLE_USES:
        if not spec.used(use):
            _fail("documents", f"no document with use: {use}")
    for use in ("supporting", "filler"):
        if len(spec.used(use)) < 2:
            _fail("documents", f"at least two documents with use: {use} expected")


def _check_revisions(spec: Spec) -> None:
    """Two facts or more that decide the first decision can be corrected."""
    top = spec.policy.precedence[0][0]
    rules: list[RuleSpec] = [rule for rule in spec.rules if rule.decision == top]
    bases = {b for r in rules for c in r.conditions for b in spec.bases(c.fact)}
    revisable = [fact for fact in map(spec.facts.__getitem__, bases) if _is_revised(fact)]
    if len(revisable) < 2:
        _fail("facts", f"at least two facts under {top} rules need a revision")


def _is_revised(fact: Fact) -> bool:
    return fact.revision is not None and fact.type in ORDERED


def _check_held_out(spec: Spec) -> None:
    """A held-out form with a public label in it would not be held out."""
    labels = [(label.casefold(), fact.key) for fact in spec.facts.values() for label in fact.labels]
    wording = spec.wording
    forms: list[tuple[str, str]] = [
        (f"facts.{fact.key}.held_out", form)
        for fact in spec.facts.values()
        for own in (fact.held_out,)
        for form in (own.noun, *own.bindings, *own.forms, *own.conditions)
    ]
    groups = (
        *(wording.rules, wording.plain_rules, wording.corrections),
        *(wording.rescissions, wording.rementions),
    )
    forms += [("wording", form) for group in groups for form in group]
    forms += [(f"rules.{rule.id}.reason", rule.reason) for rule in spec.rules]
    for place, form in forms:
        for label, key in labels:
            if label in form.casefold():
                _fail(place, f"{form!r} holds {label!r}, a public label of {key}")
