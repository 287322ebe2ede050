"""How a rule-based reader answers a question from sessions, as the clauses in force say.

Without a clause it answers from the statement that shares most of the question's rarer words, with
what in it the question asks for, and abstains when no statement shares enough of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

from framework.text.values import Value
from plugins.models.rule_based.sessions.matching import Found, Match, Question, matches
from plugins.models.rule_based.sessions.spans import HOW_MUCH, WHEN, amount_of, span_of
from plugins.models.rule_based.sessions.turns import Statement, names, stems
from plugins.models.rule_based.sessions.when import elapsed

MISSING: Final = "The information is not available: the sessions do not mention it."
"""What is answered by a reader that abstains."""

_HOW_MANY: Final = re.compile(r"\bhow (?:many|often)\b|\bnumber of\b", re.IGNORECASE)
_TIME: Final = re.compile(
    r"\b(?:ago|since|before|after|between|last|past|yesterday|when|weekend|days?|weeks?|months?"
    r"|years?)\b",
    re.IGNORECASE,
)
_UNIT: Final = re.compile(r"\bhow many (day|week|month|year)s\b", re.IGNORECASE)
_OPTIONS: Final = re.compile(r"[,:] ?(?P<a>[^,?]+?),? or (?P<b>[^,?]+)\?", re.IGNORECASE)
_PARTS: Final = re.compile(
    r"\bbetween (?P<a>.+?) and (?P<b>.+?)\?|\b(?P<c>.+?) (?:before|after) (?P<d>.+?)\?",
    re.IGNORECASE,
)
_CHANGE: Final = re.compile(
    r"\b(?:now|switched|changed|moved|no longer|anymore|actually|instead|upgraded|these days"
    r"|currently|since then|as of|replaced)\b",
    re.IGNORECASE,
)
_LIKING: Final = re.compile(
    r"\b(?:I|we) (?:really |usually |always |much |generally |strongly )*"
    r"(?:prefer|love|like|enjoy|hate|dislike|avoid|can't stand|cannot stand|favou?r)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """An answer, the sentences it rests on, and whether it is that there is none."""

    answer: str
    evidence: tuple[str, ...] = ()
    abstains: bool = False


_NOTHING: Final = Recollection(answer=MISSING, abstains=True)


def recollect(
    question: Question, statements: Sequence[Statement], force: frozenset[str]
) -> Recollection:
    """The answer to a question from statements in view order, with the clauses `force` in force."""
    found = matches(question, statements, force)
    if not found:
        return _NOTHING
    if "quote" in force:
        return _stated([_chosen(found, force)], lambda s: s.text)
    if "preference" in force:
        liking = [m for m in found.topical if _LIKING.search(m.statement.text)]
        if liking:
            return _stated([max(liking, key=lambda m: m.share)], lambda s: s.text)
    if not found.enough(force):
        return _NOTHING
    return _answered(question, found, force)


def _chosen(found: Found, force: frozenset[str]) -> Match:
    """The one statement that an answer rests on."""
    best = max(found.near, key=lambda m: m.share)
    dated = [m for m in found.near if m.on is not None]
    if "latest" in force and dated:
        return max(dated, key=lambda m: m.on or date.min)
    if "earliest" in force and dated:
        return min(dated, key=lambda m: m.on or date.max)
    if "changed" in force:
        changes = [m for m in dated if _CHANGE.search(m.statement.text)]
        return max(changes, key=lambda m: m.on or date.min) if changes else best
    return best


# ---------------------------------------------------------------------------------------- answering


def _answered(question: Question, found: Found, force: frozenset[str]) -> Recollection:
    text = question.text
    options = _OPTIONS.search(text)
    if options is not None:
        return _option([options["a"], options["b"]], found, force)
    if "arithmetic" in force and _TIME.search(text):
        passed = _passed(question, found, force)
        if passed is not None:
            return passed
    if "count" in force and _HOW_MANY.search(text):
        return _counted(question, found, force)
    if "total" in force and HOW_MUCH.search(text):
        total = _total(question, found)
        if total is not None:
            return total
    if "relative" in force and WHEN.search(text):
        chosen = _chosen(found, force)
        if chosen.on is not None:
            evidence = (chosen.statement.text,)
            return Recollection(answer=chosen.on.isoformat(), evidence=evidence)
    if "all" in force:
        ordered = sorted(found.near, key=lambda m: m.on or date.max)
        return _stated(ordered, lambda s: span_of(text, s.text))
    return _stated([_chosen(found, force)], lambda s: span_of(text, s.text))


def _stated(found: Sequence[Match], words: Callable[[Statement], str]) -> Recollection:
    answers = dict.fromkeys(words(m.statement) for m in found)
    evidence = dict.fromkeys(m.statement.text for m in found)
    return Recollection(answer="; ".join(answers), evidence=tuple(evidence))


def _option(options: Sequence[str], found: Found, force: frozenset[str]) -> Recollection:
    """Of two things named in the question, the earlier one; without the clause, the best known."""
    best = [_best_on(option, found) for option in options]
    known = [(m, o) for m, o in zip(best, options, strict=True) if m is not None]
    if not known:
        return _NOTHING
    if "order" in force and all(m.on is not None for m, _ in known):
        chosen = min(known, key=lambda pair: pair[0].on or date.max)
    else:
        chosen = max(known, key=lambda pair: pair[0].share)
    match, option = chosen
    return Recollection(answer=option.strip(), evidence=(match.statement.text,))


def _best_on(topic: str, found: Found) -> Match | None:
    """The statement with most of a topic's words, the first of equals; None when none has any."""
    words = stems(topic)
    best = max(found.topical, key=lambda m: len(words & m.statement.stems), default=None)
    return best if best is not None and words & best.statement.stems else None


def _passed(question: Question, found: Found, force: frozenset[str]) -> Recollection | None:
    """The time between two events, or between one and the day of the question."""
    unit = _UNIT.search(question.text)
    name = unit[1].lower() if unit else "day"
    parts = _PARTS.search(question.text)
    if parts is not None:
        topics = [part for part in parts.groups() if part]
        ends = [m for m in (_best_on(topic, found) for topic in topics) if m is not None]
    else:
        ends = [_chosen(found, force)]
    dates = [m.on for m in ends if m.on is not None]
    if parts is None and question.asked_on is not None:
        dates.append(question.asked_on)
    if len(dates) != 2:
        return None
    number = elapsed(dates[0], dates[1], name)
    words = f"{number} {name}{'' if number == 1 else 's'}"
    return Recollection(answer=words, evidence=tuple(m.statement.text for m in ends))


def _counted(question: Question, found: Found, force: frozenset[str]) -> Recollection:
    """The number of events that match: by session and name, or by name alone."""
    asked = stems(question.text)
    events: dict[tuple[str, ...], str] = {}
    for match in found.near:
        bears = tuple(n for n in names(match.statement.text) if not stems(n) <= asked)
        key = bears if "distinct" in force and bears else (match.statement.stamp, *bears)
        events.setdefault(key, match.statement.text)
    return Recollection(answer=str(len(events)), evidence=tuple(events.values()))


def _total(question: Question, found: Found) -> Recollection | None:
    """The sum of the amounts in the statements that match, one a statement."""
    amounts: dict[str, Value] = {}
    for match in found.near:
        value = amount_of(question.text, match.statement.text)
        if value is not None:
            amounts.setdefault(match.statement.text, value)
    if not amounts:
        return None
    total = sum((Decimal(value.canonical) for value in amounts.values()), Decimal(0))
    (first, *_) = amounts.values()
    words = f"${total:,}" if first.type == "money" else f"{total:,} {first.unit}s".strip(" s")
    return Recollection(answer=words, evidence=tuple(amounts))
