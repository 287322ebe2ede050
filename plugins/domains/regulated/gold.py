"""What of a case must survive, and what can be decided from what did."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from framework.records import (
    ABSTAIN,
    Gold,
    GoldItem,
    Retired,
    Span,
)
from framework.text.expressions import names
from plugins.domains.regulated.documents import Content, Mention
from plugins.domains.regulated.outline import CONFLICTING, CURRENT, RETIRED
from plugins.domains.regulated.policy import (
    Knowledge,
    Rule,
    Value,
    close,
    walk,
)
from plugins.domains.regulated.reasoning import amount_of, points_of, standard_of
from plugins.domains.regulated.sampled import Sampled
from plugins.domains.regulated.spec import Spec
from plugins.domains.regulated.wording import render, threshold_forms


def make_gold(spec: Spec, sampled: Sampled, content: Content, *, inject: bool) -> Gold:
    """The gold of a case."""
    known = sampled.known(spec.formulas)
    critical_rules = _critical_rules(sampled, known)
    critical_facts = {
        base
        for rule in critical_rules
        for condition in rule.conditions
        for base in (condition.fact, *spec.bases(condition.fact))
    }
    adverse = sampled.decision in spec.adverse
    if sampled.decision in spec.amounts:
        critical_facts |= _operands(spec, spec.amounts[sampled.decision])
    items = [
        *_fact_items(spec, sampled, content.mentions, known, critical_facts),
        *_rule_items(spec, sampled, content.mentions, critical_rules),
        *_passage_items(sampled, content.mentions),
        *_reason_items(content),
    ]
    evidence = dict.fromkeys(
        source for item in items if item.critical for source in item.source_ids
    )
    return Gold(
        items=tuple(items),
        decision=sampled.decision,
        decidable=sampled.decidable,
        amount=amount_of(spec, sampled),
        amount_tolerance=spec.tolerance,
        reasons=tuple(points_of(spec, sampled, content, critical_rules)),
        principal_reasons=tuple(dict.fromkeys(r.reason for r in sampled.winners if adverse)),
        all_reasons=tuple(dict.fromkeys(r.reason for r in sampled.policy.rules if r.reason)),
        provisions=tuple(rule.code for rule in sampled.winners if adverse),
        adverse=spec.adverse,
        standard=standard_of(spec, sampled, content) if adverse else None,
        retired=tuple(_retired(spec, sampled, content.mentions)),
        evidence=tuple(evidence),
        injected=(sampled.plan.injected, content.injected_in)
        if inject and content.injected_in
        else None,
    )


def decide_from(spec: Spec, sampled: Sampled, gold: Gold, retained: frozenset[str]) -> str:
    """The decision when only the items in `retained` are known; ABSTAIN when it is undetermined.

    A rule that is not retained may be true or false. Without the list of rules in force there may
    be others; without the precedence any order is admissible; without the remaining clause any
    decision may be what is left.
    """
    keys = {(item.kind, item.key) for item in gold.items if item.id in retained}
    known = _known(spec, sampled, gold, retained)
    policy = sampled.policy
    statuses = [
        (rule.decision, rule.status(known) if ("rule", rule.code) in keys else None)
        for rule in policy.rules
    ]
    possible = (*spec.decisions, ABSTAIN)
    if ("passage", "rules_in_force") not in keys:
        statuses += [(decision, None) for decision in possible]
    orders: Iterable[Sequence[str]] = [policy.precedence]
    if ("passage", "precedence") not in keys:
        orders = [(first, *(d for d in possible if d != first)) for first in possible]
    remaining = [policy.remaining] if ("passage", "remaining") in keys else list(possible)
    found = {
        outcome for order in orders for rest in remaining for outcome in walk(statuses, order, rest)
    }
    return found.pop() if len(found) == 1 else ABSTAIN


def amount_follows(spec: Spec, sampled: Sampled, gold: Gold, retained: frozenset[str]) -> bool:
    """Whether the gold amount follows from the items in `retained`, where the decision has one.

    It does when all that its formula is computed from has one known value, or a field that is
    defined by the same formula has.
    """
    formula = spec.amounts.get(gold.decision, "")
    known = _known(spec, sampled, gold, retained)
    single = {key for key, values in known.items() if len(values) == 1}
    stated = any(text == formula and key in single for key, text in spec.formulas.items())
    return stated or names(formula) <= single if formula else True


def _known(
    spec: Spec, sampled: Sampled, gold: Gold, retained: frozenset[str]
) -> dict[str, frozenset[Value]]:
    """The values that each fact may have when only the items in `retained` are known, closed."""
    known: dict[str, frozenset[Value]] = {}
    for item in gold.items:
        if item.id not in retained or item.key not in spec.facts:
            continue
        for value in _item_values(spec, sampled, item):
            known[item.key] = known.get(item.key, frozenset()) | {value}
    return close(known, spec.formulas)


# ------------------------------------------------------------------------------------------- items


def _fact_items(
    spec: Spec,
    sampled: Sampled,
    mentions: Sequence[Mention],
    known: Knowledge,
    critical: set[str],
) -> list[GoldItem]:
    items = []
    for key, fact in spec.facts.items():
        said = [m for m in mentions if m.kind == "fact" and m.key == key]
        bindings = (*fact.labels, fact.held_out.noun, *fact.held_out.bindings)
        if sampled.gap is not None and sampled.gap.key == key:
            # No value is right: two statements that both must survive for the conflict to show.
            for n, mention in enumerate(m for m in said if m.role == CONFLICTING):
                items.append(
                    GoldItem(
                        id=f"conflict:{key}:{n + 1}",
                        kind="passage",
                        key=key,
                        type=fact.type,
                        anchors=(render(fact, mention.value),),
                        bindings=bindings,
                        spans=(Span(source_id=mention.event_id, text=mention.text),),
                        critical=key in critical,
                    )
                )
            continue
        if len(known.get(key, ())) != 1:
            continue
        derived = names(fact.formula) if fact.formula else frozenset()
        complete = derived and all(len(known.get(name, ())) == 1 for name in derived)
        items.append(
            GoldItem(
                id=f"fact:{key}",
                kind="fact",
                key=key,
                type=fact.type,
                anchors=(render(fact, sampled.facts[key]),),
                bindings=bindings,
                spans=_spans(m for m in said if m.role == CURRENT),
                derived_from=tuple(f"fact:{name}" for name in sorted(derived)) if complete else (),
                critical=key in critical,
            )
        )
    return items


def _rule_items(
    spec: Spec, sampled: Sampled, mentions: Sequence[Mention], critical: Sequence[Rule]
) -> list[GoldItem]:
    items = []
    ids = {rule.id for rule in critical}
    for rule in sampled.policy.rules:
        said = [m for m in mentions if m.kind == "rule" and m.key == rule.id and m.role == CURRENT]
        items.append(
            GoldItem(
                id=f"rule:{rule.code}",
                kind="rule",
                key=rule.code,
                anchors=_anchors(spec, rule),
                bindings=(rule.code,),
                spans=_spans(said),
                critical=rule.id in ids,
            )
        )
    return items


def _anchors(spec: Spec, rule: Rule) -> tuple[str, ...]:
    """Thresholds in the usual form of their type; the words of a list one by one."""
    found: list[str] = []
    for condition in rule.conditions:
        if isinstance(condition.threshold, tuple):
            found += condition.threshold
        else:
            found.append(threshold_forms(spec.facts[condition.fact], condition.threshold)[0])
    return tuple(found)


def _passage_items(sampled: Sampled, mentions: Sequence[Mention]) -> list[GoldItem]:
    return [
        GoldItem(id=f"policy:{m.key}", kind="passage", key=m.key, spans=_spans([m]), critical=True)
        for m in mentions
        if m.kind == "passage"
    ]


def _reason_items(content: Content) -> list[GoldItem]:
    return [
        GoldItem(id=f"reason:{m.key}", kind="reason", key=m.key, spans=_spans([m]))
        for m in content.mentions
        if m.kind == "reason"
    ]


def _spans(mentions: Iterable[Mention]) -> tuple[Span, ...]:
    return tuple(Span(source_id=m.event_id, text=m.text) for m in mentions)


def _item_values(spec: Spec, sampled: Sampled, item: GoldItem) -> list[Value]:
    key = item.key
    if item.kind == "fact":
        return [sampled.facts[key]]
    if sampled.gap is None or sampled.gap.other is None:
        return []
    fact = spec.facts[key]
    pair = (sampled.facts[key], sampled.gap.other)
    return [value for value in pair if render(fact, value) in item.anchors]


def _critical_rules(sampled: Sampled, known: Knowledge) -> list[Rule]:
    """The rules that the decision turned on.

    Those of the winning decision that fired and all of a higher precedence, which must be known not
    to fire; for the remaining outcome, all; for an undecidable case, all down to the first that
    fires for certain.
    """
    policy = sampled.policy
    order = list(policy.precedence)
    found: list[Rule] = []
    for decision in order:
        own = [rule for rule in policy.rules if rule.decision == decision]
        certain = [rule for rule in own if rule.status(known) is True]
        if certain:
            return [*found, *certain]
        found += own
    return found


def _operands(spec: Spec, formula: str) -> set[str]:
    return {base for name in names(formula) for base in (name, *spec.bases(name))}


def _retired(spec: Spec, sampled: Sampled, mentions: Sequence[Mention]) -> list[Retired]:
    found = []
    for revision in sampled.revisions:
        fact = spec.facts[revision.key]
        for value in revision.retired:
            text = render(fact, value)
            sources = dict.fromkeys(
                m.event_id
                for m in mentions
                if m.kind == "fact" and m.key == fact.key and m.role == RETIRED and m.value == value
            )
            found.append(
                Retired(key=fact.key, type=fact.type, value=text, source_ids=tuple(sources))
            )
    for amendment in sampled.amendments:
        new = next(rule for rule in sampled.policy.rules if rule.id == amendment.old.id)
        sources = dict.fromkeys(
            m.event_id for m in mentions if m.key == new.id and m.role == RETIRED
        )
        for old, current in zip(amendment.old.conditions, new.conditions, strict=True):
            if old.threshold != current.threshold:
                fact = spec.facts[old.fact]
                found.append(
                    Retired(
                        key=new.code,
                        type=fact.type,
                        value=threshold_forms(fact, old.threshold)[0],
                        source_ids=tuple(sources),
                    )
                )
    return found
