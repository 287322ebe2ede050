"""Answers made from a domain's own questions: right ones, and wrong ones of several sorts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from framework.contracts.calibration import CalibrationSet, KnownAnswer
from framework.records import ABSTAIN, Case
from framework.registry import register
from plugins.calibrations._cases import cases_of, domain_of

_ADMITTED = "There is no information about that in the record."
_WORDY = (
    "Thank you for asking. I have gone through what was said in every conversation that I could "
    "find, and as far as the record goes the answer to your question is this: {}"
)
_NUMBER: Final = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_CYCLES: Final = (
    ("January", "February", "March", "April", "May", "June", "July", "August", "September",
     "October", "November", "December"),
    ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
)  # fmt: skip
_STEP: Final = 3
_FEW: Final = 6
"""Words of an answer of which each is a fact of its own; in a longer one a word may be none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsSettings:
    """Settings of the set `questions`.

    domain : `plugin`, a domain that asks questions, and that plugin's settings.
    n_cases : its first so many cases. seed : of the cases.
    """

    domain: Mapping[str, Any] = field(default_factory=lambda: {"plugin": "longmemeval_synthetic"})
    n_cases: int = 400
    seed: int = 7

    def __post_init__(self) -> None:
        if self.n_cases < 2:
            raise ValueError(f"n_cases: {self.n_cases} given, 2 or more expected")


@register("calibration", "questions")
class Questions(CalibrationSet[QuestionsSettings]):
    """The expected answer, bare and in a longer text, and answers wrong by construction.

    Wrong are the expected answer with one fact changed (its only number, month or day of the week,
    else its last word); that of another question of the same kind, as it is, in many words and with
    stress; the expected answer called merely possible, the expected one beside another, and
    nothing. Of a question without an answer the right one is to say so, the wrong one another's
    answer.
    """

    def answers(self) -> Iterator[KnownAnswer]:
        own = self.settings
        domain = domain_of(own.domain)
        what = "questions with an answer"
        cases = cases_of(domain, own.n_cases, own.seed, lambda gold: gold.answer, what)
        by_kind: dict[tuple[str, bool], list[Case]] = defaultdict(list)
        for case in cases:
            by_kind[_kind(case)].append(case)
        for similar in by_kind.values():
            for place, case in enumerate(similar):
                yield from _of(case, _another(similar, place))


def _kind(case: Case) -> tuple[str, bool]:
    return case.gold.answer_kind, case.gold.decision == ABSTAIN


def _another(similar: list[Case], place: int) -> str | None:
    """The next answer of the kind that shares no word with this one; None where there is none."""
    own = set(similar[place].gold.answer.casefold().split())
    after = [*similar[place + 1 :], *similar[:place]]
    return next(
        (c.gold.answer for c in after if not own & set(c.gold.answer.casefold().split())), None
    )


def by_one_fact(expected: str, other: str | None) -> str | None:
    """An answer with one fact of it changed; None where it has none that can be told.

    A month or day of the week goes to the next, else a number that stands alone up by three in its
    last place (the rule for temporal questions forgives one); else the last of a few words is
    replaced by that of another answer.
    """
    for cycle in _CYCLES:
        found = list(re.finditer(rf"\b(?:{'|'.join(cycle)})\b", expected))
        if len(found) == 1:
            return _put(expected, found[0], cycle[(cycle.index(found[0].group()) + 1) % len(cycle)])
    numbers = list(_NUMBER.finditer(expected))
    if len(numbers) == 1:
        return _put(expected, numbers[0], _next(numbers[0].group()))
    if numbers:
        return None
    own, theirs = re.findall(r"[^\W\d_]+", expected), re.findall(r"[^\W\d_]+", other or "")
    if not 2 <= len(own) <= _FEW or not theirs or theirs[-1].casefold() == own[-1].casefold():
        return None
    head, _, tail = expected.rpartition(own[-1])
    return f"{head}{theirs[-1]}{tail}"


def _put(text: str, found: re.Match[str], other: str) -> str:
    return f"{text[: found.start()]}{other}{text[found.end() :]}"


def _next(number: str) -> str:
    """The number with its last place three higher, written as it is."""
    whole, _, part = number.replace(",", "").partition(".")
    digits = str(int(whole + part) + _STEP).zfill(len(whole + part))
    whole, part = (digits[: -len(part)], f".{digits[-len(part) :]}") if part else (digits, "")
    return (f"{int(whole):,}" if "," in number else whole) + part


def _of(case: Case, other: str | None) -> Iterator[KnownAnswer]:
    expected = case.gold.answer
    right = {"right": expected, "right, in many words": _WORDY.format(expected)}
    wrong = {"wrong: nothing": ""}
    if case.gold.decision == ABSTAIN:
        right = {"right": _ADMITTED, "right, in many words": _WORDY.format(_ADMITTED)}
    else:
        wrong["wrong: called possible"] = f"It may be {expected}, perhaps."
        if (changed := by_one_fact(expected, other)) is not None:
            wrong["wrong: by one fact"] = changed
    if other is not None:
        wrong["wrong: another's answer"] = other
        wrong["wrong: in many words"] = _WORDY.format(other)
        wrong["wrong: with stress"] = f"I am absolutely certain: {other}."
        if case.gold.decision != ABSTAIN:
            wrong["wrong: both"] = f"{expected}; {other}"
    for sorts, is_right in ((right, True), (wrong, False)):
        for sort, text in sorts.items():
            yield KnownAnswer(
                question=case.task.query,
                expected=expected,
                given=text,
                right=is_right,
                sort=sort,
                kind=case.gold.answer_kind,
            )
