"""Whether an answer is right, by its words."""

from __future__ import annotations

import re
from typing import Final

from framework.contracts import Profile, Rule
from framework.operations.equivalent import EquivalentRequest, EquivalentResponse
from framework.registry import register
from framework.text.values import find_values, same_value

_UNANSWERABLE: Final = frozenset({"unanswerable", "abstention", "adversarial"})
_RUBRIC: Final = "single-session-preference"
_HEDGE: Final = re.compile(
    r"\b(?:no (?:such )?(?:information|record|mention)|not (?:been )?(?:mentioned|stated|specified|"
    r"recorded|provided|available|enough information|answerable)|"
    r"(?:can(?:not|'t| not)|unable to|could(?: not|n't)) (?:answer|determine|say|tell|find)|"
    r"(?:do|does|did)(?:n[o']t| not) (?:know|mention|say|state|have|tell)|"
    r"incomplete|insufficient|unanswerable|unknown)\b",
    re.IGNORECASE,
)
_UNSURE: Final = re.compile(
    r"\b(?:may\s+or\s+may\s+not|it\s+(?:may|might|could)\s+be|might\s+be|perhaps|possibly|"
    r"(?:is|was|are|were)\s+or\s+(?:is|was|are|were)\s+not)\b",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[^\W_]+")
_LONGEST_ANSWER: Final = 60
"""Words beyond those expected: who writes more has not picked an answer out of what was there."""
_LONGEST_PART: Final = 6
"""Words: what is longer is a clause of a sentence and no part of a list."""
_ARTICLES: Final = frozenset({"a", "an", "the", "and"})
_DURATION: Final = frozenset({"day", "week", "month", "year"})


@register("rule", "equivalent")
class EquivalentRule(Rule[EquivalentRequest, EquivalentResponse]):
    """Right if the expected answer is contained in the given one (no articles or punctuation).

    A typed value counts in any form of its type. `unanswerable`, `abstention` and `adversarial`
    want an admission that the information is missing; `multi-hop` wants every part between
    commas; `open-domain` the part before the first semicolon; `temporal-reasoning` lets a
    number of days, weeks, months or years be off by one. A bare list between semicolons must
    hold every part that is expected, in whatever order, and no more: to name every candidate is
    no answer. No answer either is one that is called possible, is denied as well, or stands among
    more than 60 other words. It can't read the rubric of `single-session-preference`: it asks for
    half of its words.
    """

    def answer(self, request: EquivalentRequest, profile: Profile) -> EquivalentResponse:
        if excess := _excess(request):
            return EquivalentResponse(met=False, why=excess)
        if request.kind in _UNANSWERABLE:
            hedge = _HEDGE.search(request.given)
            return EquivalentResponse(met=hedge is not None, why=hedge.group() if hedge else "")
        if request.kind == _RUBRIC:
            rubric = set(_words(request.expected))
            share = len(rubric & set(_words(request.given))) / max(1, len(rubric))
            return EquivalentResponse(met=share >= 0.5, why=f"{share:.0%} of the rubric's words")
        offered, wanted = _bare_list(request.given), _bare_list(request.expected)
        if len(offered) > len(wanted):
            return EquivalentResponse(
                met=False, why=f"{len(offered)} answers where {len(wanted)} is expected"
            )
        if unsure := _unsure(request):
            return EquivalentResponse(met=False, why=unsure)
        missing = [part for part in _parts(request) if not _says(request, part)]
        why = f"missing: {'; '.join(missing)}" if missing else ""
        return EquivalentResponse(met=not missing, why=why)


def _excess(request: EquivalentRequest) -> str:
    """That what is given is too long for an answer, whatever it holds; empty where it is not."""
    given, expected = _words(request.given), _words(request.expected)
    much = len(given) > len(expected) + _LONGEST_ANSWER
    return f"{len(given)} words where an answer is asked for" if much else ""


def _unsure(request: EquivalentRequest) -> str:
    """Where what is given is called possible or is denied; empty where it is neither."""
    given, expected = _words(request.given), _words(request.expected)
    if (unsure := _UNSURE.search(request.given)) and not _UNSURE.search(request.expected):
        return f"unsure: {unsure.group()}"
    said = " ".join(expected)
    if said and f" not {said} " in f" {' '.join(given)} ":
        return f"denied: not {said}"
    return ""


def _parts(request: EquivalentRequest) -> list[str]:
    """What the given answer must say, each by itself."""
    expected = request.expected
    if request.kind == "open-domain":
        expected = expected.split(";")[0]
    listed = _bare_list(expected)
    if len(listed) > 1:
        return listed
    # A comma inside a date or a number parts nothing.
    parts = re.split(r",\s+(?!\d{4}\b)", expected) if request.kind == "multi-hop" else [expected]
    return [part.strip() for part in parts if part.strip()] or [expected]


def _bare_list(text: str) -> list[str]:
    """The parts of a list between semicolons and nothing else; the whole text where it is none."""
    parts = [part.strip() for part in text.split(";") if part.strip()]
    return parts if all(len(_WORD.findall(part)) <= _LONGEST_PART for part in parts) else [text]


def _says(request: EquivalentRequest, part: str) -> bool:
    given = request.given
    wanted = _words(part)
    if part.isdigit():
        return part in _numbers(request)
    if wanted and f" {' '.join(wanted)} " in f" {' '.join(_words(given))} ":
        return True
    values = find_values(part)
    if len(values) != 1 or values[0].text.casefold() != part.casefold().strip(" ."):
        return False
    value = values[0]
    return any(
        same_value(value.text, found.text, value.type)
        or (
            request.kind == "temporal-reasoning"
            and value.type == found.type == "count"
            and value.unit == found.unit
            and value.unit in _DURATION
            and abs(float(value.canonical) - float(found.canonical)) <= 1
        )
        for found in find_values(given)
    )


def _numbers(request: EquivalentRequest) -> set[str]:
    """The numbers of the given answer: none of a date, nor of a span of time that is not asked."""
    return {
        value.canonical
        for value in find_values(request.given)
        if value.type in ("score", "count", "money", "percent")
        and (value.unit not in _DURATION or request.kind == "temporal-reasoning")
    }


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if word not in _ARTICLES]
