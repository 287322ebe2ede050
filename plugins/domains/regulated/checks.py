"""What is checked of a spec across its sections: each check gives its faults, `KEY: the fault`."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from typing import Final

from framework.records import ABSTAIN
from framework.registry import nearest
from framework.text.counting import counted
from framework.text.expressions import names
from plugins.domains.regulated.grammar import placeholders
from plugins.domains.regulated.policy import LISTED
from plugins.domains.regulated.spec import (
    NO_RANGE,
    NUMERIC,
    ORDERED,
    PLACEHOLDER,
    SINGLE_USES,
    ConditionSpec,
    Fact,
    RuleSpec,
    Spec,
    most_together,
)

_IN_A_NOTICE: Final = ("decision", "amount", "reasons", "provisions", "provision_text")


def faults(spec: Spec) -> Iterator[str]:
    """Each mistake as `KEY: what is wrong`, in the order of the sections."""
    found = 0
    checks = (
        *(_decisions, _labels, _formulas, _distributions, _rules, _policy, _notice, _slots),
        *(_standard, _patterns, _documents, _held_out),
    )
    for check in checks:
        for fault in check(spec):
            found += 1
            yield fault
    if not found:  # they follow what rules name
        yield from _revisions(spec)
        yield from _room(spec)


def _word(key: str, given: str, allowed: Iterable[str]) -> Iterator[str]:
    if given not in (known := tuple(allowed)):
        yield f"{key}: {given!r} given{nearest(given, known)}"


def _decisions(spec: Spec) -> Iterator[str]:
    if ABSTAIN in spec.decisions:
        yield f"decisions: {ABSTAIN} is not to be listed"
    for key, given in (("verbs", spec.verbs), ("labels", spec.labels)):
        if set(given) != set(spec.outcomes):
            every = f"one entry for each of {', '.join(spec.outcomes)}"
            yield f"{key}: {', '.join(given)} given, {every}"
    shares = spec.labels.values()
    if any(share <= 0 for share in shares) or abs(sum(shares) - 1) > 1e-9:
        yield "labels: shares above 0 with sum 1 expected"
    yield from _word("default", spec.default, spec.outcomes)
    for decision in spec.adverse:
        yield from _word("adverse", decision, spec.decisions)
    for name, value in spec.reference_groups.items():
        if name not in spec.protected:
            yield f"reference_groups.{name}: no such attribute{nearest(name, spec.protected)}"
        else:
            yield from _word(f"reference_groups.{name}", value, spec.protected[name])


def _labels(spec: Spec) -> Iterator[str]:
    """No two facts have one public name: a document that states it would not say of which."""
    known: dict[str, str] = {}
    for fact in spec.facts.values():
        for label in fact.labels:
            other = known.setdefault(label.casefold(), fact.key)
            if other != fact.key:
                yield f"facts.{fact.key}.label: {label!r} is a label of {other} too"


def _distributions(spec: Spec) -> Iterator[str]:
    """What is drawn lies in the range by itself and is not pushed to a bound of it."""
    for fact in spec.facts.values():
        drawn, place = fact.distribution, f"facts.{fact.key}.distribution"
        if drawn is None:
            continue
        of, (low, high) = drawn.parameters, fact.range
        for key in ("mean", "median"):
            if fact.type in NUMERIC and key in of and not low <= of[key] <= high:
                yield f"{place}.{key}: {of[key]:g} given, outside the range {low:g} to {high:g}"
        if drawn.kind == "quantiles" and (drawn.values[0] > high or drawn.values[-1] < low):
            yield f"{place}.values: none within the range {low:g} to {high:g}"
        if drawn.kind == "days_before" and of["low"] > of["high"]:
            yield f"{place}.low: {of['low']:g} given, above high"


def _formulas(spec: Spec) -> Iterator[str]:
    """Every formula uses only facts that come before it."""
    before: set[str] = set()
    for fact in spec.facts.values():
        place, formula = f"facts.{fact.key}.formula", fact.formula
        if fact.distribution is not None and fact.distribution.kind in (
            "share",
            "share_quantiles",
        ):
            place, formula = f"facts.{fact.key}.distribution.of", fact.distribution.of
        if formula:
            yield from _formula(place, formula, spec.facts, before)
        before.add(fact.key)
    for decision, formula in spec.amounts.items():
        if decision not in spec.decisions:
            yield f"amounts.{decision}: no such decision{nearest(decision, spec.decisions)}"
        yield from _formula(f"amounts.{decision}", formula, spec.facts, spec.facts)


def _formula(
    place: str, formula: str, facts: Iterable[str], before: Container[str]
) -> Iterator[str]:
    """A formula that can't be read, uses what is no fact, or what stands after it."""
    try:
        used = names(formula)
    except ValueError as error:
        yield f"{place}: {error}"
        return
    for name in sorted(used):
        if name not in facts:
            yield from _fact(place, name, facts)
        elif name not in before:
            yield f"{place}: {name} stands after it"


def _fact(place: str, name: str, facts: Iterable[str]) -> Iterator[str]:
    if name not in (known := tuple(facts)):
        yield f"{place}: no fact {name!r}{nearest(name, known)}"


def _rules(spec: Spec) -> Iterator[str]:
    ids = [rule.id for rule in spec.rules]
    if len(set(ids)) < len(ids):
        yield "rules: two rules of one id"
    for rule in spec.rules:
        yield from _word(f"rules.{rule.id}.decision", rule.decision, spec.outcomes)
        read = [condition.fact for condition in rule.conditions]
        for key in dict.fromkeys(fact for fact in read if read.count(fact) > 1):
            yield f"rules.{rule.id}.when: two conditions read {key}, a rule reads a fact once"
        for j, condition in enumerate(rule.conditions):
            yield from _condition(f"rules.{rule.id}.when.{j}", condition, spec)


def _condition(place: str, condition: ConditionSpec, spec: Spec) -> Iterator[str]:
    """Its comparators and thresholds fit the fact, which has wordings for a condition."""
    if condition.fact not in spec.facts:
        yield from _fact(f"{place}.fact", condition.fact, spec.facts)
        return
    fact = spec.facts[condition.fact]
    category = fact.type == "category"
    for comparator in condition.comparators:
        dated = comparator in ("before", "after")
        if (comparator in LISTED) != category or dated != (fact.type == "date"):
            yield f"{place}.comparators: {comparator!r} does not fit {fact.key}, a {fact.type}"
    given = [key for key in ("near", "far") if getattr(condition, key) != NO_RANGE]
    for key in ("near", "far"):
        if (key in given) == category:
            problem = "a category has none" if category else "a value is required"
            yield f"{place}.{key}: {problem}"
    if category:
        if not 1 <= condition.listed[0] <= condition.listed[1] < len(fact.vocabulary):
            yield f"{place}.listed: within 1 and {len(fact.vocabulary) - 1} expected"
    elif fact.type in NUMERIC and "far" in given:
        if 0 < condition.step < fact.step:
            finer = f"at least the fact's {fact.step:g} expected: a finer one tells its side"
            yield f"{place}.step: {finer}"
        reach = condition.far[1] + condition.step
        low, high = fact.range[0] - reach, fact.range[1] + reach
        if low < fact.admissible[0] or high > fact.admissible[1]:
            yield (
                f"{place}.far: threshold out of range: {low:g} to {high:g} can be placed, "
                f"{fact.key} is within {fact.admissible[0]:g} and {fact.admissible[1]:g}"
            )
    if not fact.held_out.conditions:
        yield f"facts.{fact.key}.held_out.conditions: a rule reads this fact"


def _policy(spec: Spec) -> Iterator[str]:
    policy, wording = spec.policy, spec.wording
    ruled = {rule.decision for rule in spec.rules}
    yield from _word("policy.remaining", policy.remaining, spec.outcomes)
    for order in policy.precedence:
        strange = [f for decision in order
                   for f in _word("policy.precedence", decision, spec.outcomes)]  # fmt: skip
        yield from strange
        if not strange and (set(order) != ruled | {order[-1]} or len(set(order)) != len(order)):
            each = "each decision of a rule once, then the remaining one, expected"
            yield f"policy.precedence: {each}"
    if not 1 <= policy.in_force[0] <= policy.in_force[1] <= len(spec.rules):
        yield f"policy.in_force: within 1 and {len(spec.rules)} rules expected"
    used = {c for rule in spec.rules for cond in rule.conditions for c in cond.comparators}
    for comparator in sorted(used - set(wording.bounds)):
        yield f"wording.bounds: no held-out wording of {comparator!r}"
    for decision in sorted(ruled - set(wording.verbs)):
        yield f"wording.verbs: no held-out wording of {decision}"


def _room(spec: Spec) -> Iterator[str]:
    """A case can have the rules that it needs, and as many as `in_force` says.

    It needs two of each decision, three of the first where a correction turns it (`target`).
    """
    policy, needed = spec.policy, dict[str, int]()
    for decision in policy.precedence[0][:-1]:
        own = [rule for rule in spec.rules if rule.decision == decision]
        needed[decision] = min(2, len(own))
        apart = 3 if decision == policy.precedence[0][0] else needed[decision]
        if most_together(own) < apart:
            yield f"rules: {apart} of {decision} that read different facts expected"
    given, least, most = list(policy.in_force), sum(needed.values()), most_together(spec.rules)
    if given[1] < least:
        each = ", ".join(f"{n} of {decision}" for decision, n in needed.items())
        yield f"policy.in_force: {given} given, every case has at least {least} rules: {each}"
    elif given[1] > most:
        readers: dict[str, list[str]] = {}
        for rule in spec.rules:
            for condition in rule.conditions:
                readers.setdefault(condition.fact, []).append(rule.id)
        shared = [f"{' and '.join(ids)} read {key}" for key, ids in readers.items() if ids[1:]]
        told = (
            f"at most {counted(most, 'rule')} can be in force together, as no two may read one fact"
        )
        yield f"policy.in_force: {given} given, {told}: {'; '.join(shared)}"


def _notice(spec: Spec) -> Iterator[str]:
    """Every placeholder of the form is one that is filled in."""
    for name in dict.fromkeys(re.findall(r"\{([^{}]*)\}", spec.notice)):
        if name.startswith("fact:"):
            yield from _fact("notice", name.removeprefix("fact:"), spec.facts)
        elif name not in _IN_A_NOTICE:
            yield f"notice: no placeholder {{{name}}}{nearest(name, _IN_A_NOTICE)}"


def _slots(spec: Spec) -> Iterator[str]:
    """Every placeholder of a template is a slot."""
    for key, template, more in _templates(spec):
        for name in placeholders(template):
            if name not in spec.grammar and name not in more:
                yield f"{key}: no slot {name!r}{nearest(name, (*spec.grammar.names, *more))}"


def _templates(spec: Spec) -> Iterator[tuple[str, str, Iterable[str]]]:
    """Key, template, and the slots that it may have beside those of all."""
    for key, document in spec.documents.items():
        for part in ("sentences", "authors"):
            for i, template in enumerate(getattr(document, part)):
                yield f"documents.{key}.{part}.{i}", template, ()
        yield f"documents.{key}.title", document.title, ()
    for point in spec.points:
        forms = tuple(form for group in point.requires for form in group)
        parts = {"requests": point.requests, "replies": point.replies, "text": (point.text,)}
        for part, templates in (*parts.items(), ("requires", forms)):
            for template in templates:
                yield f"points.{point.id}.{part}", template, point.slots
    for name, slots in (("slots", spec.slots), ("cast", spec.cast)):
        for slot, template in spec.grammar.templates(slots):
            yield f"{name}.{slot}", template, ()


def _standard(spec: Spec) -> Iterator[str]:
    if not spec.standard.items:
        yield "standard.items: at least one item expected"
    for item in spec.standard.items.values():
        forms = (*item.forbids, *(form for group in item.requires for form in group))
        named = [key for form in forms for key in re.findall(r"\{fact:(\w+)\}", form)]
        for key in dict.fromkeys((*item.rests_on, *named)):
            yield from _fact(f"standard.items.{item.id}", key, spec.facts)
        needed = {"{other_action}": ("favorable",), "{prohibited_basis}": ("prohibited", "people")}
        for form in needed.keys() & set(item.forbids):
            for key in needed[form]:
                if not getattr(spec.standard, key):
                    yield f"standard.{key}: {form} of items.{item.id} is made of it"


def _patterns(spec: Spec) -> Iterator[str]:
    """Every pattern of the standard is a regular expression."""
    for key, pattern in _patterns_of(spec):
        try:
            re.compile(re.sub(PLACEHOLDER, "x", pattern))
        except (re.error, OverflowError, RecursionError) as error:
            yield f"standard.{key}: {pattern!r} is no regular expression: {error}"


def _patterns_of(spec: Spec) -> Iterator[tuple[str, str]]:
    """Key and text of each pattern."""
    standard, favorable = spec.standard, spec.standard.favorable
    for item in standard.items.values():
        for i, group in enumerate(item.requires):
            yield from ((f"items.{item.id}.requires.{i}", form) for form in group)
        yield from ((f"items.{item.id}.forbids", form) for form in item.forbids)
    for key in ("prohibited", "people"):
        yield from ((key, form) for form in getattr(standard, key))
    if favorable:
        for key in ("verbs", "past", "of", "objects"):
            yield from ((f"favorable.{key}", form) for form in getattr(favorable, key))
        yield "favorable.unless", favorable.unless


def _documents(spec: Spec) -> Iterator[str]:
    """Every document that is named exists, and there is one of every use."""
    records = [d.id for d in spec.used("record")]
    for fact in spec.facts.values():
        for document in fact.documents:
            if document not in records:
                problem = f"no record {document!r}{nearest(document, records)}"
                yield f"facts.{fact.key}.documents: {problem}"
    for use in SINGLE_USES:
        if not spec.used(use):
            yield f"documents: no document with use: {use}"
    for use in ("supporting", "filler"):
        if len(spec.used(use)) < 2:
            yield f"documents: at least two documents with use: {use} expected"


def _revisions(spec: Spec) -> Iterator[str]:
    """Two facts or more that decide the first decision can be corrected."""
    top = spec.policy.precedence[0][0]
    rules: list[RuleSpec] = [rule for rule in spec.rules if rule.decision == top]
    bases = {b for r in rules for c in r.conditions for b in spec.bases(c.fact)}
    revisable = [fact for fact in map(spec.facts.__getitem__, bases) if _is_revised(fact)]
    if len(revisable) < 2:
        yield f"facts: at least two facts under {top} rules need a revision"


def _is_revised(fact: Fact) -> bool:
    return fact.revision is not None and fact.type in ORDERED


def _held_out(spec: Spec) -> Iterator[str]:
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
                yield f"{place}: {form!r} holds {label!r}, a public label of {key}"
