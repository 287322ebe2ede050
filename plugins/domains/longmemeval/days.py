"""How drawn speakers tell a day: relative to the one on which they speak."""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Final

_WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_LONG: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTH_NAMES: Final = (
    "January February March April May June July August September October November December"
)
_MONTHS: Final = _MONTH_NAMES.split()


def stamp(day: date, minute: int) -> str:
    """A session's date as the benchmark writes it: `2023/05/29 (Mon) 01:53`."""
    clock = f"{minute // 60:02d}:{minute % 60:02d}"
    return f"{day:%Y/%m/%d} ({_WEEKDAYS[day.weekday()]}) {clock}"


def written(day: date) -> str:
    """A day in full: `March 3, 2023`."""
    return f"{_MONTHS[day.month - 1]} {day.day}, {day.year}"


def spoken(day: date, said_on: date, rng: random.Random) -> str:
    """One of the ways to tell a day that is not after the one of speaking."""
    ago = (said_on - day).days
    ways = [f"on {written(day)}"]
    if ago == 0:
        ways = ["today", "this morning"]
    elif ago == 1:
        ways = ["yesterday"]
    elif ago % 7 == 0 and ago <= 8 * 7:
        ways.append("a week ago" if ago == 7 else f"{ago // 7} weeks ago")
    elif ago < 14:
        ways.append(f"{ago} days ago")
    if 1 < ago <= 7 and day + timedelta(days=7) >= said_on:
        ways.append(f"last {_LONG[day.weekday()]}")
    return rng.choice(ways)
