"""Evidence that grows with the length of a history: figures that are kept by entries.

The paper asks for trajectories of tens to hundreds of thousands of tokens (LongHorizon, section 1)
and has one length, 6,690 tokens. Where only filler grows, a long history is a short one with more
to skip. Here every number of the spec that can be corrected is kept as an account is: an opening
figure and entries, each stated once, in a document of its own, which refers to the one before it.
No document states the figure itself, nor what is derived from it, so that a decision that rests on
it rests on all of its entries. Their number follows from the length of the history alone and is the
same for every case; which of the figures decide is told by nothing but the policy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from framework.errors import UserError
from framework.text.canonical import digest
from framework.text.expressions import MAX_LENGTH
from plugins.domains.regulated.policy import Value
from plugins.domains.regulated.spec import NUMERIC, Distribution, Fact, HeldOut, Spec

_LETTERS: Final = "BCDFGHJKLMNPQRSTVWXZ"
_PLACES: Final = 3
_SIZE: Final = (0.2, 1.0)
"""An entry, in least distances of a correction: assumed. Additions and deductions alternate."""
_TOLD: Final = (
    " A figure that is kept by entries is its opening figure with every entry that was added to it"
    " and without every entry that was taken from it, whatever their order."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(Fact):
    """An entry: what was added to a figure, or taken from it. `of` is the figure's key."""

    of: str


def with_chains(spec: Spec, entries: int) -> Spec:
    """`spec` with so many entries, dealt out in turn to its figures; as it is where there are none.

    Its digest says so. Raises UserError for a spec without such a figure, or with so few of them
    that the formula of one would be too long.
    """
    if not entries:
        return spec
    chained = [fact.key for fact in spec.facts.values() if is_figure(fact)]
    if not chained:
        raise UserError(f"domain.entry_every: {spec.name} has no number that can be corrected")
    counts = {
        key: entries // len(chained) + (i < entries % len(chained)) for i, key in enumerate(chained)
    }
    facts: dict[str, Fact] = {}
    number = 0
    for fact in spec.facts.values():
        count = counts.get(fact.key, 0)
        if not count:
            facts[fact.key] = fact
            continue
        parts = _parts(fact, number, count)
        number += count
        for part in parts.values():
            facts[part.key] = part
        facts[fact.key] = _total(fact, parts)
    return replace(
        spec,
        facts=facts,
        instruction=spec.instruction + _TOLD,
        digest=digest([spec.digest, "entries", entries]),
    )


def is_figure(fact: Fact) -> bool:
    """Whether a fact can be kept by entries: a number that is drawn and can be corrected."""
    return fact.type in NUMERIC and not fact.formula and fact.revision is not None


def chains_of(spec: Spec) -> dict[str, tuple[str, ...]]:
    """By the key of a figure, its entries in order."""
    found: dict[str, tuple[str, ...]] = {}
    for fact in spec.facts.values():
        if isinstance(fact, Entry):
            found[fact.of] = (*found.get(fact.of, ()), fact.key)
    return found


def rests_on_entries(spec: Spec, key: str) -> bool:
    """Whether a derived fact is computed from entries."""
    return any(isinstance(spec.facts[base], Entry) for base in spec.bases(key) - {key})


def is_figure_itself(spec: Spec, facts: Mapping[str, Value], key: str, value: Value) -> bool:
    """Whether `value` of an opening figure is what the figure is: it would be right by chance."""
    return any(facts[figure] == value for figure in chains_of(spec) if opening_of(figure) == key)


def opening_of(key: str) -> str:
    """The key of a figure's opening figure."""
    return f"{key}_opening"


def _parts(fact: Fact, number: int, count: int) -> Mapping[str, Fact]:
    """By sign and key, in the order of the formula: the opening figure, then the entries."""
    held_out = fact.held_out
    opening = replace(
        fact,
        key=opening_of(fact.key),
        label=f"opening {fact.label}",
        aliases=tuple(f"opening {alias}" for alias in fact.aliases),
        held_out=HeldOut(
            noun=f"opening {held_out.noun}",
            bindings=held_out.bindings,
            forms=tuple(f"Before any entry: {form}" for form in held_out.forms),
        ),
    )
    parts = {f"+ {opening.key}": opening}
    for n in range(count):
        code = _code(number + n)
        added = n % 2 == 0
        parts[f"{'+' if added else '-'} e{code.lower()}"] = _entry(fact, code, added=added)
    return parts


def _entry(fact: Fact, code: str, *, added: bool) -> Entry:
    noun = f"entry {code} on {fact.held_out.noun}"
    verb, went, more = ("adds", "added", "more") if added else ("takes off", "taken off", "less")
    assert fact.revision is not None
    least = fact.revision[0]
    low, high = (round(max(1, round(share * least / fact.step)) * fact.step, 6) for share in _SIZE)
    by_share = fact.revision_by == "share"
    return Entry(
        key=f"e{code.lower()}",
        label=f"entry {code} {'added to' if added else 'taken from'} {fact.label}",
        type=fact.type,
        unit=fact.unit,
        decimals=fact.decimals,
        step=fact.step,
        distribution=Distribution(
            kind="share",
            of=opening_of(fact.key),
            between=(_SIZE[0] * least, _SIZE[1] * least),
            source="assumed",
        )
        if by_share
        else Distribution(kind="uniform", source="assumed"),
        range=(fact.step, fact.range[1]) if by_share else (low, high),
        admissible=(fact.step, fact.range[1]) if by_share else (low, high),
        documents=fact.documents,
        held_out=HeldOut(
            noun=noun,
            bindings=(noun,),
            forms=(
                f"{noun[:1].upper()}{noun[1:]} {verb} {{value}}.",
                f"By {noun}, {{value}} was {went}.",
                f"There is {noun}: {{value}} {more}.",
                f"As {noun} has it, {{value}} is {went}.",
            ),
        ),
        of=fact.key,
    )


def _total(fact: Fact, parts: Mapping[str, Fact]) -> Fact:
    """The figure itself, computed from its parts, to its own decimals."""
    formula = " ".join(parts).removeprefix("+ ")
    if fact.decimals:
        scale = 10**fact.decimals
        formula = f"round({scale} * ({formula})) / {scale}"
    if len(formula) > MAX_LENGTH:
        raise UserError(
            f"domain.entry_every: {len(parts) - 1} entries of {fact.key} are too many for one "
            "formula; give more tokens for each"
        )
    return replace(fact, formula=formula, distribution=None, revision=None)


def _code(number: int) -> str:
    """Letters that are no word and no number: a figure in a text is then never an entry's name."""
    found = ""
    for _ in range(_PLACES):
        number, place = divmod(number, len(_LETTERS))
        found = _LETTERS[place] + found
    return found
