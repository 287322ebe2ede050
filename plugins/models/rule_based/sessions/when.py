"""Dates that are told relative to another: `last Saturday`, `three weeks ago`, `in March`."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Final

from framework.text.values import find_values

_DAY: Final = timedelta(days=1)
_WEEKDAY_NAMES: Final = "monday tuesday wednesday thursday friday saturday sunday"
_WEEKDAYS: Final = _WEEKDAY_NAMES.split()
_MONTH_NAMES: Final = (
    "january february march april may june july august september october november december"
)
_MONTHS: Final = _MONTH_NAMES.split()
_NUMBER_WORDS: Final = "zero one two three four five six seven eight nine ten eleven twelve"
_NUMBERS: Final = {word: number for number, word in enumerate(_NUMBER_WORDS.split())} | {
    "a": 1,
    "an": 1,
    "a couple of": 2,
    "couple of": 2,
}
_NUMBER: Final = r"(?P<{}>\d+|" + "|".join(sorted(_NUMBERS, key=len, reverse=True)) + ")"
_PHRASE: Final = re.compile(
    r"\b(?:(?P<today>today|this morning|this afternoon|this evening|tonight|just now)"
    r"|(?P<yesterday>yesterday|last night)"
    r"|" + _NUMBER.format("n") + r" (?P<unit>day|week|month|year)s? ago"
    r"|(?:last|this past|the past|past) (?P<weekday>" + "|".join(_WEEKDAYS) + r")"
    r"|(?:last|this past|the past|past) (?P<span>weekend|week|month|year)"
    r"|(?:on )?(?P<month>" + "|".join(_MONTHS) + r") (?P<day>\d{1,2})(?:st|nd|rd|th)?\b(?!,? \d{4})"
    r"|(?:in|during|back in) (?P<whole>" + "|".join(_MONTHS) + r")\b)",
    re.IGNORECASE,
)
_WINDOW: Final = re.compile(
    r"\b(?:last|past|previous|this past) (?:" + _NUMBER.format("n") + r" )?"
    r"(?P<unit>day|week|month|year)s?\b",
    re.IGNORECASE,
)


def resolve(text: str, anchor: date) -> date | None:
    """The date that a sentence gives to what it tells, said on `anchor`; None when it gives none.

    A full date counts before a relative one. A month alone is its first day; a day or month without
    a year is the last one before the anchor.
    """
    for value in find_values(text):
        if value.type == "date":
            return date.fromisoformat(value.canonical)
    found = _PHRASE.search(text)
    return _date_of(found, anchor) if found else None


def phrase(text: str) -> str:
    """The words by which a sentence tells the time: a date, a relative phrase; empty without."""
    for value in find_values(text):
        if value.type == "date":
            return value.text
    found = _PHRASE.search(text)
    return found.group() if found else ""


def _date_of(found: re.Match[str], anchor: date) -> date | None:
    if found["today"]:
        return anchor
    if found["yesterday"]:
        return anchor - _DAY
    if found["unit"]:
        return _back(anchor, _number(found["n"]), found["unit"].lower())
    if found["weekday"]:
        return _last_weekday(anchor, _WEEKDAYS.index(found["weekday"].lower()))
    if found["span"]:
        if found["span"].lower() == "weekend":
            return _last_weekday(anchor, 5)
        return _back(anchor, 1, found["span"].lower())
    month = _MONTHS.index((found["month"] or found["whole"]).lower()) + 1
    try:
        day = date(anchor.year, month, int(found["day"] or 1))
        return day if day <= anchor else day.replace(year=day.year - 1)
    except ValueError:
        return None


def window(question: str, asked_on: date) -> tuple[date, date] | None:
    """First and last day of the time that a question names; None when it names none."""
    found = _WINDOW.search(question)
    if found is not None:
        first = _back(asked_on, _number(found["n"]) if found["n"] else 1, found["unit"].lower())
        return (first, asked_on)
    named = _PHRASE.search(question)
    if named is None:
        return None
    first_day = _date_of(named, asked_on)
    if first_day is None:
        return None
    if named["span"] and named["span"].lower() == "weekend":
        return (first_day, first_day + _DAY)
    if named["whole"]:
        return (first_day, month_shift(first_day, 1) - _DAY)
    return (first_day, first_day)


def elapsed(first: date, last: date, unit: str) -> int:
    """Whole units (`day`, `week`, `month`, `year`) between two dates, in whatever order."""
    first, last = min(first, last), max(first, last)
    if unit in ("day", "week"):
        return (last - first).days // (7 if unit == "week" else 1)
    months = (last.year - first.year) * 12 + last.month - first.month - (last.day < first.day)
    return months // (12 if unit == "year" else 1)


def month_shift(day: date, months: int) -> date:
    """The same day of another month, or that month's last day when it has no such day."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    for last in (day.day, 30, 29, 28):
        try:
            return date(year, month + 1, min(day.day, last))
        except ValueError:
            continue
    raise AssertionError("every month has 28 days")


def _back(anchor: date, number: int, unit: str) -> date:
    if unit in ("day", "week"):
        return anchor - number * (7 if unit == "week" else 1) * _DAY
    return month_shift(anchor, -number * (12 if unit == "year" else 1))


def _last_weekday(anchor: date, weekday: int) -> date:
    return anchor - ((anchor.weekday() - weekday - 1) % 7 + 1) * _DAY


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _NUMBERS[text.lower()]
