"""What a sentence claims: typed values bound to labels, and whether they hold, correct or are past.

Written for general English: a label, linking words (`is`, `of`, `:`, `stands at`), a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from framework.text.values import Value, find_values, parse_value
from plugins.models.rule_based.reading.cues import ValueStatus, is_past, value_status
from plugins.models.rule_based.reading.lexicon import Lexicon, Mention

Status = Literal["current", "correction", "standing", "retired", "rescinded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One value claimed for one field.

    key : the field's key; for a reader who knows no labels, `~` and the words before the value.
    status : `standing` is the value that holds again where a correction is `rescinded`.
    value : None for a rescission, which claims no value itself.
    dated : the date of the correction that the sentence speaks of, else empty.
    withdraws : canonical forms of the values that a correction takes back.
    """

    key: str
    status: Status
    value: Value | None = None
    dated: str = ""
    withdraws: tuple[str, ...] = ()


# Words that may stand between a label and its value without making it another quantity's.
_LINK: Final = (
    r"a|also|an|the|is|was|are|were|be|been|has|have|had|of|at|as|to|on|in|from|for|now|fact|stands?|"
    r"stood|equals?|totals?|totall?ed|total|comes?|came|reads?|shows?|shown|gives?|given|gave|"
    r"reports?|reported|records?|recorded|lists?|listed|states?|stated|restated|revised|corrected|"
    r"amended|changed|updated|confirmed|verified|amounts?|amounted|dated|currently|approximately|"
    r"about|exactly|formerly|previously|originally|initially|used|not"
)
_LINKS: Final = re.compile(rf"(?:[\s:=()\[\]\"'’,–—-]|\b(?:{_LINK})\b)*\Z", re.IGNORECASE)
# ... and between two values of one label, of which one is past.
_NEXT: Final = re.compile(
    rf"(?:[\s:;=()\[\]\"'’,–—-]|\b(?:{_LINK}|and|but|which|it|figure|amount|value|by|with|"
    r"rather|than|instead|place|lieu|replac(?:es|ing|ed))\b)*\Z",
    re.IGNORECASE,
)
_REVERSED: Final = re.compile(
    r"\s+(?:(?:in|as|for|is|was)\s+)?(?:(?:the|a|an)\s+)?\Z", re.IGNORECASE
)
_HYPOTHETICAL: Final = re.compile(
    r"(?:if|unless|where|whether|suppose|should|were|when|for example|e\.g\.)\b", re.IGNORECASE
)
_CATEGORY_LINK: Final = re.compile(
    r"\s*(?:[:=]|\b(?:is|was|of|as|at)\b)"
    r"(?:\s+(?:now|formerly|previously|originally|initially|currently|(?:re)?stated|recorded|listed|"
    r"reported|given|corrected|changed|as|to)\b)*\s*",
    re.IGNORECASE,
)
_CATEGORY: Final = re.compile(r"[^\W_][\w /'’&-]*")
_CATEGORY_END: Final = re.compile(
    r"\s+(?:stands?|is|was|and|which|that|but|not|on|in|at|per|according|rather|instead|from)\b.*",
    re.IGNORECASE,
)
_NOT_A_CATEGORY: Final = re.compile(
    r"(?:not|being|under|to|attached|enclosed|shown|set|in|on|at|the|a|an|still|yet|unknown|"
    r"missing|pending|blank|what|whether|subject|one of|required)\b",
    re.IGNORECASE,
)
_OLD_CATEGORY: Final = re.compile(
    r"\s*(?:,?\s*(?:not|instead of|rather than|from)|;\s*the (?:figure|value|entry) of)\s+",
    re.IGNORECASE,
)
_MAX_CATEGORY_WORDS: Final = 6
_CODES: Final = frozenset({"identifier", "provision"})


def claims_of(sentence: str, lexicon: Lexicon) -> tuple[Claim, ...]:
    """The claims of a sentence for the fields whose labels it mentions."""
    mentions = lexicon.mentions(sentence)
    if not mentions or is_hypothetical(sentence):
        return ()
    values = find_values(sentence)
    status = value_status(sentence, values)
    claims: list[Claim] = []
    taken = 0
    for index, mention in enumerate(mentions):
        end = mentions[index + 1].start if index + 1 < len(mentions) else len(sentence)
        type_ = lexicon.type_of(mention.key)
        if type_ == "category":
            held, past, reach = _category(sentence, mention, taken, end)
        else:
            held, past, reach = _typed(sentence, values, type_, mention, taken, end)
        claims.extend(combine(mention.key, status, held, past))
        taken = reach
    if status.rescinds:
        keys = dict.fromkeys(mention.key for mention in mentions)
        claims.extend(Claim(key=key, status="rescinded", dated=status.dated) for key in keys)
    return tuple(claims)


def is_hypothetical(sentence: str) -> bool:
    """Whether the sentence opens as a condition: what follows is not claimed."""
    return _HYPOTHETICAL.match(sentence) is not None


def fits(value: Value, type_: str) -> bool:
    """Whether a value as found may be one of `type_`: a bare number has no type of its own."""
    if type_ in _CODES:
        return value.type in _CODES
    if value.type == type_:
        return True
    if value.type == "score":
        return type_ in ("money", "percent", "count")
    return type_ == "score" and value.type == "count" and value.unit == "point"


def combine(
    key: str, status: ValueStatus, held: Value | None, past: list[Value]
) -> Iterator[Claim]:
    """The claims that one label's values make: the one that holds, those that are past."""
    if held is None:
        yield from (Claim(key=key, status="retired", value=value) for value in past)
        return
    corrects: Status = "correction" if status.corrects or past else "current"
    yield Claim(
        key=key,
        status="standing" if status.rescinds else corrects,
        value=held,
        dated=status.dated,
        withdraws=tuple(value.canonical for value in past),
    )


def _typed(
    sentence: str, values: tuple[Value, ...], type_: str, mention: Mention, taken: int, end: int
) -> tuple[Value | None, list[Value], int]:
    """The value that holds, the past ones, and how far they reach."""
    held: Value | None = None
    past: list[Value] = []
    cursor, context = mention.end, sentence[taken : mention.start]
    for value in values:
        if value.start < mention.end or not fits(value, type_):
            continue
        gap = _without(sentence, cursor, value.start, values)
        if value.end > end or not (_NEXT if held or past else _LINKS).match(gap):
            break
        if is_past(context + gap, sentence[value.end :]):
            past.append(value)
        elif held is None:
            held = value
        else:
            break
        cursor, context = value.end, ""
    if held is None and not past:
        for value in values:
            if value.start >= taken and value.end <= mention.start and fits(value, type_):
                gap = sentence[value.end : mention.start]
                if _REVERSED.match(gap) and not is_past(sentence[taken : value.start], ""):
                    held = value
    return held, past, cursor


def _without(sentence: str, start: int, end: int, values: tuple[Value, ...]) -> str:
    """`sentence[start:end]` with the values in it, which are of other types, left out."""
    pieces = []
    for value in values:
        if value.start >= start and value.end <= end:
            pieces.append(sentence[start : value.start])
            start = value.end
    pieces.append(sentence[start:end])
    return " ".join(pieces)


def _category(
    sentence: str, mention: Mention, taken: int, end: int
) -> tuple[Value | None, list[Value], int]:
    link = _CATEGORY_LINK.match(sentence, mention.end)
    value = category_at(sentence, link.end(), end) if link else None
    if link is None or value is None:
        return None, [], mention.end
    context = sentence[taken : mention.start] + link[0]
    if is_past(context, sentence[value.end :]):
        return None, [value], value.end
    past: list[Value] = []
    reach = value.end
    if old_link := _OLD_CATEGORY.match(sentence, value.end):
        old = category_at(sentence, old_link.end(), end)
        if old is not None:
            past, reach = [old], old.end
    return value, past, reach


def category_at(sentence: str, start: int, end: int) -> Value | None:
    """The word or words of a category that begin at `start`, None when they are not one."""
    match = _CATEGORY.match(sentence, start, end)
    if match is None or _NOT_A_CATEGORY.match(match[0]):
        return None
    text = _CATEGORY_END.sub("", match[0]).rstrip()
    if not text or len(text.split()) > _MAX_CATEGORY_WORDS:
        return None
    parsed = parse_value(text, "category")
    return parsed and Value("category", parsed.canonical, text, start, start + len(text))
