"""Rationales that hold some of a case's reasoning points, and some of them wrongly."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from framework.contracts import Client, Judge, Verdict, maybe_await
from framework.contracts.calibration import CalibrationSet, Known
from framework.records import Case, ReasoningPoint
from framework.registry import register
from plugins.calibrations._cases import cases_of, domain_of

_DIGIT: Final = re.compile(r"\d")
_BEFORE: Final = "Having gone through every document of the file once more, I find the following. "
_AFTER: Final = " This is what the record shows as far as I can tell, and I have kept to it."


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonsSettings:
    """Settings of the set `reasons`.

    domain : `plugin`, a domain whose gold has reasoning points, and that plugin's settings.
    n_cases : its first so many cases. seed : of the cases.
    """

    domain: Mapping[str, Any] = field(default_factory=lambda: {"plugin": "regulated"})
    n_cases: int = 100
    seed: int = 7

    def __post_init__(self) -> None:
        if self.n_cases < 2:
            raise ValueError(f"n_cases: {self.n_cases} given, 2 or more expected")


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownReason(Known):
    """Whether a rationale entails one of the points that a judge is asked about together."""

    rationale: str
    points: tuple[ReasoningPoint, ...]
    point: str

    @property
    def call(self) -> Hashable:
        return self.rationale, self.points

    async def ask(self, judge: Judge[Any], client: Client) -> Sequence[Verdict]:
        return await maybe_await(judge.entail(self.rationale, self.points, client))

    def met(self, verdicts: Sequence[Verdict]) -> bool:
        return {verdict.id: verdict.met for verdict in verdicts}[self.point]


@register("calibration", "reasons")
class Reasons(CalibrationSet[ReasonsSettings]):
    """Each reasoning point in the gold's words, and rationales wrong by construction.

    Right is a point in a rationale of all points, alone or in many words, and in one of every
    second point. Wrong are the points that this one leaves out; comparisons where the rationale is
    another case's, which has not their value; a point with the figure that it compares changed,
    with its relation turned round, called merely possible, or as bare figures; and an empty
    rationale. The judge is asked about all points of a case at once, as in a run, so its verdicts
    on one rationale need not err independently.
    """

    demand: ClassVar[str] = "entail"

    def answers(self) -> Iterator[KnownReason]:
        own = self.settings
        domain = domain_of(own.domain)
        cases = cases_of(domain, own.n_cases, own.seed, lambda g: g.reasons, "reasoning points")
        for case, other in zip(cases, [*cases[1:], cases[0]], strict=True):
            yield from _of(case, other)


def _of(case: Case, other: Case) -> Iterator[KnownReason]:
    points = case.gold.reasons
    texts = {point.id: point.text for point in points}
    every_second = dict(list(texts.items())[::2])
    foreign = sorted({point.text for point in other.gold.reasons})
    yield from _known("right", points, texts, right=True)
    yield from _known("right, in many words", points, texts, right=True, around=(_BEFORE, _AFTER))
    yield from _known("right, others left out", points, every_second, right=True)
    left = {name: "" for name in texts if name not in every_second}
    yield from _known("wrong: left out", points, left, said=[*every_second.values()])
    compared = {p.id: p.requires[-2][0] for p in points if p.relation}
    apart = {name: "" for name, value in compared.items() if not any(value in t for t in foreign)}
    yield from _known("wrong: another case's", points, apart, said=foreign)
    changes: Mapping[str, Callable[[ReasoningPoint], str | None]] = {
        "wrong: by one figure": _by_one_figure,
        "wrong: turned round": _turned_round,
        "wrong: called possible": _called_possible,
        "wrong: bare figures": _bare_figures,
        "wrong: nothing": lambda point: "",
    }
    for sort, change in changes.items():
        changed = {p.id: text for p in points if (text := change(p)) is not None}
        yield from _known(sort, points, changed)


def _known(
    sort: str,
    points: tuple[ReasoningPoint, ...],
    of: Mapping[str, str],
    *,
    right: bool = False,
    said: Sequence[str] | None = None,
    around: tuple[str, str] = ("", ""),
) -> Iterator[KnownReason]:
    """The points that `of` names, in a rationale of its texts, or of what is `said`."""
    text = " ".join(filter(None, of.values() if said is None else said))
    rationale = f"{around[0]}{text}{around[1]}" if text else ""
    for name in of:
        yield KnownReason(sort=sort, right=right, rationale=rationale, points=points, point=name)


def _by_one_figure(point: ReasoningPoint) -> str | None:
    """A comparison with the first digit of the value that it compares changed; None without one."""
    value = point.requires[-2][0] if point.relation else ""
    found = _DIGIT.search(value)
    if found is None or value not in point.text:
        return None
    at = point.text.index(value) + found.start()
    return f"{point.text[:at]}{int(point.text[at]) % 9 + 1}{point.text[at + 1 :]}"


def _turned_round(point: ReasoningPoint) -> str | None:
    """The point with its relation denied, or asserted where it was denied."""
    if not point.relation:
        return None
    if " is not " in point.text:
        return point.text.replace(" is not ", " is ", 1)
    return point.text.replace(" is ", " is not ", 1) if " is " in point.text else None


def _called_possible(point: ReasoningPoint) -> str:
    return f"It is possible, though not established, that {_lowered(point.text)}"


def _bare_figures(point: ReasoningPoint) -> str | None:
    """What is compared, its value and the threshold, without how they stand to one another."""
    if not point.relation:
        return None
    return ", ".join(group[0] for group in point.requires) + "."


def _lowered(text: str) -> str:
    first, _, rest = text.partition(" ")
    return f"{first.lower()} {rest}"
