"""Reading the sections of a spec: each mistake names file and key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from framework.records import ABSTAIN, ChecklistItem
from framework.registry import nearest
from plugins.domains.regulated.checks import check_template
from plugins.domains.regulated.grammar import Grammar, placeholders
from plugins.domains.regulated.node import Node
from plugins.domains.regulated.policy import COMPARATORS, DOWNWARD, LISTED
from plugins.domains.regulated.spec import (
    NUMERIC,
    ORDERED,
    SINGLE_USES,
    USES,
    ConditionSpec,
    Distribution,
    DocumentSpec,
    Fact,
    PointSpec,
    PolicySpec,
    RuleSpec,
    StandardSpec,
    Wording,
)

TYPES: Final = (*NUMERIC, "date", "identifier", "provision", "category")
PLACEHOLDER: Final = r"\{(?:fact:\w+|amount)\}"
LOOKAHEAD: Final = rf"\(\?!{PLACEHOLDER}\)"
DISTRIBUTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "lognormal": ("median", "sigma"),
    "normal": ("mean", "sd"),
    "uniform": (),
    "integers": (),
    "share": (),
    "days_before": ("low", "high"),
    "choice": (),
    "pattern": (),
    "provision": (),
}


def read_fact(key: str, node: Node) -> Fact:
    """A fact. Raises UserError for the first mistake in it."""
    if not key.isidentifier():
        node.fail("label", f"the key {key!r} is not a plain name")
    kind = node.word("type", TYPES)
    formula = node.text("formula", "")
    distribution = None if formula else _distribution(node.node("distribution"))
    vocabulary = node.texts("vocabulary", at_least=3 if kind == "category" else 0)
    held_out = node.node("held_out")
    ordered = kind in ORDERED
    limits = node.pair("range") if kind in NUMERIC else (0.0, 0.0)
    revision = node.pair("revision") if "revision" in node else None
    fact = Fact(
        key=key,
        label=node.text("label"),
        aliases=node.texts("aliases"),
        type=kind,
        unit=node.text("unit", ""),
        decimals=node.whole("decimals", 0),
        step=node.number("step", 1.0),
        formula=formula,
        distribution=distribution,
        range=limits,
        admissible=node.pair("admissible", limits) if ordered else limits,
        revision=revision,
        relative=node.word("revision_by", ("share", "units"), "units") == "share",
        vocabulary=vocabulary,
        documents=node.texts("documents", at_least=0 if formula else 1),
        noun=held_out.text("noun"),
        bindings=held_out.texts("bindings", at_least=1),
        forms=held_out.texts("forms", at_least=4),
        conditions=held_out.texts("conditions"),
    )
    held_out.close()
    node.close()
    if fact.step <= 0:
        node.fail("step", "a number above 0 expected")
    if kind == "count" and not fact.unit:
        node.fail("unit", "a count needs its unit")
    if revision is not None and not (ordered or kind == "category"):
        node.fail("revision", f"a fact of type {kind} is not revised")
    for i, form in enumerate(fact.forms):
        if placeholders(form) != ("value",):
            node.fail(f"held_out.forms.{i}", "{value} exactly once expected")
        if not any(b.casefold() in form.casefold() for b in (fact.noun, *fact.bindings)):
            node.fail(f"held_out.forms.{i}", "none of the noun and bindings is in it")
    for i, form in enumerate(fact.conditions):
        if placeholders(form) != ("bound",):
            node.fail(f"held_out.conditions.{i}", "{bound} exactly once expected")
    return fact


def _distribution(node: Node) -> Distribution:
    kind = node.word("kind", tuple(DISTRIBUTIONS))
    parameters = {name: node.number(name) for name in DISTRIBUTIONS[kind]}
    of = node.text("of") if kind in ("share", "pattern") else ""
    if kind == "share":
        low, high = node.pair("between")
        parameters |= {"low": low, "high": high}
    distribution = Distribution(kind=kind, source=node.text("source"), parameters=parameters, of=of)
    node.close()
    return distribution


def read_rule(node: Node, facts: Mapping[str, Fact], outcomes: tuple[str, ...]) -> RuleSpec:
    """A rule. Raises UserError for the first mistake in it."""
    conditions = []
    for name, entry in node.nodes("when"):
        conditions.append(_condition(node, name, entry, facts))
    if not conditions:
        node.fail("when", "at least one condition expected")
    decision = node.word("decision", outcomes)
    rule = RuleSpec(
        id=node.text("id"),
        code=node.text("code"),
        decision=decision,
        conditions=tuple(conditions),
        reason=node.text("reason", "" if decision == ABSTAIN else None),
    )
    node.close()
    if rule.code.count("{n}") != 1:
        node.fail("code", "{n} exactly once expected")
    for char in ".;":
        if char in rule.reason:
            node.fail("reason", f"a reason holds no {char!r}")
    return rule


def _condition(rule: Node, name: str, node: Node, facts: Mapping[str, Fact]) -> ConditionSpec:
    key = node.text("fact")
    if key not in facts:
        node.fail("fact", f"no fact {key!r}{nearest(key, facts)}")
    fact = facts[key]
    comparators = node.texts("comparators", at_least=1)
    for comparator in comparators:
        if comparator not in COMPARATORS:
            node.fail("comparators", f"{comparator!r} given{nearest(comparator, COMPARATORS)}")
        if (comparator in LISTED) != (fact.type == "category"):
            node.fail("comparators", f"{comparator!r} does not fit {key}, a {fact.type}")
        if (comparator in ("before", "after")) != (fact.type == "date"):
            node.fail("comparators", f"{comparator!r} does not fit {key}, a {fact.type}")
    if len({c in DOWNWARD for c in comparators}) > 1:
        node.fail("comparators", "all upward or all downward expected")
    none = (0.0, 0.0)
    category = fact.type == "category"
    condition = ConditionSpec(
        fact=key,
        comparators=comparators,
        near=none if category else node.pair("near"),
        far=none if category else node.pair("far"),
        step=1.0 if category else node.number("step", fact.step),
        listed=_whole_pair(node, "listed", (2, 3)),
    )
    node.close()
    if category:
        if not 1 <= condition.listed[0] <= condition.listed[1] < len(fact.vocabulary):
            node.fail("listed", f"within 1 and {len(fact.vocabulary) - 1} expected")
        return condition
    if not 0 < condition.near[0] <= condition.near[1] < condition.far[0]:
        node.fail("far", "0 < near < far expected")
    if condition.step <= 0:
        node.fail("step", "a number above 0 expected")
    if fact.type in NUMERIC:
        reach = condition.far[1] + condition.step
        low, high = fact.range[0] - reach, fact.range[1] + reach
        if low < fact.admissible[0] or high > fact.admissible[1]:
            node.fail(
                "far",
                f"threshold out of range: {low:g} to {high:g} can be placed, "
                f"{key} is within {fact.admissible[0]:g} and {fact.admissible[1]:g}",
            )
    return condition


def read_policy(node: Node, rules: Mapping[str, RuleSpec], outcomes: tuple[str, ...]) -> PolicySpec:
    """How policies are put together. Raises UserError for the first mistake in it."""
    orders: list[tuple[str, ...]] = []
    ruled = {rule.decision for rule in rules.values()}
    for order in node.groups("precedence"):
        for decision in order:
            if decision not in outcomes:
                node.fail("precedence", f"{decision!r} given{nearest(decision, outcomes)}")
        if set(order) != ruled | {order[-1]} or len(set(order)) != len(order):
            node.fail(
                "precedence", "each decision of a rule once, then the remaining one, expected"
            )
        orders.append(order)
    if not orders:
        node.fail("precedence", "at least one order expected")
    remaining = node.word("remaining", outcomes)
    if any(order[-1] != remaining for order in orders):
        node.fail("precedence", f"every order ends with the remaining decision, {remaining}")
    in_force = _whole_pair(node, "in_force")
    if not 1 <= in_force[0] <= in_force[1] <= len(rules):
        node.fail("in_force", f"within 1 and {len(rules)} rules expected")
    general = node.lists("general", at_least=1)
    if set(general) != {"corrections", "open"}:
        node.fail("general", "corrections and open expected")
    policy = PolicySpec(
        title=node.text("title"),
        authors=node.texts("authors", at_least=1),
        days=_whole_pair(node, "days"),
        in_force=in_force,
        precedence=tuple(orders),
        remaining=remaining,
        clauses=node.texts("clauses", at_least=4),
        general=general,
    )
    node.close()
    return policy


def read_wording(node: Node, rules: Mapping[str, RuleSpec]) -> Wording:
    """The held-out wording of no one fact. Raises UserError for the first mistake in it."""
    wording = Wording(
        bounds=node.lists("bounds", at_least=1),
        verbs=node.lists("verbs", at_least=1),
        rules=node.texts("rules", at_least=3),
        plain_rules=node.texts("plain_rules", at_least=3),
        amended=node.texts("amended", at_least=1),
        in_force=node.texts("in_force", at_least=1),
        precedence=node.texts("precedence", at_least=1),
        remaining=node.texts("remaining", at_least=1),
        corrections=node.texts("corrections", at_least=2),
        rescissions=node.texts("rescissions", at_least=1),
        rementions=node.texts("rementions", at_least=2),
        injections=node.texts("injections", at_least=1),
    )
    needs = {
        "rules": {"code", "verb", "conditions", "reason"},
        "plain_rules": {"code", "verb", "conditions"},
        "amended": {"code", "date"},
        "in_force": {"codes"},
        "precedence": {"verbs"},
        "remaining": {"verb"},
        "corrections": {"date", "noun", "value", "old"},
        "rescissions": {"date", "noun", "value"},
        "rementions": {"noun", "old"},
        "injections": {"verb"},
    }
    for key, wanted in needs.items():
        for i, form in enumerate(getattr(wording, key)):
            found = {name.lower() for name in placeholders(form)}
            if found != wanted and not (key == "corrections" and found == wanted - {"date"}):
                expected = ", ".join(f"{{{name}}}" for name in sorted(wanted))
                node.fail(f"{key}.{i}", f"the placeholders {expected} expected")
    used = {c for rule in rules.values() for cond in rule.conditions for c in cond.comparators}
    for comparator in sorted(used - set(wording.bounds)):
        node.fail("bounds", f"no held-out wording of {comparator!r}")
    for decision in sorted({rule.decision for rule in rules.values()} - set(wording.verbs)):
        node.fail("verbs", f"no held-out wording of {decision}")
    node.close()
    return wording


def read_document(key: str, node: Node, grammar: Grammar) -> DocumentSpec:
    """A type of document. Raises UserError for the first mistake in it."""
    use = node.word("use", USES)
    document = DocumentSpec(
        id=key,
        use=use,
        kind=node.text("kind"),
        title=node.text("title"),
        authors=node.texts("authors", at_least=1),
        days=_whole_pair(node, "days"),
        count=_whole_pair(node, "count", (0, 0)),
        sentences=node.texts("sentences", at_least=2 if use in SINGLE_USES else 4),
    )
    node.close()
    for i, template in enumerate(document.sentences):
        check_template(node, f"sentences.{i}", template, grammar)
    for i, template in enumerate(document.authors):
        check_template(node, f"authors.{i}", template, grammar)
    check_template(node, "title", document.title, grammar)
    return document


def read_point(name: str, node: Node, grammar: Grammar) -> PointSpec:
    """A reasoning point. Raises UserError for the first mistake in it."""
    point = PointSpec(
        id=node.text("id"),
        slots=node.lists("slots", at_least=2),
        requests=node.texts("requests", at_least=1),
        replies=node.texts("replies", at_least=2),
        text=node.text("text"),
        requires=node.groups("requires"),
        forbids=node.texts("forbids"),
    )
    node.close()
    if not point.requires:
        node.fail("requires", "at least one group expected")
    for key, templates in (
        ("requests", point.requests),
        ("replies", point.replies),
        ("text", (point.text,)),
        ("requires", tuple(form for group in point.requires for form in group)),
    ):
        for template in templates:
            check_template(node, key, template, grammar, tuple(point.slots))
    return point


def read_standard(node: Node, facts: Mapping[str, Fact]) -> StandardSpec:
    """The notice standard. Raises UserError for the first mistake in it."""
    items = []
    rests_on: dict[str, tuple[str, ...]] = {}
    for name, entry in node.nodes("items"):
        items.append(
            ChecklistItem(
                id=name,
                text=entry.text("text"),
                citation=entry.text("citation"),
                requires=entry.groups("requires"),
                forbids=entry.texts("forbids"),
                axis=entry.text("axis", "crr"),
            )
        )
        if "rests_on" in entry:
            rests_on[name] = entry.texts("rests_on", at_least=1)
        entry.close()
        for key in (*rests_on.get(name, ()), *_facts_of(items[-1])):
            if key not in facts:
                node.fail(f"items.{name}", f"no fact {key!r}{nearest(key, facts)}")
        for pattern in items[-1].forbids:
            if re.search(PLACEHOLDER, re.sub(LOOKAHEAD, "", pattern)):
                node.fail(f"items.{name}.forbids", "a placeholder stands as (?!{fact:KEY})")
    if not items:
        node.fail("items", "at least one item expected")
    standard = StandardSpec(
        name=node.text("name"),
        question=node.text("question"),
        items=tuple(items),
        rests_on=rests_on,
    )
    node.close()
    return standard


def _facts_of(item: ChecklistItem) -> list[str]:
    forms = (*item.forbids, *(form for group in item.requires for form in group))
    return [key for form in forms for key in re.findall(r"\{fact:(\w+)\}", form)]


def _whole_pair(node: Node, key: str, default: tuple[int, int] | None = None) -> tuple[int, int]:
    low, high = node.pair(key, default)
    if low != int(low) or high != int(high):
        node.fail(key, f"[{low:g}, {high:g}] given, whole numbers expected")
    return int(low), int(high)
