"""Whether a sentence states a value as current, or as one that no longer holds."""

from __future__ import annotations

import re
from typing import Final

from framework.text.values import find_values

# Within one sentence values may differ in standing: "the L is V, not OLD".
_CLAUSE_END: Final = re.compile(
    r"[;(),](?!\d)|\s-+\s|\.\s|\b(?:but|while|whereas)\b", re.IGNORECASE
)
_RETIRED_BEFORE: Final = re.compile(
    r"""\b(?:
        formerly | previously | originally | initially | earlier | no\ longer | used\ to\ be
      | had\ been | outdated | obsolete | superseded | withdrawn | retired | rescinded
      | instead\ of | rather\ than | in\ place\ of
      | replac(?:es|ing) | supersed(?:es|ing) | replaced(?!\ (?:by|with))
      | (?:corrected|revised|changed|restated|amended|updated)\ from
    )\b
    | \bnot\ +(?:(?:the|a|an|of|at|figure|value|amount)\ +)*\Z
    | \A\s*was\s*\Z""",
    re.VERBOSE | re.IGNORECASE,
)
_RETIRED_AFTER: Final = re.compile(
    r"""\b(?:
        (?:is|was|are|were|been|being|stands)\ (?:now\ |hereby\ )*(?:withdrawn|rescinded|superseded
          |retired|replaced|obsolete|outdated|void|struck|incorrect|wrong|in\ error|no\ longer
          |not\ (?:current|correct|valid|in\ force))
      | no\ longer
      | (?:replaced|superseded)\ (?:by|with)
      | (?:corrected|revised|changed|restated|amended|updated)\ to
      | does\ not\ stand
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_BOUND: Final = re.compile(
    r"\b(?:above|below|over|under|exceed(?:s|ed|ing)?|before|after|than|at least|at most|up to)"
    r"\s+(?:the\s+|a\s+)?\Z",
    re.IGNORECASE,
)
_BOUND_REACH: Final = 24


def stated_as_current(sentence: str, start: int, end: int) -> bool:
    """Whether the value at ``[start, end)`` of `sentence` is stated as one that holds.

    False for `formerly V`, `not V`, `the figure of V is withdrawn`, `V was corrected to W` and the
    like. Only the value's own clause counts, and of it only what stands between the value before
    and the value after, so that in `V, not W` and `from V to W` each has its own standing.
    """
    low, high = 0, len(sentence)
    for match in _CLAUSE_END.finditer(sentence):
        if match.end() <= start:
            low = match.end()
        elif match.start() >= end:
            high = match.start()
            break
    values = find_values(sentence)
    is_date = any(value.start == start and value.type == "date" for value in values)
    for value in values:
        # A date that is not itself the fact dates the statement: "the correction dated D to the L".
        if value.type == "date" and not is_date:
            continue
        if value.end <= start:
            low = max(low, value.end)
        elif value.start >= end:
            high = min(high, value.start)
            break
    before, after = sentence[low:start], sentence[end:high]
    return not (_RETIRED_BEFORE.search(before) or _RETIRED_AFTER.search(after))


def stated_as_fact(sentence: str, start: int, end: int) -> bool:
    """Whether the value is stated as current and is no bound that something is compared with."""
    if _BOUND.search(sentence, max(0, start - _BOUND_REACH), start):
        return False
    return stated_as_current(sentence, start, end)
