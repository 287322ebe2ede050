"""The declarative spec of a domain, as data. `loading` reads it from YAML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

from framework.records import ChecklistItem, FactField
from framework.text.expressions import names
from plugins.domains.regulated.grammar import Grammar

NUMERIC: Final = ("money", "percent", "score", "count")
ORDERED: Final = (*NUMERIC, "date")
USES: Final = (
    "record", "supporting", "filler", "correction", "remention", "amendment",
    "request", "reply", "monitoring",
)  # fmt: skip
SINGLE_USES: Final = ("correction", "remention", "amendment", "request", "reply", "monitoring")


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """How a fact is sampled. `source` is a citation or the word `assumed`.

    `share` draws a number within the fact's range and multiplies it by the formula `of`; `pattern`
    replaces each `#` of `of` by a digit; `provision` draws a denying provision of the case.
    """

    kind: str
    source: str
    parameters: Mapping[str, float]
    of: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact of the answer form.

    step : values are multiples of it (money in dollars, percent points, days).
    range : least and greatest value drawn; for a date, days before intake.
    admissible : least and greatest value there could be, where the fact is missing.
    revision : how far a corrected value lies from the retired one, `relative` to the value or in
        the fact's units.
    noun, bindings, forms, conditions : the held-out wording.
    """

    key: str
    label: str
    aliases: tuple[str, ...]
    type: str
    unit: str
    decimals: int
    step: float
    formula: str
    distribution: Distribution | None
    range: tuple[float, float]
    admissible: tuple[float, float]
    revision: tuple[float, float] | None
    relative: bool
    vocabulary: tuple[str, ...]
    documents: tuple[str, ...]
    noun: str
    bindings: tuple[str, ...]
    forms: tuple[str, ...]
    conditions: tuple[str, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The public names: label and aliases."""
        return (self.label, *self.aliases)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionSpec:
    """A condition whose threshold is placed near (`near`) or far (`far`) from the fact's value."""

    fact: str
    comparators: tuple[str, ...]
    near: tuple[float, float]
    far: tuple[float, float]
    step: float
    listed: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSpec:
    """A rule before its code, comparators and thresholds are sampled."""

    id: str
    code: str
    decision: str
    conditions: tuple[ConditionSpec, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySpec:
    """How a case's policy is put together. `general`: by clause, the development form first."""

    title: str
    authors: tuple[str, ...]
    days: tuple[int, int]
    in_force: tuple[int, int]
    precedence: tuple[tuple[str, ...], ...]
    remaining: str
    clauses: tuple[str, ...]
    general: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """The held-out wording that is not a fact's own. Placeholders as in the development forms."""

    bounds: Mapping[str, tuple[str, ...]]
    verbs: Mapping[str, tuple[str, ...]]
    rules: tuple[str, ...]
    plain_rules: tuple[str, ...]
    amended: tuple[str, ...]
    in_force: tuple[str, ...]
    precedence: tuple[str, ...]
    remaining: tuple[str, ...]
    corrections: tuple[str, ...]
    rescissions: tuple[str, ...]
    rementions: tuple[str, ...]
    injections: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSpec:
    """A type of document. `days` counts from intake; `count` is how many a history holds first."""

    id: str
    use: str
    kind: str
    title: str
    authors: tuple[str, ...]
    days: tuple[int, int]
    count: tuple[int, int]
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PointSpec:
    """A reasoning point that correspondence settles: a request, a reply, what it entails."""

    id: str
    slots: Mapping[str, tuple[str, ...]]
    requests: tuple[str, ...]
    replies: tuple[str, ...]
    text: str
    requires: tuple[tuple[str, ...], ...]
    forbids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StandardSpec:
    """The notice standard; `{each_reason}` and the like are filled in from the case.

    `rests_on` : by item id, facts on one of which a rule that gave the decision must rest for the
        item to apply; an item that is not in it applies always.
    """

    name: str
    question: str
    items: tuple[ChecklistItem, ...]
    rests_on: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """Everything about a domain. Equal by digest.

    notice : the form of a notice that meets the standard, with placeholders.
    particulars : what a writer of the notice can't know without being told: who writes, where.
    """

    name: str
    file: Path
    digest: str
    decisions: tuple[str, ...]
    default: str
    verbs: Mapping[str, str]
    adverse: tuple[str, ...]
    labels: Mapping[str, float]
    instruction: str
    query: str
    amounts: Mapping[str, str]
    tolerance: float
    notice: str
    particulars: tuple[str, ...]
    calendar: tuple[date, date]
    facts: Mapping[str, Fact]
    rules: Mapping[str, RuleSpec]
    policy: PolicySpec
    wording: Wording
    documents: Mapping[str, DocumentSpec]
    references: tuple[str, ...]
    enclosures: tuple[str, ...]
    replacements: tuple[str, ...]
    points: tuple[PointSpec, ...]
    protected: Mapping[str, tuple[str, ...]]
    reference_groups: Mapping[str, str]
    standard: StandardSpec
    grammar: Grammar

    @property
    def formulas(self) -> dict[str, str]:
        """Formula of every derived fact."""
        return {fact.key: fact.formula for fact in self.facts.values() if fact.formula}

    @property
    def fields(self) -> tuple[FactField, ...]:
        """The public answer form."""
        return tuple(
            FactField(key=f.key, label=f.label, type=f.type, aliases=f.aliases, formula=f.formula)
            for f in self.facts.values()
        )

    def bases(self, key: str) -> frozenset[str]:
        """The facts that are only read on which `key` rests: itself, or its formula's."""
        formula = self.facts[key].formula
        if not formula:
            return frozenset({key})
        return frozenset(base for name in names(formula) for base in self.bases(name))

    def used(self, use: str) -> tuple[DocumentSpec, ...]:
        """The document types of one use."""
        return tuple(d for d in self.documents.values() if d.use == use)
