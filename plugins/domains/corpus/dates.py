"""Dates in any form of ISO 8601."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final

_YEAR: Final = re.compile(r"\d{4}")
_MONTH: Final = re.compile(r"(\d{4})-(\d{2})")
_WEEK: Final = re.compile(r"\d{4}-?W\d{2}")
_ORDINAL: Final = re.compile(r"(\d{4})-?(\d{3})")


def iso_date(text: str) -> str:
    """A date as `2024-03-05`; with a time of day, in UTC, as `2024-03-05T16:20:00+00:00`.

    Read are a calendar, week (`2024-W10-2`) or ordinal (`2024-065`) date, with or without hyphens
    and a time after `T` or a space, and a year, month or week alone, which is its first day. A time
    without a zone counts as UTC; fractions of a second are left out. Raises ValueError.
    """
    given = text.strip()
    if _YEAR.fullmatch(given):
        return date(int(given), 1, 1).isoformat()
    if month := _MONTH.fullmatch(given):
        return date(int(month[1]), int(month[2]), 1).isoformat()
    if _WEEK.fullmatch(given):
        given += "-1" if "-" in given else "1"
    elif day := _ORDINAL.fullmatch(given):
        found = date(int(day[1]), 1, 1) + timedelta(days=int(day[2]) - 1)
        if found.year != int(day[1]):
            raise ValueError(f"year {day[1]} has no day {day[2]}")
        return found.isoformat()
    try:
        return date.fromisoformat(given).isoformat()
    except ValueError:
        moment = datetime.fromisoformat(given.upper())
    try:
        moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except OverflowError:
        raise ValueError("outside the years 1 to 9999") from None
    return moment.isoformat(timespec="seconds")
