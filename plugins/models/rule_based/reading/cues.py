"""General English that tells whether a value holds, corrects another, or belongs to the past."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from framework.text.values import Value

_DOCUMENT: Final = (
    r"(?:draft|document|entry|figure|filing|form|letter|paper|paperwork|record|report|statement|"
    r"value|version|amount)"
)
_PAST: Final = re.compile(
    rf"\b(?:formerly|previously|originally|initially|former|superseded|outdated|obsolete|"
    rf"no longer|used to|had been|at one time|in the past|(?:earlier|prior) {_DOCUMENT}s?)\b",
    re.IGNORECASE,
)
_INSTEAD: Final = re.compile(
    r"\b(?:not|instead of|rather than|in place of|replac(?:es|ing)|in lieu of|from)"
    r"\s+(?:the\s+)?\Z",
    re.IGNORECASE,
)
_WITHDRAWN: Final = re.compile(
    r"\s*(?:is|was|are|were|has been)\s+(?:hereby\s+)?"
    r"(?:withdrawn|superseded|retired|replaced|obsolete|wrong|incorrect|no longer)\b",
    re.IGNORECASE,
)
_CORRECTS: Final = re.compile(
    r"(?<!\bno )\bcorrection\b|\b(?:corrected|corrects|restated|restates|revised to|amended to)\b",
    re.IGNORECASE,
)
_CORRECTION_DATE: Final = re.compile(
    r"\bcorrection\b[^.;:]{0,30}?\b(?:dated|of|on)\s*\Z", re.IGNORECASE
)
_RESCINDS: Final = re.compile(
    r"\bcorrection\b[^;:]*\b(?:is|was|are|has been)\s+(?:hereby\s+)?"
    r"(?:rescinded|revoked|withdrawn|cancell?ed|void(?:ed)?|set aside)\b",
    re.IGNORECASE,
)
# Parts of the words above: a cheap test that rules out almost every sentence.
_PARTS: Final = ("correct", "restate", "revised", "amended")


class ValueStatus(NamedTuple):
    """What a sentence does to earlier ones. `dated` is the date of the correction it speaks of."""

    corrects: bool = False
    rescinds: bool = False
    dated: str = ""


_PLAIN: Final = ValueStatus()


def value_status(sentence: str, values: tuple[Value, ...]) -> ValueStatus:
    """Whether a sentence corrects or takes back a correction, and the date of that correction."""
    lowered = sentence.lower()
    if not any(part in lowered for part in _PARTS) or not _CORRECTS.search(sentence):
        return _PLAIN
    rescinds = _RESCINDS.search(sentence) is not None
    dated = next(
        (
            value.canonical
            for value in values
            if value.type == "date" and _CORRECTION_DATE.search(sentence[: value.start])
        ),
        "",
    )
    return ValueStatus(corrects=not rescinds, rescinds=rescinds, dated=dated)


def is_past(before: str, after: str) -> bool:
    """Whether a value between `before` and `after` no longer holds by the sentence's own words."""
    return bool(_PAST.search(before) or _INSTEAD.search(before) or _WITHDRAWN.match(after))
