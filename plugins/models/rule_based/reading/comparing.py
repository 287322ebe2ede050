"""How a sentence says that one value stands to another: the words of comparison, and of its denial.

A comparison is a set of the outcomes that it allows, of `<`, `=` and `>`, or of `in` and `out` for
a list. `is not above` allows what `is at or below` does, so a claim states a relation when all that
it allows is allowed by the relation, and denies it when nothing is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from framework.text.values import find_values, occurrences

_Outcomes = frozenset[str]
_ORDER: Final = frozenset("<=>")
_LIST: Final = frozenset({"in", "out"})
_ALLOWED: Final[dict[str, _Outcomes]] = {
    ">": frozenset(">"),
    ">=": frozenset("=>"),
    "<": frozenset("<"),
    "<=": frozenset("<="),
    "in": frozenset({"in"}),
    "not in": frozenset({"out"}),
}
_MIRROR: Final = str.maketrans("<>", "><")
# The first that fits wins, so what holds another form stands before it.
_WORDS: Final = {
    ">=": r"at\s+or\s+(?:above|over|after)|(?:above|over)\s+or\s+(?:at|equal\s+to)|at\s+least|"
    r"no\s+(?:less|lower|fewer|smaller|earlier)\s+than|on\s+or\s+after|meets\s+or\s+exceeds|"
    r"reach(?:es|ed|ing)?|attain(?:s|ed)?|meets?(?=[^.;]*\bminimum)|>=|≥",
    "<=": r"at\s+or\s+(?:below|under|before)|(?:below|under)\s+or\s+(?:at|equal\s+to)|at\s+most|"
    r"no\s+(?:more|higher|greater|larger|later)\s+than|on\s+or\s+before|within|up\s+to|"
    r"meets?(?=[^.;]*\bmaximum)|<=|≤",
    "<": r"(?:is|was|are|were|be|been)\s+exceeded\s+by|below|beneath|"
    # `under UP-4` names the provision.
    r"under(?!\s+(?:the\s+|its\s+|our\s+)?(?:(?-i:[A-Z])|rule|provision|policy|section|criteri))|"
    r"(?:less|lower|fewer|smaller|earlier|shorter)\s+than|(?:falls?|fell)\s+short\s+of|short\s+of|"
    r"before|<",
    ">": r"above|over|exceed(?:s|ed|ing)?|in\s+excess\s+of|beyond|past|after|"
    r"(?:more|higher|greater|larger|later|longer)\s+than|surpass(?:es|ed)?|tops|>",
    "not in": r"none\s+of|(?:is\s+)?other\s+than|outside|absent\s+from|excluded\s+from",
    "in": r"(?:is\s+|are\s+)?(?:one\s+of|among|listed\s+in|on\s+the\s+list\s+of)",
}
_NEGATED: Final = (
    r"(?P<no>(?:\b(?:is|are|was|were|do|does|did|has|have|can)\s*(?:not|n['’]t|never)\s+|"
    r"\b(?:not|never|neither|nor)\s+|n['’]t\s+)(?:(?:to\s+be|be|been|in\s+fact|yet)\s+)?)?"
)
_NAMES: Final = dict(zip(("ge", "le", "lt", "gt", "out", "in"), _WORDS, strict=True))
_COMPARISON: Final = re.compile(
    _NEGATED
    + "(?:"
    + "|".join(rf"(?P<{name}>(?<!\w)(?:{_WORDS[key]})(?!\w))" for name, key in _NAMES.items())
    + ")",
    re.IGNORECASE,
)
_EMPTY: Final = re.compile(
    r"(?:[\s,;:/]|\b(?:and|or|is|are|was|at|equal|to|both|also|yet|but|it|either|nor|neither)\b)*\Z",
    re.IGNORECASE,
)
_Span = tuple[int, int]


def claims(
    sentence: str, subject: Sequence[Sequence[str]], bound: Sequence[str], relation: str
) -> list[bool]:
    """What a sentence claims of `subject` against `bound`: per claim, the relation or its opposite.

    subject : groups of alternatives, the label and the value; bound : alternatives, the threshold's
    forms and the provision that sets it. A claim that neither states nor denies `relation` (`is not
    below` for `>`) is left out. Several comparisons in a row (`is above and not above`) claim all
    that they allow between them, which states nothing unless they agree.
    """
    wanted, found = _ALLOWED[relation], []
    for head, allowed, tail in _comparisons(sentence):
        if not allowed <= (_LIST if wanted <= _LIST else _ORDER):
            continue
        for left, right, outcomes in (
            (head, tail, allowed),
            (tail, head, frozenset(one.translate(_MIRROR) for one in allowed)),
        ):
            before = left is head
            named = all(_nearest(left, group, last=before) for group in subject)
            if named and _nearest(right, bound, last=not before):
                if outcomes <= wanted:
                    found.append(True)
                elif not outcomes & wanted or outcomes in (_ORDER, _LIST):
                    found.append(False)
                break
    return found


@lru_cache(maxsize=1 << 12)
def _comparisons(sentence: str) -> tuple[tuple[str, _Outcomes, str], ...]:
    """Per comparison: what stands before it, what it allows, and what stands up to the next."""
    groups: list[tuple[int, int, _Outcomes]] = []
    for start, end, allowed in _matches(sentence):
        if groups and _EMPTY.match(sentence[groups[-1][1] : start]):
            first, _, others = groups.pop()
            start, allowed = first, allowed | others
        groups.append((start, end, allowed))
    ends = [*(start for start, _, _ in groups[1:]), len(sentence)] if groups else []
    return tuple(
        (sentence[:start], allowed, sentence[end:until])
        for (start, end, allowed), until in zip(groups, ends, strict=True)
    )


def _matches(sentence: str) -> Iterator[tuple[int, int, _Outcomes]]:
    for match in _COMPARISON.finditer(sentence):
        name = next(name for name in _NAMES if match[name])
        allowed = _ALLOWED[_NAMES[name]]
        if match["no"]:
            allowed = (_LIST if allowed <= _LIST else _ORDER) - allowed
        yield match.start(), match.end(), allowed


def _nearest(text: str, options: Sequence[str], *, last: bool) -> bool:
    """Whether an option stands in `text` and no other value of its type stands nearer.

    Nearer is later when `last`, else earlier. Where options are of several types (a threshold and
    the provision that sets it), the first type of which the text has a value decides.
    """
    typed = {type_of(option) for option in options} - {"", "provision", "identifier"}
    values = [value for value in find_values(text) if value.type in typed]
    if values:
        value = values[-1 if last else 0]
        places = {place for o in options if type_of(o) in typed for place in _places(text, o)}
        return (value.start, value.end) in places
    return any(_places(text, option) for option in options)


def _places(text: str, option: str) -> list[_Span]:
    return list(occurrences(text, option, type_of(option)))


@lru_cache(maxsize=1 << 14)
def type_of(option: str) -> str:
    """The type of an alternative that is one value as a whole; else empty: a phrase."""
    values = find_values(option)
    is_value = len(values) == 1 and values[0].text == option.strip()
    return values[0].type if is_value else ""
