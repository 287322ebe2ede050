"""Reading a spec from YAML, with every mistake named by file and key.

Checked here is everything that can be checked without generating: keys and types, rules over known
facts, thresholds within what a fact may be, formulas, placeholders, references to documents, and
that no held-out form uses a public label.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Final

from framework.errors import UserError
from framework.records import ABSTAIN
from framework.registry import nearest
from framework.text.canonical import digest_file
from plugins.domains.regulated.checks import (
    check_formula,
    check_formulas,
    check_held_out,
    check_references,
)
from plugins.domains.regulated.grammar import Grammar, read_slots
from plugins.domains.regulated.node import Node
from plugins.domains.regulated.sections import (
    read_document,
    read_fact,
    read_point,
    read_policy,
    read_rule,
    read_standard,
    read_wording,
)
from plugins.domains.regulated.spec import Spec

SPECS: Final = Path(__file__).parent / "specs"
"""Where the built-in spec files are."""


def find_spec(name: str) -> Path:
    """The file of a built-in spec, or the path given. Raises UserError when there is none."""
    built_in = SPECS / f"{name}.yaml"
    if built_in.is_file():
        return built_in
    path = Path(name).expanduser()
    if path.suffix in (".yaml", ".yml") or path.exists():
        if path.is_file():
            return path
        raise UserError(f"domain.spec: no such file: {name}")
    known = sorted(p.stem for p in SPECS.glob("*.yaml"))
    raise UserError(
        f"domain.spec: no spec {name!r}{nearest(name, known)}, or a path to a YAML file"
    )


def load_spec(file: Path) -> Spec:
    """The spec in `file`. Raises UserError: one line naming file and key."""
    try:
        return _load(file, digest_file(file))
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None


@lru_cache(maxsize=16)
def _load(file: Path, digest: str) -> Spec:
    root = Node.load(file)
    decisions = root.texts("decisions", at_least=2)
    if ABSTAIN in decisions:
        root.fail("decisions", f"{ABSTAIN} is not to be listed")
    outcomes = (*decisions, ABSTAIN)
    verbs = root.mapping("verbs")
    labels = root.numbers("labels")
    for key, given in (("verbs", verbs), ("labels", labels)):
        if set(given) != set(outcomes):
            root.fail(key, f"{', '.join(given)} given, one entry for each of {', '.join(outcomes)}")
    if any(share <= 0 for share in labels.values()) or abs(sum(labels.values()) - 1) > 1e-9:
        root.fail("labels", "shares above 0 with sum 1 expected")
    adverse = root.texts("adverse")
    for decision in adverse:
        if decision not in decisions:
            root.fail("adverse", f"{decision!r} given{nearest(decision, decisions)}")
    facts = {key: read_fact(key, node) for key, node in root.nodes("facts")}
    check_formulas(root, facts)
    read = [read_rule(node, facts, outcomes) for _, node in root.nodes("rules")]
    rules = {rule.id: rule for rule in read}
    if not rules:
        root.fail("rules", "at least one rule expected")
    if len(rules) < len(read):
        root.fail("rules", "two rules of one id")
    grammar = Grammar(slots=read_slots(root.node("slots")), cast=read_slots(root.node("cast")))
    policy = read_policy(root.node("policy"), rules, outcomes)
    documents = {key: read_document(key, node, grammar) for key, node in root.nodes("documents")}
    amounts = root.mapping("amounts")
    for decision, formula in amounts.items():
        if decision not in decisions:
            root.fail(f"amounts.{decision}", f"no such decision{nearest(decision, decisions)}")
        check_formula(root, f"amounts.{decision}", formula, facts)
    protected = root.lists("protected", at_least=2)
    spec = Spec(
        name=root.text("name"),
        file=file,
        digest=digest,
        decisions=decisions,
        default=root.word("default", outcomes),
        verbs=verbs,
        adverse=adverse,
        labels={outcome: labels[outcome] for outcome in outcomes},
        instruction=root.text("instruction"),
        query=root.text("query"),
        amounts=amounts,
        tolerance=root.number("tolerance", 0.0),
        notice=root.text("notice", ""),
        particulars=root.texts("particulars"),
        calendar=_calendar(root),
        facts=facts,
        rules=rules,
        policy=policy,
        wording=read_wording(root.node("wording"), rules),
        documents=documents,
        references=root.texts("references", at_least=1),
        enclosures=root.texts("enclosures", at_least=1),
        replacements=root.texts("replacements", at_least=1),
        points=tuple(read_point(name, node, grammar) for name, node in root.nodes("points")),
        protected=protected,
        reference_groups=_reference_groups(root, protected),
        standard=read_standard(root.node("standard"), facts),
        grammar=grammar,
    )
    root.close()
    check_references(root, spec)
    check_held_out(root, spec)
    return spec


def _reference_groups(root: Node, protected: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """By attribute, the value others are compared with: the first listed, unless it is named."""
    named = root.mapping("reference_groups") if "reference_groups" in root else {}
    for name, value in named.items():
        if name not in protected:
            root.fail(f"reference_groups.{name}", f"no such attribute{nearest(name, protected)}")
        if value not in protected[name]:
            root.fail(
                f"reference_groups.{name}", f"{value!r} given{nearest(value, protected[name])}"
            )
    return {name: named.get(name, values[0]) for name, values in protected.items()}


def _calendar(root: Node) -> tuple[date, date]:
    node = root.node("calendar")
    days: list[date] = []
    for key in ("first", "last"):
        value = node.raw(key)
        if not isinstance(value, date):
            node.fail(key, f"{value!r} given, a date (2026-03-12) expected")
        days.append(value)
    node.close()
    if days[0] > days[1]:
        root.fail("calendar", "first is after last")
    return days[0], days[1]
