"""How a rule-based reader answers a question from sessions, as the clauses in force say.

Without a clause it answers from the statement that shares most of the question's rarer words, with
what in it the question asks for, and abstains when no statement shares enough of them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

from framework.operations.reading.turns import Statement, names, stems
from framework.operations.reading.when import elapsed, phrase, resolve, window
from framework.values import Value, find_values

__all__ = ["MISSING", "Question", "Recollection", "recollect"]

MISSING: Final = "The information is not available: the sessions do not mention it."
"""What is answered by a reader that abstains."""

USUAL: Final = 0.4
STRICT: Final = 0.85
"""Share of the question's words, by weight, that a statement must have: usually, and by a clause
that asks for evidence."""
NEAR: Final = 0.75
"""A statement matches when its share is at least so much of the best one's."""

_HOW_MANY: Final = re.compile(r"\bhow (?:many|often)\b|\bnumber of\b", re.IGNORECASE)
_HOW_MUCH: Final = re.compile(r"\bhow much\b|\btotal\b", re.IGNORECASE)
_QUANTITY: Final = re.compile(
    r"\bhow (?:many|much|often|long|old|far|tall)\b|\bnumber of\b|\btotal\b", re.IGNORECASE
)
_WHEN: Final = re.compile(r"\bwhen\b|\b(?:what|which) (?:date|day)\b", re.IGNORECASE)
_TIME: Final = re.compile(
    r"\b(?:ago|since|before|after|between|last|past|yesterday|when|weekend|days?|weeks?|months?"
    r"|years?)\b",
    re.IGNORECASE,
)
_UNIT: Final = re.compile(r"\bhow many (day|week|month|year)s\b", re.IGNORECASE)
_OPTIONS: Final = re.compile(r"[,:] ?(?P<a>[^,?]+?),? or (?P<b>[^,?]+)\?", re.IGNORECASE)
_PARTS: Final = re.compile(
    r"\bbetween (?P<a>.+?) and (?P<b>.+?)\?|\b(?P<c>.+?) (?:before|after|since) (?P<d>.+?)\?",
    re.IGNORECASE,
)
_KIND: Final = re.compile(
    r"\b(?:which|what) (?:kind of |type of |color is )?([a-z]+)", re.IGNORECASE
)
_NOUN: Final = re.compile(r"\bhow many ([\w'-]+)", re.IGNORECASE)
_PLAN: Final = re.compile(
    r"\b(?:plan(?:s|ning)? (?:to|on)|thinking (?:of|about)|want to|would like to|might|maybe"
    r"|considering|hop(?:e|ing) to|someday|dream(?:ing)? of|going to|will)\b",
    re.IGNORECASE,
)
_OTHER: Final = re.compile(
    r"\b(?:my|our) (?:best )?(?:friend|brother|sister|mother|mom|father|dad|cousin|neighbou?r"
    r"|colleague|coworker|aunt|uncle|roommate|boss|partner|husband|wife|son|daughter)s?\b",
    re.IGNORECASE,
)
_SELF: Final = re.compile(r"\bI\b|\bI['’](?:m|ve|d)\b")
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
_DETERMINER_WORDS: Final = (
    "a an the my our your his her their this that which what new old another some any"
)
_DETERMINERS: Final = frozenset(_DETERMINER_WORDS.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question and the day on which it is asked, None where that is not told."""

    text: str
    asked_on: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """An answer, the sentences it rests on, and whether it is that there is none."""

    answer: str
    evidence: tuple[str, ...] = ()
    abstains: bool = False


@dataclass(frozen=True, slots=True)
class _Match:
    statement: Statement
    share: float
    on: date | None


_NOTHING: Final = Recollection(answer=MISSING, abstains=True)


def recollect(
    question: Question, statements: Sequence[Statement], force: frozenset[str]
) -> Recollection:
    """The answer to a question from statements in view order, with the clauses `force` in force."""
    kept = [s for s in statements if _is_admitted(s, force)]
    found = _matches(question, kept, force)
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


# ----------------------------------------------------------------------------------------- matching


@dataclass(frozen=True, slots=True)
class _Found:
    """Statements by their share of the question's words: those near the best, and all with some."""

    near: tuple[_Match, ...]
    topical: tuple[_Match, ...]

    def enough(self, force: frozenset[str]) -> bool:
        least = 0.0 if "trust" in force else STRICT if "abstain" in force else USUAL
        return max(m.share for m in self.near) >= least

    def __bool__(self) -> bool:
        return bool(self.near)


def _is_admitted(statement: Statement, force: frozenset[str]) -> bool:
    if "user_only" in force and statement.role == "assistant":
        return False
    if "assistant_only" in force and statement.role == "user":
        return False
    if "no_plans" in force and _PLAN.search(statement.text):
        return False
    other = _OTHER.search(statement.text) and not _SELF.search(statement.text)
    return not ("own_only" in force and other)


def _matches(question: Question, kept: Sequence[Statement], force: frozenset[str]) -> _Found:
    """Statements that share words with the question, in view order."""
    asked = stems(question.text)
    weights = _weights(asked, kept)
    total = sum(weights.values())
    if not total:
        return _Found((), ())
    span = None
    if "window" in force and question.asked_on is not None:
        span = window(question.text, question.asked_on)
    found = []
    for statement in kept:
        shared = asked & statement.stems
        if not shared or statement.text.endswith("?"):
            continue
        on = _date(statement, force)
        if span is not None and not (on is not None and span[0] <= on <= span[1]):
            continue
        found.append(_Match(statement, sum(sorted(weights[w] for w in shared)) / total, on))
    best = max((m.share for m in found), default=0.0)
    return _Found(tuple(m for m in found if m.share >= NEAR * best), tuple(found))


def _weights(asked: frozenset[str], kept: Sequence[Statement]) -> dict[str, float]:
    frequency = Counter(word for s in kept for word in asked & s.stems)
    return {word: math.log1p(len(kept) / (frequency[word] or 1)) for word in sorted(asked)}


def _date(statement: Statement, force: frozenset[str]) -> date | None:
    """The date of what is told: as the sentence says, where a clause asks so; its session's."""
    if statement.date is None or "relative" not in force:
        return statement.date
    return resolve(statement.text, statement.date) or statement.date


def _chosen(found: _Found, force: frozenset[str]) -> _Match:
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


def _answered(question: Question, found: _Found, force: frozenset[str]) -> Recollection:
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
    if "total" in force and _HOW_MUCH.search(text):
        total = _total(question, found)
        if total is not None:
            return total
    if "relative" in force and _WHEN.search(text):
        chosen = _chosen(found, force)
        if chosen.on is not None:
            evidence = (chosen.statement.text,)
            return Recollection(answer=chosen.on.isoformat(), evidence=evidence)
    if "all" in force:
        ordered = sorted(found.near, key=lambda m: m.on or date.max)
        return _stated(ordered, lambda s: span_of(text, s.text))
    return _stated([_chosen(found, force)], lambda s: span_of(text, s.text))


def _stated(found: Sequence[_Match], words: Callable[[Statement], str]) -> Recollection:
    answers = dict.fromkeys(words(m.statement) for m in found)
    evidence = dict.fromkeys(m.statement.text for m in found)
    return Recollection(answer="; ".join(answers), evidence=tuple(evidence))


def _option(options: Sequence[str], found: _Found, force: frozenset[str]) -> Recollection:
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


def _best_on(topic: str, found: _Found) -> _Match | None:
    """The statement with most of a topic's words, the first of equals; None when none has any."""
    words = stems(topic)
    best = max(found.topical, key=lambda m: len(words & m.statement.stems), default=None)
    return best if best is not None and words & best.statement.stems else None


def _passed(question: Question, found: _Found, force: frozenset[str]) -> Recollection | None:
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


def _counted(question: Question, found: _Found, force: frozenset[str]) -> Recollection:
    """The number of events that match: by session and name, or by name alone."""
    asked = stems(question.text)
    events: dict[tuple[str, ...], str] = {}
    for match in found.near:
        bears = tuple(n for n in names(match.statement.text) if not stems(n) <= asked)
        key = bears if "distinct" in force and bears else (match.statement.stamp, *bears)
        events.setdefault(key, match.statement.text)
    return Recollection(answer=str(len(events)), evidence=tuple(events.values()))


def _total(question: Question, found: _Found) -> Recollection | None:
    """The sum of the amounts in the statements that match, one a statement."""
    amounts: dict[str, Value] = {}
    for match in found.near:
        value = _amount(question.text, match.statement.text)
        if value is not None:
            amounts.setdefault(match.statement.text, value)
    if not amounts:
        return None
    total = sum((Decimal(value.canonical) for value in amounts.values()), Decimal(0))
    (first, *_) = amounts.values()
    words = f"${total:,}" if first.type == "money" else f"{total:,} {first.unit}s".strip(" s")
    return Recollection(answer=words, evidence=tuple(amounts))


# -------------------------------------------------------------------------------------------- spans


def span_of(question: str, sentence: str) -> str:
    """What in a sentence the question asks for; the sentence, when there is no such thing."""
    if _WHEN.search(question):
        return phrase(sentence) or sentence
    if _QUANTITY.search(question):
        value = _amount(question, sentence)
        return value.text if value is not None else sentence
    kind = _KIND.search(question)
    if kind is not None:
        modified = re.search(rf"\b((?:[\w'-]+ )?[\w'-]+) {re.escape(kind[1])}\b", sentence)
        if modified is not None:
            words = [w for w in modified[1].split() if w.casefold() not in _DETERMINERS]
            if words and not stems(" ".join(words)) <= stems(question):
                return f"{' '.join(words)} {kind[1]}"
    asked = stems(question)
    bears = (name for name in names(sentence) if not stems(name) <= asked)
    return next(bears, sentence)


def _amount(question: str, sentence: str) -> Value | None:
    """The number in a sentence that the question asks for: by what is counted, else the first."""
    asked = {value.text for value in find_values(question)}
    numbers = [
        value
        for value in find_values(sentence)
        if value.type in ("money", "percent", "count", "score") and value.text not in asked
    ]
    noun = _NOUN.search(question)
    if noun is not None:
        wanted = stems(noun[1])
        for value in numbers:
            after = sentence[value.start : value.end] + " " + sentence[value.end :][:30]
            if wanted & stems(after):
                return value
    if _HOW_MUCH.search(question):
        numbers.sort(key=lambda value: value.type != "money")
    return numbers[0] if numbers else None
