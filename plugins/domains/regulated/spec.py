"""The declarative spec of a domain: each class is a section of its YAML file, field by field.

What a section can tell of itself is checked where it is made; `checks` looks across sections.
`loading` reads the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Final, Literal

from framework.bounds import above, at_least
from framework.records import ABSTAIN, ChecklistItem, FactField
from framework.registry import nearest
from framework.text.expressions import names
from plugins.domains.regulated.grammar import Grammar, Range, placeholders
from plugins.domains.regulated.policy import COMPARATORS, DOWNWARD
from plugins.domains.regulated.section import Least, Section, check_length

NUMERIC: Final = ("money", "percent", "score", "count")
ORDERED: Final = (*NUMERIC, "date")
FactType = Literal[
    "money", "percent", "score", "count", "date", "identifier", "provision", "category"
]
Use = Literal[
    "record", "supporting", "filler", "correction", "remention", "amendment",
    "request", "reply", "monitoring",
]  # fmt: skip
SINGLE_USES: Final = ("correction", "remention", "amendment", "request", "reply", "monitoring")
PLACEHOLDER: Final = r"\{(?:fact:\w+|amount)\}"
LOOKAHEAD: Final = rf"\(\?!{PLACEHOLDER}\)"

Texts = tuple[str, ...]
Pair = tuple[float, float]
Bounds = tuple[int, int]
KEY: Final = {"key": True}
"""Of a field that is the key under which its section stands."""
NO_RANGE: Final = (0.0, 0.0)


PARAMETERS: Final[Mapping[str, tuple[str, ...]]] = {
    "lognormal": ("median", "sigma"),
    "normal": ("mean", "sd"),
    "uniform": (),
    "integers": (),
    "share": ("of", "between"),
    "quantiles": ("values",),
    "share_quantiles": ("of", "values"),
    "days_before": ("low", "high"),
    "choice": (),
    "pattern": ("of",),
    "provision": (),
}
"""By kind of distribution, the keys that it has beside its source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution(Section):
    """How a fact is sampled. `source` is a citation or the word `assumed`.

    `share` draws a number between two and multiplies it by the formula `of`; `pattern` replaces
    each `#` of `of` by a digit; `provision` draws a denying provision of the case. `quantiles`
    draws between `values`, which are quantiles from 0 to 1 in equal steps, never falling;
    `share_quantiles` multiplies what it draws by the formula `of`.
    """

    kind: Literal[
        "lognormal", "normal", "uniform", "integers", "share", "days_before", "choice", "pattern",
        "provision", "quantiles", "share_quantiles",
    ]  # fmt: skip
    source: str
    median: float | None = None
    sigma: float | None = None
    mean: float | None = None
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    between: Pair | None = None
    of: str = ""
    values: Annotated[tuple[float, ...], Least(2)] = ()

    def __post_init__(self) -> None:
        Section.__post_init__(self)
        if any(after < before for before, after in pairwise(self.values)):
            raise ValueError("values: a quantile is below the one before it")
        asked = PARAMETERS[self.kind]
        for f in fields(self)[2:]:
            given = getattr(self, f.name) not in (None, "", ())
            if given and f.name not in asked:
                raise ValueError(f"{f.name}: no such key{nearest(f.name, asked)}")
            if not given and f.name in asked:
                raise ValueError(f"{f.name}: a value is required")
        for key in ("median", "sigma", "sd"):
            if (number := getattr(self, key)) is not None and number <= 0:
                raise ValueError(f"{key}: {number:g} given, above 0 expected")

    @property
    def parameters(self) -> Mapping[str, float]:
        """The numbers that it is given, `low` and `high` of a share too."""
        low, high = self.between or (self.low, self.high)
        given = {"median": self.median, "sigma": self.sigma, "mean": self.mean, "sd": self.sd}
        return {k: v for k, v in {**given, "low": low, "high": high}.items() if v is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut(Section):
    """A fact's held-out wording: its noun, what binds a value to it, statements, conditions."""

    noun: str
    bindings: Annotated[Texts, Least(1)]
    forms: Annotated[Texts, Least(4)]
    conditions: Texts = ()

    def __post_init__(self) -> None:
        Section.__post_init__(self)
        for i, form in enumerate(self.forms):
            if placeholders(form) != ("value",):
                raise ValueError(f"forms.{i}: {{value}} exactly once expected")
            if not any(b.casefold() in form.casefold() for b in (self.noun, *self.bindings)):
                raise ValueError(f"forms.{i}: none of the noun and bindings is in it")
        for i, form in enumerate(self.conditions):
            if placeholders(form) != ("bound",):
                raise ValueError(f"conditions.{i}: {{bound}} exactly once expected")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(Section):
    """One fact of the answer form.

    step : values are multiples of it (money in dollars, percent points, days).
    range : least and greatest value drawn, of a number.
    admissible : least and greatest value there could be, where the fact is missing; the range where
        the file does not say it.
    revision : how far a corrected value lies from the retired one, by `revision_by`: as a share of
        the value or in the fact's units.
    """

    key: str = field(metadata=KEY)
    label: str
    aliases: Texts = ()
    type: FactType
    unit: str = ""
    decimals: int = 0
    step: Annotated[float, above(0)] = 1.0
    formula: str = ""
    distribution: Distribution | None = None
    range: Pair = NO_RANGE
    admissible: Pair = NO_RANGE
    revision: Pair | None = None
    revision_by: Literal["share", "units"] = "units"
    vocabulary: Texts = ()
    documents: Texts = ()
    held_out: HeldOut

    def __post_init__(self) -> None:
        Section.__post_init__(self)
        if not self.key.isidentifier():
            raise ValueError(f"label: the key {self.key!r} is not a plain name")
        for key, due in (
            ("range", self.type in NUMERIC),
            ("distribution", not self.formula),
            ("unit", self.type == "count"),
        ):
            if due and getattr(self, key) in (None, "", NO_RANGE):
                raise ValueError(f"{key}: a value is required")
        for key, least in (
            ("vocabulary", 3 if self.type == "category" else 0),
            ("documents", 0 if self.formula else 1),
        ):
            check_length(key, getattr(self, key), least)
        if self.formula and self.distribution is not None:
            raise ValueError("distribution: a fact with a formula is not drawn")
        for key, fits in (("range", self.type in NUMERIC), ("admissible", self.type in ORDERED)):
            if not fits and getattr(self, key) != NO_RANGE:
                raise ValueError(f"{key}: a fact of type {self.type} has none")
        if self.revision is not None and self.type not in (*ORDERED, "category"):
            raise ValueError(f"revision: a fact of type {self.type} is not revised")

    @property
    def labels(self) -> tuple[str, ...]:
        """The public names: label and aliases."""
        return (self.label, *self.aliases)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionSpec(Section):
    """A condition whose threshold is placed near (`near`) or far (`far`) from the fact's value.

    step : of the threshold; where the file has none, the fact's. listed : how many words of a
    category are named.
    """

    fact: str
    comparators: Annotated[Texts, Least(1)]
    near: Pair = NO_RANGE
    far: Pair = NO_RANGE
    step: Annotated[float, at_least(0)] = 0.0
    listed: Bounds = (2, 3)

    def __post_init__(self) -> None:
        Section.__post_init__(self)
        for comparator in self.comparators:
            if comparator not in COMPARATORS:
                known = nearest(comparator, COMPARATORS)
                raise ValueError(f"comparators: {comparator!r} given{known}")
        if len({c in DOWNWARD for c in self.comparators}) > 1:
            raise ValueError("comparators: all upward or all downward expected")
        near, far = self.near, self.far
        if NO_RANGE not in (near, far) and not 0 < near[0] <= near[1] < far[0]:
            raise ValueError("far: 0 < near < far expected")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSpec(Section):
    """A rule before its code, comparators and thresholds are sampled."""

    id: str
    code: str
    decision: str
    conditions: Annotated[tuple[ConditionSpec, ...], Least(1)] = field(metadata={"alias": "when"})
    reason: str = ""

    def __post_init__(self) -> None:
        Section.__post_init__(self)
        if not self.reason and self.decision != ABSTAIN:
            raise ValueError("reason: a value is required")
        if self.code.count("{n}") != 1:
            raise ValueError("code: {n} exactly once expected")
        for char in ".;":
            if char in self.reason:
                raise ValueError(f"reason: a reason holds no {char!r}")


def most_together(rules: Sequence[RuleSpec]) -> int:
    """How many of the rules can be in force at once: of these no two read one fact."""
    if not rules:
        return 0
    first, *others = sorted(rules, key=lambda rule: len(rule.conditions))
    read = [condition.fact for condition in first.conditions]
    if len(set(read)) < len(read):
        return most_together(others)
    apart = [r for r in others if not any(c.fact in read for c in r.conditions)]
    found = 1 + most_together(apart)
    # Of the rules that read its one fact, one that reads nothing else is the best to take.
    if len(read) == 1 or len(apart) == len(others):
        return found
    return max(found, most_together(others))


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySpec(Section):
    """How a case's policy is put together. `general`: by clause, the development form first."""

    title: str
    authors: Annotated[Texts, Least(1)]
    in_force: Bounds
    precedence: Annotated[tuple[Texts, ...], Least(1)]
    remaining: str
    clauses: Annotated[Texts, Least(4)]
    general: Annotated[Mapping[str, Texts], Least(1)]

    def __post_init__(self) -> None:
        Section.__post_init__(self)
        if any(order[-1] != self.remaining for order in self.precedence):
            last = f"every order ends with the remaining decision, {self.remaining}"
            raise ValueError(f"precedence: {last}")
        if set(self.general) != {"corrections", "open"}:
            raise ValueError("general: corrections and open expected")


NEEDS: Final[Mapping[str, frozenset[str]]] = {
    "rules": frozenset({"code", "verb", "conditions", "reason"}),
    "plain_rules": frozenset({"code", "verb", "conditions"}),
    "amended": frozenset({"code", "date"}),
    "in_force": frozenset({"codes"}),
    "precedence": frozenset({"verbs"}),
    "remaining": frozenset({"verb"}),
    "corrections": frozenset({"date", "noun", "value", "old"}),
    "rescissions": frozenset({"date", "noun", "value"}),
    "rementions": frozenset({"noun", "old"}),
    "injections": frozenset({"verb"}),
}
"""By kind of held-out wording, the placeholders of its forms; a correction may have no date."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording(Section):
    """The held-out wording that is not a fact's own. Placeholders as in the development forms."""

    bounds: Annotated[Mapping[str, Texts], Least(1)]
    verbs: Annotated[Mapping[str, Texts], Least(1)]
    rules: Annotated[Texts, Least(3)]
    plain_rules: Annotated[Texts, Least(3)]
    amended: Annotated[Texts, Least(1)]
    in_force: Annotated[Texts, Least(1)]
    precedence: Annotated[Texts, Least(1)]
    remaining: Annotated[Texts, Least(1)]
    corrections: Annotated[Texts, Least(2)]
    rescissions: Annotated[Texts, Least(1)]
    rementions: Annotated[Texts, Least(2)]
    injections: Annotated[Texts, Least(1)]

    def __post_init__(self) -> None:
        Section.__post_init__(self)
        for key, wanted in NEEDS.items():
            for i, form in enumerate(getattr(self, key)):
                found = {name.lower() for name in placeholders(form)}
                if found != wanted and not (key == "corrections" and found == wanted - {"date"}):
                    expected = ", ".join(f"{{{name}}}" for name in sorted(wanted))
                    raise ValueError(f"{key}.{i}: the placeholders {expected} expected")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSpec(Section):
    """A type of document. `count` is how many a history holds first."""

    id: str = field(metadata=KEY)
    use: Use
    kind: str
    title: str
    authors: Annotated[Texts, Least(1)]
    count: Bounds = (0, 0)
    sentences: Annotated[Texts, Least(2)]

    def __post_init__(self) -> None:
        Section.__post_init__(self)
        check_length("sentences", self.sentences, 2 if self.use in SINGLE_USES else 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class PointSpec(Section):
    """A reasoning point that correspondence settles: a request, a reply, what it entails."""

    id: str
    slots: Annotated[Mapping[str, Texts], Least(2)]
    requests: Annotated[Texts, Least(1)]
    replies: Annotated[Texts, Least(2)]
    text: str
    requires: Annotated[tuple[Texts, ...], Least(1)]
    forbids: Texts = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSpec(Section):
    """An item of the notice's checklist.

    rests_on : facts on one of which a rule that gave the decision must rest for the item to apply;
        an item without any applies always.
    """

    id: str = field(metadata=KEY)
    text: str
    citation: str
    requires: tuple[Texts, ...] = ()
    forbids: Texts = ()
    axis: str = "crr"
    rests_on: Texts = ()

    def __post_init__(self) -> None:
        Section.__post_init__(self)
        for pattern in self.forbids:
            if re.search(PLACEHOLDER, re.sub(LOOKAHEAD, "", pattern)):
                raise ValueError("forbids: a placeholder stands as (?!{fact:KEY})")

    @property
    def item(self) -> ChecklistItem:
        """The item as judges get it, before it is filled in from the case."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "rests_on"}
        return ChecklistItem(**own)


@dataclass(frozen=True, slots=True, kw_only=True)
class FavorableSpec(Section):
    """How a decision that calls for no notice is told, in patterns.

    of : what it is of, as the subject or the object; objects : more that are objects alone.
    unless : what says nearby that it is another decision.
    """

    verbs: Annotated[Texts, Least(1)]
    past: Annotated[Texts, Least(1)]
    of: Annotated[Texts, Least(1)]
    objects: Texts = ()
    unless: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandardSpec(Section):
    """The notice standard; `{each_reason}` and the like are filled in from the case.

    favorable : what `{other_action}` is made of. prohibited, people : what `{prohibited_basis}` is:
        bases that the decision may not have, and whose age is one, in patterns.
    """

    name: str
    question: str
    items: Mapping[str, ItemSpec]
    favorable: FavorableSpec | None = None
    prohibited: Texts = ()
    people: Texts = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar(Section):
    """The first and the last day of intake."""

    first: date
    last: date

    def __post_init__(self) -> None:
        if self.first > self.last:
            raise ValueError("first: it is after last")


@dataclass(frozen=True, kw_only=True)
class Spec(Section):
    """Everything about a domain. Equal by digest.

    notice : the form of a notice that meets the standard, with placeholders.
    particulars : what a writer of the notice can't know without being told: who writes, where.
    reference_groups : by protected attribute, the value that others are compared with; the first
        listed, unless the file names it.
    """

    file: str
    digest: str
    name: str
    decisions: Annotated[Texts, Least(2)]
    default: str
    verbs: Mapping[str, str]
    adverse: Texts = ()
    labels: Mapping[str, float]
    instruction: str
    query: str
    amounts: Mapping[str, str] = field(default_factory=dict)
    tolerance: float = 0.0
    notice: str = ""
    particulars: Texts = ()
    calendar: Calendar
    facts: Mapping[str, Fact]
    rules: Annotated[tuple[RuleSpec, ...], Least(1)]
    policy: PolicySpec
    wording: Wording
    documents: Mapping[str, DocumentSpec]
    references: Annotated[Texts, Least(1)]
    enclosures: Annotated[Texts, Least(1)]
    replacements: Annotated[Texts, Least(1)]
    points: tuple[PointSpec, ...]
    protected: Annotated[Mapping[str, Texts], Least(2)] = field(default_factory=dict)
    reference_groups: Mapping[str, str] = field(default_factory=dict)
    standard: StandardSpec
    slots: Annotated[Mapping[str, Texts | Range], Least(1)] = field(default_factory=dict)
    cast: Annotated[Mapping[str, Texts | Range], Least(1)] = field(default_factory=dict)

    @cached_property
    def grammar(self) -> Grammar:
        """The slots of its sentences."""
        return Grammar(slots=self.slots, cast=self.cast)

    @property
    def outcomes(self) -> tuple[str, ...]:
        """The decisions, and that none is taken."""
        return (*self.decisions, ABSTAIN)

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
