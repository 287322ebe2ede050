"""What a right answer to a case holds: its amount, its reasoning, and its notice's standard."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Final

from framework.records import ChecklistItem, ReasoningPoint, Standard
from plugins.domains.regulated.documents import Content
from plugins.domains.regulated.outline import CURRENT
from plugins.domains.regulated.policy import Condition, Rule, compute
from plugins.domains.regulated.sampled import Sampled
from plugins.domains.regulated.spec import Spec
from plugins.domains.regulated.statements import either, expanded, figure, literal, stated
from plugins.domains.regulated.wording import render, threshold_forms, value_forms

_NOT: Final = {
    "above": ("is not above", "does not exceed"),
    "at or above": ("is not at or above",),
    "below": ("is not below",),
    "at or below": ("is not at or below",),
    "after": ("is not after",),
    "before": ("is not before",),
    "one of": ("is not one of",),
    "not one of": ("is one of",),
}
"""How it is said that a comparison does not hold, the usual way first."""
_SMALL_WORDS: Final = frozenset({"a", "an", "the", "of", "for", "in", "to"})
_RELATION: Final = {
    "above": (">", "<="),
    "at or above": (">=", "<"),
    "below": ("<", ">="),
    "at or below": ("<=", ">"),
    "after": (">", "<="),
    "before": ("<", ">="),
    "one of": ("in", "not in"),
    "not one of": ("not in", "in"),
}
"""The relation of a comparison that holds, and of one that does not."""


def amount_of(spec: Spec, sampled: Sampled) -> float | None:
    """What the decision computes to; None for one that names no amount."""
    formula = spec.amounts.get(sampled.decision)
    if formula is None:
        return None
    return compute(formula, sampled.facts)


def points_of(
    spec: Spec, sampled: Sampled, content: Content, critical: Sequence[Rule]
) -> list[ReasoningPoint]:
    """What the reasoning must say: the point, and how each known fact of a rule compares."""
    known = sampled.known(spec.formulas)
    points = []
    for rule in critical:
        for i, condition in enumerate(rule.conditions):
            if len(known.get(condition.fact, ())) == 1:
                point = _comparison(spec, sampled, rule, condition)
                points.append(dataclasses.replace(point, id=f"{rule.code}:{i + 1}"))
    slots = content.point_slots
    points.append(
        ReasoningPoint(
            id=content.point.id,
            text=_with_slots(content.point.text, slots),
            requires=tuple(
                tuple(_with_slots(form, slots) for form in group)
                for group in content.point.requires
            ),
            forbids=(*content.point.forbids, *_others(content)),
        )
    )
    return points


def _others(content: Content) -> list[str]:
    """What the correspondence did not say: the other values of what the last group names."""
    last = content.point.requires[-1]
    asked = [name for name in content.point.slots if any(f"{{{name}}}" in form for form in last)]
    return [
        value
        for name in asked
        for value in content.point.slots[name]
        if value != content.point_slots[name]
    ]


def _comparison(spec: Spec, sampled: Sampled, rule: Rule, condition: Condition) -> ReasoningPoint:
    fact = spec.facts[condition.fact]
    value = sampled.facts[condition.fact]
    holds = condition.holds(value)
    stated: tuple[str, ...] = (f"is {condition.comparator}",)
    denied = _NOT[condition.comparator]
    if not holds:
        stated, denied = denied, stated
    bound = threshold_forms(fact, condition.threshold)[0]
    return ReasoningPoint(
        id=rule.code,
        text=f"The {fact.label} of {render(fact, value)} {stated[0]} the {bound} of {rule.code}.",
        requires=(
            fact.labels,
            value_forms(fact, value),
            (*threshold_forms(fact, condition.threshold), rule.code),
        ),
        forbids=denied,
        relation=_RELATION[condition.comparator][0 if holds else 1],
    )


def _with_slots(text: str, slots: Mapping[str, str]) -> str:
    for name, value in slots.items():
        text = text.replace("{" + name + "}", value)
    return text


def standard_of(spec: Spec, sampled: Sampled, content: Content) -> Standard:
    """The checklist of the notice, with what depends on the case filled in."""
    spans = {m.key: m.text for m in content.mentions if m.kind == "rule" and m.role == CURRENT}
    each = {
        "{each_reason}": [rule.reason for rule in sampled.winners],
        "{each_provision}": [rule.code for rule in sampled.winners],
        "{each_provision_text}": [spans[rule.id] for rule in sampled.winners],
    }
    rested = {
        base
        for rule in sampled.winners
        for condition in rule.conditions
        for base in (condition.fact, *spec.bases(condition.fact))
    }
    return Standard(
        name=spec.standard.name,
        question=spec.standard.question,
        items=tuple(
            _item(spec, sampled, item.item, each)
            for item in spec.standard.items.values()
            if not item.rests_on or rested & set(item.rests_on)
        ),
    )


def _item(
    spec: Spec, sampled: Sampled, item: ChecklistItem, each: Mapping[str, Sequence[str]]
) -> ChecklistItem:
    """The item with what depends on the case filled in: one group for each reason or provision.

    Of a conflict each stated value is right; of a missing fact none is.
    """
    known = sampled.known(spec.formulas)
    groups: list[tuple[str, ...]] = []
    for group in item.requires:
        if len(group) == 1 and group[0] in each:
            pattern = _in_order if group[0] == "{each_reason}" else literal
            groups += [(pattern(text),) for text in dict.fromkeys(each[group[0]])]
            continue
        filled: list[str] = []
        for form in group:
            match = re.fullmatch(r"\{fact:(\w+)\}", form)
            if match:
                fact = spec.facts[match[1]]
                values = stated(known, fact.key)
                filled += [literal(t) for value in values for t in value_forms(fact, value)]
            else:
                filled.append(form)
        groups.append(tuple(filled))

    def right(match: re.Match[str]) -> str:
        if match[1] is None:
            amount = amount_of(spec, sampled)
            return either([] if amount is None else [figure(amount)])
        return either([figure(value) for value in stated(known, match[1])])

    named = [pattern for form in item.forbids for pattern in expanded(spec, known, form)]
    forbids = [re.sub(r"\{(?:fact:(\w+)|amount)\}", right, form) for form in named]
    return dataclasses.replace(item, requires=tuple(groups), forbids=tuple(forbids))


def _in_order(text: str) -> str:
    """A regular expression for the words of a reason that say something, in their order.

    Up to three words between two of them, none of which denies: `value or type of collateral`.
    """
    words = [re.escape(word) for word in text.split() if word not in _SMALL_WORDS]
    gap = r"\W+(?:(?!(?:not|no|never|nor)\b)\w+\W+){0,3}?"
    return r"(?<!\w)" + gap.join(words) + r"(?!\w)"
