"""Answers made from a domain's own questions: right ones, and wrong ones of several sorts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from framework.contracts.calibration import CalibrationSet, KnownAnswer
from framework.contracts.domain import Domain
from framework.errors import UserError
from framework.records import ABSTAIN, Case
from framework.registry import find, register, settings_of

_ADMITTED = "There is no information about that in the record."
_WORDY = (
    "Thank you for asking. I have gone through what was said in every conversation that I could "
    "find, and as far as the record goes the answer to your question is this: {}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsSettings:
    """Settings of the set `questions`.

    domain : `plugin`, a domain that asks questions, and that plugin's settings.
    n_cases : its first so many cases. seed : of the cases.
    """

    domain: Mapping[str, Any] = field(default_factory=lambda: {"plugin": "longmemeval_synthetic"})
    n_cases: int = 200
    seed: int = 7

    def __post_init__(self) -> None:
        if self.n_cases < 2:
            raise ValueError(f"n_cases: {self.n_cases} given, 2 or more expected")


@register("calibration", "questions")
class Questions(CalibrationSet[QuestionsSettings]):
    """The expected answer, bare and in many words; and answers that are wrong by construction.

    Wrong are the expected answer of another question of the same kind, as it is and with stress,
    the expected answer called merely possible, the expected one beside another, and nothing. Of a
    question without an answer the right one is to say so, the wrong one another's answer.
    """

    def answers(self) -> Iterator[KnownAnswer]:
        given = self.settings.domain
        if not isinstance(given.get("plugin"), str):
            raise UserError("calibration.domain.plugin: the name of a domain expected")
        plugin = find("domain", given["plugin"])
        rest = {key: value for key, value in given.items() if key != "plugin"}
        domain: Domain[Any] = plugin.cls(settings_of(plugin, rest))
        cases = [
            case
            for case in domain.cases(self.settings.n_cases, self.settings.seed)
            if case.gold.answer
        ]
        if not cases:
            raise UserError(
                f"calibration.domain.plugin: {plugin.name} has no questions with an answer"
            )
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


def _of(case: Case, other: str | None) -> Iterator[KnownAnswer]:
    expected = case.gold.answer
    right = {"right": expected, "right, in many words": _WORDY.format(expected)}
    wrong = {"wrong: nothing": ""}
    if case.gold.decision == ABSTAIN:
        right = {"right": _ADMITTED, "right, in many words": _WORDY.format(_ADMITTED)}
    else:
        wrong["wrong: called possible"] = f"It may be {expected}, perhaps."
    if other is not None:
        wrong["wrong: another's answer"] = other
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
