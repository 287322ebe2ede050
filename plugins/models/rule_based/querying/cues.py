"""The words by which a question tells what its query does: general English, of no database."""

from __future__ import annotations

import re
from typing import Final

COUNT: Final = re.compile(r"\bhow many\b|\bnumber of\b", re.IGNORECASE)
AGGREGATE: Final = re.compile(
    r"\b(?P<word>average|mean|total|sum of|highest|largest|maximum|lowest|smallest|minimum)\b",
    re.IGNORECASE,
)
FUNCTIONS: Final = {
    "average": "AVG", "mean": "AVG", "total": "SUM", "sum": "SUM", "highest": "MAX",
    "largest": "MAX", "maximum": "MAX", "lowest": "MIN", "smallest": "MIN", "minimum": "MIN",
}  # fmt: skip
GROUP: Final = re.compile(r"\b(?:for each|per|for every)\b", re.IGNORECASE)
MOST: Final = re.compile(r"\bha(?:s|ve) the (?P<word>most|fewest)\b", re.IGNORECASE)
ADJECTIVE: Final = re.compile(
    r"\b(?:(?P<most>most|least) (?P<what>expensive)|(?P<stem>long|short|cheap|new|old)est)\b",
    re.IGNORECASE,
)
MEASURES: Final = {
    "expensive": ("price", "amount", "cost", "total"),
    "cheap": ("price", "amount", "cost", "total"),
    "long": ("pages", "length", "duration", "milliseconds"),
    "short": ("pages", "length", "duration", "milliseconds"),
    "new": ("date", "joined", "published", "opened", "year"),
    "old": ("date", "joined", "published", "opened", "year"),
}
ASCENDING: Final = frozenset({"cheap", "short", "old"})
ENDS: Final = re.compile(r"\b(?P<word>first|last)\?", re.IGNORECASE)
SORTED: Final = re.compile(r"\bsorted by\b|\band then by\b", re.IGNORECASE)
DESCENDING: Final = re.compile(r"^\W*in descending order", re.IGNORECASE)
COMPARED: Final = re.compile(
    r"\b(?P<how>more than|over|above|at least|less than|fewer than|under|below|at most|after|before"
    r"|since|in) (?P<number>\d+(?:\.\d+)?)\b",
    re.IGNORECASE,
)
OPERATORS: Final = {
    "more than": ">", "over": ">", "above": ">", "after": ">", "at least": ">=", "since": ">=",
    "less than": "<", "fewer than": "<", "under": "<", "below": "<", "before": "<", "at most": "<=",
    "in": "=",
}  # fmt: skip
WITHOUT: Final = re.compile(r"\b(?:never|without|ha(?:s|ve) no)\b", re.IGNORECASE)
HEAD_END: Final = re.compile(
    r"\b(?:of|in|with|for|by|at|sorted|from|who|never|have|has|are|were|was|cost)\b", re.IGNORECASE
)
NUMBER: Final = re.compile(r"\b(\d{1,2})\b")
CANCELLED: Final = "cancelled"
