"""Typed values in text: money, percentages, dates, counts, scores, identifiers, provisions.

A value is found whole or not at all: `$8,500` is found neither inside `$18,500` nor inside
`$8,500.25`, and `9` not inside `Exclusion 9` or `1002.9`. Values of one type are equal when their
canonical forms are: `$147,500`, `147,500 dollars` and `USD 147,500.00` are one value.

Forms found: money `$147,500`, `-$20`, `$147.5k`, `$1.2 million`, `147,500 dollars`, `USD 147,500`;
percent `33.4%`, `33.4 percent`; date `2026-03-12`, `March 12, 2026`, `12 March 2026`, `03/12/2026`
(month first); count `14 days`, `26-month`; score, the type of every other number, `779`; identifier
`POL-716597`; provision `UP-2`, `Exclusion 9`, `Condition 4.1`, `12 CFR 1002.9(b)(2)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Final

TYPES: Final = frozenset(
    {"money", "percent", "date", "score", "count", "identifier", "provision", "category"}
)
"""The types of `FactField.type`. The empty type is prose: compared as a category is."""

_CACHED_TEXTS: Final = 1 << 12


@dataclass(frozen=True, slots=True)
class Value:
    """A value in a text, which holds it as ``text`` at ``[start, end)``.

    canonical : a decimal number without exponent or trailing zeros (money in dollars, percent in
        percent points, score, count), an ISO 8601 date, upper-case text (identifier, provision) or
        casefolded text (category).
    unit : of a count, in lower case and the singular; empty when the text names none.
    """

    type: str
    canonical: str
    text: str
    start: int
    end: int
    unit: str = ""


_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_UNIT_NAMES: Final = """
    account application case claim collection condition course day delinquency dependent dose
    employee episode event failure failed_trial foot hour incident inquiry installment item
    late_payment loss mile minute mg milligram missed_payment month occurrence occupant payment
    person point procedure report session story therapy time trade_line tradeline treatment trial
    unit visit week year
"""
_UNITS: Final = tuple(name.replace("_", " ") for name in _UNIT_NAMES.split())
_IRREGULAR: Final = {"feet": "foot", "people": "person", "persons": "person"}
_PROVISION: Final = (
    "(?:Article|Clause|Condition|Coverage|Criterion|Endorsement|Exclusion|Guideline|Limitation|"
    "Paragraph|Provision|Rule|Section)"
)
_SCALES: Final = {"k": 1_000, "m": 1_000_000, "thousand": 1_000, "million": 1_000_000}
_SCALES["billion"] = 1_000_000_000


def _plural(unit: str) -> str:
    if unit.endswith("y") and unit[-2] not in "aeiou":
        return f"{unit[:-1]}ies"
    return unit + ("es" if unit.endswith("s") else "s")


_SINGULARS: Final = {**_IRREGULAR, **{_plural(unit): unit for unit in _UNITS}}
_NUMBER: Final = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?"
_MONTH: Final = "(?:" + "|".join(f"{m[:3]}(?:{m[3:]})?" for m in _MONTHS) + r")\.?"
_ORDINAL: Final = "(?:st|nd|rd|th)?"
_UNIT: Final = "|".join(
    re.escape(unit) for unit in sorted({*_UNITS, *_SINGULARS}, key=len, reverse=True)
)
_S: Final = r"[\x20\t\u00a0]"
# No value ends where a digit group, a fraction, a word or a percent sign goes on.
_END: Final = r"(?![\w%]|[.,:/]\d)"
_SCALE: Final = rf"(?:{_S}?(?:thousand|million|billion)|[km])?"
_WORD_SCALE: Final = rf"(?:{_S}(?:thousand|million|billion))?"

# At one place the first alternative that fits wins, so the longer form of a start stands first.
_VALUE: Final = re.compile(
    rf"""
    (?<![\w$.,]) -?\${_S}?(?P<dollars>{_NUMBER})(?P<dollars_scale>{_SCALE}){_END}
  | (?<![\w$.,/-])(?<!\d:)
    (?:
      (?P<iso>\d{{4}}-\d\d-\d\d)(?![\w-])
    | (?P<slashed>\d{{1,2}}/\d{{1,2}}/\d{{4}})(?![\w/-])
    | (?P<day_first>\d{{1,2}}{_ORDINAL}{_S}+{_MONTH},?{_S}+\d{{4}})(?!\w)
    | (?P<regulation>\d+{_S}CFR{_S}(?:part{_S})?\d+(?:\.\d+)?(?:\(\w{{1,3}}\))*)(?![\w-]|\.\d)
    | (?P<number>-?{_NUMBER})
      (?:
        {_S}?(?P<percent>%|per{_S}?cent\b)(?!\w)
      | (?P<word_scale>{_WORD_SCALE})
        (?:
          {_S}(?P<named>dollars?|USD)\b
        | (?:{_S}|-)(?:(?:business|calendar|consecutive|full|working){_S})?(?P<unit>{_UNIT})\b
        | {_END}(?!-\w)
        )
      )
    )
  | (?<![\w-])
    (?:
      (?:USD|US\$){_S}?(?P<usd>{_NUMBER})(?P<usd_scale>{_SCALE}){_END}
    | (?P<month_first>{_MONTH}{_S}+\d{{1,2}}{_ORDINAL},?{_S}+\d{{4}})(?!\w)
    | (?P<provision>(?-i:{_PROVISION}){_S}+(?:[A-Z]-?)?\d+[a-z]?(?:\.\d+)*(?:\(\w{{1,3}}\))*)
      (?![\w-]|\.\d)
    | (?P<code>(?-i:(?=[A-Z0-9-]*\d)[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*
      | \d+-(?=[A-Z0-9-]*[A-Z])[A-Z0-9]+(?:-[A-Z0-9]+)*))(?![\w-]|\.\d)
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_MONTH_NUMBERS: Final = {month[:3]: i for i, month in enumerate(_MONTHS, start=1)}
_PROVISION_CODE: Final = re.compile(r"[A-Z]{1,4}-\d{1,3}\Z")
_DATE_PARTS: Final = re.compile(r"\d+|[A-Za-z]{3,}")
_FOLLOWING_WORDS: Final = re.compile(r"(?:[ -]+([a-z]+))+[\s.]*\Z", re.IGNORECASE)
_SPACES: Final = re.compile(r"\s+")
_NUMERIC: Final = frozenset({"money", "percent", "score", "count"})
_NO_DIGIT: Final = re.compile(r"\D*\Z")


@lru_cache(maxsize=_CACHED_TEXTS)
def find_values(text: str) -> tuple[Value, ...]:
    """Every value in `text`, in order, none overlapping another. Categories are not found.

    An upper-case code counts as a provision when it is short (`UP-2`), else as an identifier: the
    text alone can't tell them apart, and `contains` treats them alike.

    >>> [(v.type, v.canonical) for v in find_values("Paid $8,500.25 on March 12, 2026.")]
    [('money', '8500.25'), ('date', '2026-03-12')]
    """
    if _NO_DIGIT.match(text):
        return ()
    found = (_value_of(match) for match in _VALUE.finditer(text))
    return tuple(value for value in found if value is not None)


def parse_value(text: str, type: str) -> Value | None:
    """The one value of `type` that `text` states, or None when it states none or several.

    The type is known here, so money and percent need no sign and a count no unit: an answer form's
    `147500` is money where money is asked for. An identifier or provision without a code, and a
    category, is the whole text.

    Raises ValueError for an unknown type.
    """
    if type not in TYPES and type:
        raise ValueError(f"value type {type!r}: not one of {', '.join(sorted(TYPES))}")
    if type in _NUMERIC or type == "date":
        stated = [value for value in find_values(text) if value.type == type]
        if not stated and type in _NUMERIC:
            stated = [value for value in find_values(text) if _readable_as(value, type)]
        distinct = {(value.canonical, value.unit) for value in stated}
        if len(distinct) != 1:
            return None
        value = _with_type(stated[0], type)
        return _with_open_unit(value, text) if type == "count" and not value.unit else value
    if type in ("identifier", "provision"):
        codes = [v for v in find_values(text) if v.type in ("identifier", "provision")]
        if len({code.canonical for code in codes}) > 1:
            return None
        if codes:
            return _with_type(codes[0], type)
    stripped = text.strip(" \t\r\n\"'.;:,")
    if not stripped:
        return None
    plain = _SPACES.sub(" ", stripped)
    form = plain.upper() if type in ("identifier", "provision") else plain.casefold()
    start = text.index(stripped)
    return Value(type, form, stripped, start, start + len(stripped))


def canonical(text: str, type: str) -> str | None:
    """The canonical form of the one value of `type` in `text`; None as `parse_value` has it."""
    value = parse_value(text, type)
    return None if value is None else value.canonical


def same_value(claim: str, gold: str, type: str) -> bool:
    """Whether two texts state the same value of `type`. Units differ only where both are named."""
    a, b = parse_value(claim, type), parse_value(gold, type)
    if a is None or b is None or a.canonical != b.canonical:
        return False
    return a.unit == b.unit or not a.unit or not b.unit


def contains(text: str, anchor: str, type: str) -> bool:
    """Whether `text` states the value `anchor` of `type`, in any of the type's forms, whole.

    Stricter than `parse_value`: in running text money needs its sign. A count's anchor is also
    matched by a bare number (`Visits: 3` states `3 visits`), never by another unit. Identifiers,
    provisions, categories and prose are matched as words, upper and lower case alike.
    """
    return next(occurrences(text, anchor, type), None) is not None


def occurrences(text: str, anchor: str, type: str) -> Iterator[tuple[int, int]]:
    """The places `[start, end)` where `text` states `anchor`, in order; see `contains`."""
    if type not in _NUMERIC and type != "date":
        yield from (match.span() for match in _phrase(anchor).finditer(text))
        return
    wanted = parse_value(anchor, type)
    if wanted is not None:
        for value in find_values(text):
            if _states(value, wanted):
                yield value.start, value.end


def _states(value: Value, wanted: Value) -> bool:
    if value.canonical != wanted.canonical:
        return False
    if wanted.type == "count":
        return value.type == "score" or (
            value.type == "count" and (value.unit == wanted.unit or not wanted.unit)
        )
    if wanted.type == "score":
        return value.type == "score" or (value.type == "count" and value.unit == "point")
    return value.type == wanted.type


def _readable_as(value: Value, type: str) -> bool:
    return value.type == "score" or (type == "score" and value.unit == "point")


def _with_type(value: Value, type: str) -> Value:
    if value.type == type:
        return value
    return Value(type, value.canonical, value.text, value.start, value.end, value.unit)


def _with_open_unit(value: Value, text: str) -> Value:
    """A count in a unit that is none of the usual ones: the last of the words that follow."""
    words = _FOLLOWING_WORDS.match(text, value.end)
    if words is None:
        return value
    unit = words[1].lower()
    unit = unit[:-1] if unit.endswith("s") and len(unit) > 3 else unit
    return Value("count", value.canonical, value.text, value.start, value.end, unit)


@lru_cache(maxsize=_CACHED_TEXTS)
def _phrase(phrase: str) -> re.Pattern[str]:
    """`phrase` as whole words, any white space between them, any case."""
    words = r"\s+".join(map(re.escape, phrase.split()))
    if not words:
        return re.compile(r"(?!)")
    left = r"(?<![\w-])" if phrase.strip()[0].isalnum() else ""
    right = r"(?![\w-]|\.\d)" if phrase.strip()[-1].isalnum() else ""
    return re.compile(left + words + right, re.IGNORECASE)


def _value_of(match: re.Match[str]) -> Value | None:
    """The value of one match of `_VALUE`; None for a date that does not exist."""
    kind = match.lastgroup or ""
    text, start, end = match.group(), match.start(), match.end()
    groups = match.groupdict()
    if groups["number"] is not None:
        number = _decimal(groups["number"], (groups["word_scale"] or "").strip())
        if groups["percent"]:
            return Value("percent", number, text, start, end)
        if groups["named"]:
            return Value("money", number, text, start, end)
        if groups["unit"]:
            return Value("count", number, text, start, end, _singular(groups["unit"]))
        return Value("score", number, text, start, end)
    for form in ("dollars", "usd"):
        if groups[form] is not None:
            sign = "-" if text.startswith("-") else ""
            number = _decimal(sign + groups[form], (groups[f"{form}_scale"] or "").strip())
            return Value("money", number, text, start, end)
    if kind in ("iso", "slashed", "day_first", "month_first"):
        day = _date(text, kind)
        return None if day is None else Value("date", day, text, start, end)
    upper = _SPACES.sub(" ", text).upper()
    short = kind != "code" or _PROVISION_CODE.match(upper)
    return Value("provision" if short else "identifier", upper, text, start, end)


def _decimal(digits: str, scale: str) -> str:
    number = Decimal(digits.replace(",", "")) * _SCALES.get(scale.lower(), 1)
    text = format(number, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _date(text: str, form: str) -> str | None:
    parts = _DATE_PARTS.findall(text)
    words = [part for part in parts if part.isalpha() and part.lower()[:3] in _MONTH_NUMBERS]
    numbers = [int(part) for part in parts if part.isdigit()]
    if form == "iso":
        year, month, day = numbers
    elif form == "slashed":
        month, day, year = numbers
    else:
        month, (day, year) = _MONTH_NUMBERS[words[0].lower()[:3]], numbers
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None


def _singular(unit: str) -> str:
    unit = unit.lower()
    return _SINGULARS.get(unit, unit)
