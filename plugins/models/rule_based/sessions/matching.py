"""Which statements of the sessions bear on a question, and how much."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from plugins.models.rule_based.sessions.turns import Statement, stems
from plugins.models.rule_based.sessions.when import resolve, window

USUAL: Final = 0.4
STRICT: Final = 0.85
"""Share of the question's words, by weight, that a statement must have: usually, and by a clause
that asks for evidence."""
NEAR: Final = 0.75
"""A statement matches when its share is at least so much of the best one's."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question and the day on which it is asked, None where that is not told."""

    text: str
    asked_on: date | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """A statement, its share of the question's words by weight, and the date of what it tells."""

    statement: Statement
    share: float
    on: date | None


@dataclass(frozen=True, slots=True)
class Found:
    """Statements by their share of the question's words: those near the best, and all with some."""

    near: tuple[Match, ...]
    topical: tuple[Match, ...]

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
    if "no_plans" in force and is_plan(statement):
        return False
    return not ("own_only" in force and is_of_another(statement))


def is_plan(statement: Statement) -> bool:
    """Whether it is worded as a plan, a wish or a possibility."""
    return _PLAN.search(statement.text) is not None


def is_of_another(statement: Statement) -> bool:
    """Whether it is about someone that the speaker knows, and not about the speaker."""
    text = statement.text
    return _OTHER.search(text) is not None and _SELF.search(text) is None


def matches(
    question: Question, statements: Sequence[Statement], force: frozenset[str] = frozenset()
) -> Found:
    """The statements that share words with the question, in view order.

    Those that a clause in force leaves out are not there.
    """
    kept = [statement for statement in statements if _is_admitted(statement, force)]
    asked = stems(question.text)
    weights = _weights(asked, kept)
    total = sum(weights.values())
    if not total:
        return Found((), ())
    span = None
    if "window" in force and question.asked_on is not None:
        span = window(question.text, question.asked_on)
    found = []
    for statement in kept:
        shared = asked & statement.stems
        if not shared or statement.text.endswith("?"):
            continue
        on = date_told(statement, force)
        if span is not None and not (on is not None and span[0] <= on <= span[1]):
            continue
        found.append(Match(statement, sum(sorted(weights[w] for w in shared)) / total, on))
    best = max((m.share for m in found), default=0.0)
    return Found(tuple(m for m in found if m.share >= NEAR * best), tuple(found))


def _weights(asked: frozenset[str], kept: Sequence[Statement]) -> dict[str, float]:
    frequency = Counter(word for s in kept for word in asked & s.stems)
    return {word: math.log1p(len(kept) / (frequency[word] or 1)) for word in sorted(asked)}


def date_told(statement: Statement, force: frozenset[str]) -> date | None:
    """The date of what is told: as the sentence says, where a clause asks so; its session's."""
    if statement.date is None or "relative" not in force:
        return statement.date
    return resolve(statement.text, statement.date) or statement.date
