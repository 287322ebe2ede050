"""What is checked of a spec across its sections: each mistake names file and key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from framework.registry import nearest
from framework.text.expressions import names
from plugins.domains.regulated.grammar import Grammar, placeholders
from plugins.domains.regulated.node import Node
from plugins.domains.regulated.spec import ORDERED, SINGLE_USES, Fact, Spec


def check_formulas(root: Node, facts: Mapping[str, Fact]) -> None:
    """Every formula uses only facts that come before it."""
    before: set[str] = set()
    for fact in facts.values():
        if fact.formula:
            check_formula(root, f"facts.{fact.key}.formula", fact.formula, facts)
            for name in names(fact.formula):
                if name not in before:
                    root.fail(f"facts.{fact.key}.formula", f"{name} stands after it")
        elif fact.distribution is not None and fact.distribution.kind == "share":
            place = f"facts.{fact.key}.distribution.of"
            check_formula(root, place, fact.distribution.of, facts)
            for name in names(fact.distribution.of):
                if name not in before:
                    root.fail(place, f"{name} stands after it")
        before.add(fact.key)


def check_formula(root: Node, place: str, formula: str, facts: Iterable[str]) -> None:
    """Raise UserError unless the formula can be read and uses only `facts`."""
    try:
        used = names(formula)
    except ValueError as error:
        root.fail(place, str(error))
    for name in sorted(used):
        if name not in facts:
            root.fail(place, f"no fact {name!r}{nearest(name, facts)}")


def check_template(
    node: Node, key: str, template: str, grammar: Grammar, more: tuple[str, ...] = ()
) -> None:
    """Raise UserError for a placeholder that the template may not hold."""
    for name in placeholders(template):
        if name not in grammar and name not in more:
            node.fail(key, f"no slot {name!r}{nearest(name, (*grammar.names, *more))}")


def check_references(root: Node, spec: Spec) -> None:
    """Raise UserError for a document, fact or rule that is named and does not exist."""
    records = [d.id for d in spec.used("record")]
    for fact in spec.facts.values():
        for document in fact.documents:
            if document not in records:
                root.fail(
                    f"facts.{fact.key}.documents",
                    f"no record {document!r}{nearest(document, records)}",
                )
    for use in SINGLE_USES:
        if not spec.used(use):
            root.fail("documents", f"no document with use: {use}")
    for use in ("supporting", "filler"):
        if len(spec.used(use)) < 2:
            root.fail("documents", f"at least two documents with use: {use} expected")
    for name, text in (("slots", spec.grammar.slots), ("cast", spec.grammar.cast)):
        for slot, template in spec.grammar.templates(text):
            check_template(root, f"{name}.{slot}", template, spec.grammar)
    top = spec.policy.precedence[0][0]
    for rule in spec.rules.values():
        for condition in rule.conditions:
            fact = spec.facts[condition.fact]
            if not fact.conditions:
                root.fail(f"facts.{fact.key}.held_out.conditions", "a rule reads this fact")
    revisable = {
        base
        for rule in spec.rules.values()
        if rule.decision == top
        for condition in rule.conditions
        for base in spec.bases(condition.fact)
        if spec.facts[base].revision is not None and spec.facts[base].type in ORDERED
    }
    if len(revisable) < 2:
        root.fail("facts", f"at least two facts under {top} rules need a revision")


def check_held_out(root: Node, spec: Spec) -> None:
    """A held-out form with a public label in it would not be held out."""
    labels = [(label.casefold(), fact.key) for fact in spec.facts.values() for label in fact.labels]
    wording = spec.wording
    forms: list[tuple[str, str]] = [
        (f"facts.{fact.key}.held_out", form)
        for fact in spec.facts.values()
        for form in (fact.noun, *fact.bindings, *fact.forms, *fact.conditions)
    ]
    forms += [
        ("wording", form)
        for group in (wording.rules, wording.plain_rules, wording.corrections)
        for form in group
    ]
    forms += [("wording", f) for g in (wording.rescissions, wording.rementions) for f in g]
    forms += [(f"rules.{rule.id}.reason", rule.reason) for rule in spec.rules.values()]
    for place, form in forms:
        for label, key in labels:
            if label in form.casefold():
                root.fail(place, f"{form!r} holds {label!r}, a public label of {key}")
