"""Dated sessions of a conversation as text: a turn begins with `2023/05/29 (Mon) 01:53 | user`."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

HEADER: Final = re.compile(
    r"^(?P<stamp>\d{4}[/-]\d\d[/-]\d\d(?: \(\w{3}\))?(?: \d\d:\d\d)?) \| (?P<role>user|assistant)$",
    re.MULTILINE,
)
"""The line that begins a turn: the stamp of its session and the speaker."""
_DATE: Final = re.compile(r"(\d{4})[/-](\d\d)[/-](\d\d)")


def header(stamp: str, role: str) -> str:
    """The line that begins a turn, as `HEADER` reads it."""
    return f"{stamp} | {role}"


def date_of(stamp: str) -> date | None:
    """The date in a session's stamp; None when there is none."""
    found = _DATE.search(stamp)
    try:
        return date(*map(int, found.groups())) if found else None
    except ValueError:
        return None
