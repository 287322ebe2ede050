"""From dated claims to what is known of each field: one value, a conflict of several, or nothing.

The rule is the public one: a correction replaces every figure of an earlier or the same date,
whatever the order of arrival; of two corrections the later-dated holds; a rescinded correction
counts no more; two figures that neither corrects are in conflict; a value said to be past is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from framework.records import FactField
from framework.text.expressions import evaluate, names
from framework.text.values import Value
from plugins.models.rule_based.reading.claims import Claim
from plugins.models.rule_based.reading.quantities import Quantity, quantity_of, value_from

_PLACES: Final = 6


@dataclass(frozen=True, slots=True)
class _Known:
    values: tuple[Value, ...]
    date: str = ""
    corrected: bool = False


_NOTHING: Final = _Known(())


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known by key. `fields` are those of the form, for formulas."""

    known: Mapping[str, _Known]
    fields: Mapping[str, FactField]
    _derived: dict[str, Value | None] = field(default_factory=dict)

    def stated(self, key: str) -> tuple[Value, ...]:
        """Admissible values as stated: one, several that conflict, or none.

        A stated figure older than a correction of what it is derived from counts as not stated.
        """
        known = self.known.get(key, _NOTHING)
        if known.values and not known.corrected and self._is_stale(key, known.date):
            return ()
        return known.values

    def value(self, key: str) -> Value | None:
        """The one value of a field, stated or derived; None when unknown or in conflict."""
        stated = self.stated(key)
        if stated:
            return stated[0] if len(stated) == 1 else None
        if key not in self._derived:
            self._derived[key] = None  # also ends a formula that leads back to itself
            self._derived[key] = self._derive(key)
        return self._derived[key]

    def inputs(self, key: str) -> tuple[str, ...]:
        """The fields that the formula of `key` reads, in a fixed order; none when it has none."""
        form = self.fields.get(key)
        return tuple(sorted(names(form.formula))) if form and form.formula else ()

    def compute(self, key: str, values: Mapping[str, Quantity]) -> Quantity | None:
        """The formula of `key` over `values`; None when they do not give it a number."""
        numbers = {k: v for k, v in values.items() if not isinstance(v, str)}
        try:
            return round(evaluate(self.fields[key].formula, numbers), _PLACES)
        except ValueError:
            return None

    def _derive(self, key: str) -> Value | None:
        inputs = {name: self.value(name) for name in self.inputs(key)}
        known = {name: quantity_of(value) for name, value in inputs.items() if value is not None}
        if not inputs or len(known) < len(inputs):
            return None
        number = self.compute(key, known)
        if not isinstance(number, float):
            return None
        days = any(isinstance(quantity, date) for quantity in known.values())
        type_ = self.fields[key].type
        return value_from(number, type_, "day" if days and type_ == "count" else "")

    def _is_stale(self, key: str, stated_on: str) -> bool:
        return any(
            source.corrected and stated_on and source.date > stated_on
            for source in (self.known.get(name, _NOTHING) for name in self.inputs(key))
        )


def facts_of(claims: Iterable[tuple[Claim, str]], fields: Mapping[str, FactField]) -> Facts:
    """What dated claims make known. Raises ValueError for a formula that is not arithmetic."""
    by_key: dict[str, list[tuple[Claim, str]]] = {}
    for claim, governing in claims:
        by_key.setdefault(claim.key, []).append((claim, governing))
    return Facts(known={key: _resolve(found) for key, found in by_key.items()}, fields=fields)


@dataclass(frozen=True, slots=True)
class _Figure:
    value: Value
    date: str
    withdraws: tuple[str, ...] = ()


def _resolve(claims: Sequence[tuple[Claim, str]]) -> _Known:
    """What holds of one field. See the module's docstring for the rule."""
    rescinded = [claim for claim, _ in claims if claim.status == "rescinded"]
    corrections: list[_Figure] = []
    plain: list[_Figure] = []
    for claim, governing in claims:
        if claim.value is None:
            continue
        if claim.status == "current":
            plain.append(_Figure(claim.value, governing))
        elif claim.status == "standing":
            corrections.append(_Figure(claim.value, governing or claim.dated))
        elif claim.status == "correction":
            when = claim.dated or governing
            # A rescission or a correction without a date is taken to mean the other.
            if not any(not when or taken_back.dated in ("", when) for taken_back in rescinded):
                corrections.append(_Figure(claim.value, when, claim.withdraws))
    if corrections:
        return _corrected(corrections, plain)
    past = {c.value.canonical for c, _ in claims if c.status == "retired" and c.value}
    kept = [figure for figure in plain if figure.value.canonical not in past]
    return _Known(_distinct(kept), max((figure.date for figure in kept), default=""))


def _corrected(corrections: Sequence[_Figure], plain: Sequence[_Figure]) -> _Known:
    latest = max(figure.date for figure in corrections)
    held = [figure for figure in corrections if figure.date in ("", latest)]
    # Where no date orders two corrections, the one that names the other's value came after it.
    named = {old for figure in held for old in figure.withdraws if old != figure.value.canonical}
    held = [figure for figure in held if figure.value.canonical not in named] or held
    later = [figure for figure in plain if latest and figure.date > latest]
    return _Known(_distinct([*held, *later]), latest, corrected=True)


def _distinct(figures: Iterable[_Figure]) -> tuple[Value, ...]:
    return tuple({figure.value.canonical: figure.value for figure in figures}.values())
