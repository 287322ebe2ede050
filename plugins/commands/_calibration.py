"""How often a judge is right: its verdicts on answers of known truth."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from framework.contracts import Client, Judge, Verdict
from framework.contracts.calibration import ErrorRates, Known
from framework.errors import DoesNotFit, ModelError, UnreadableError, UserError
from framework.statistics.intervals import clopper_pearson, wilson

_AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Answers that a judge passed, of so many that it judged, with 95% limits of the share."""

    passed: int
    n: int
    low: float | None
    high: float | None

    @classmethod
    def of(cls, passed: int, n: int) -> Rate:
        """Wilson's limits; Clopper and Pearson's where all passed or none."""
        if not n:
            return cls(passed=0, n=0, low=None, high=None)
        low, high = (wilson if 0 < passed < n else clopper_pearson)(passed, n)
        return cls(passed=passed, n=n, low=low, high=high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A judge's verdicts on a set.

    right, wrong : the answers of each truth: `right` is its sensitivity, `wrong` 1 less its
    specificity. sorts : the same by sort. abstained : answers that it gave no verdict on, by sort;
    they are in no rate. demand : the set's.
    """

    judge: str
    set: str
    demand: str
    right: Rate
    wrong: Rate
    sorts: Mapping[str, Rate]
    abstained: Mapping[str, int]

    @property
    def tells(self) -> bool | None:
        """Whether it passes right answers more often than wrong ones: shown, refuted or open.

        By the limits of both rates, which is cautious.
        """
        right, wrong = self.right, self.wrong
        if None in (right.low, right.high, wrong.low, wrong.high):
            return None
        if (right.low or 0) > (wrong.high or 0):
            return True
        return False if (right.high or 0) < (wrong.low or 0) else None

    @property
    def rates(self) -> ErrorRates:
        """What a run's shares are corrected by. Raises UserError without verdicts of both kinds."""
        right, wrong = self.right, self.wrong
        if not right.n or not wrong.n:
            raise UserError("a correction needs the judge's verdicts on right and on wrong answers")
        counts = {"right": (right.passed, right.n), "wrong": (wrong.passed, wrong.n)}
        return ErrorRates(set=self.set, demand=self.demand, **counts)

    def plain(self) -> dict[str, Any]:
        """As JSON values."""
        return {**asdict(self), "tells": self.tells}


async def verdicts(
    judge: Judge[Any], answers: Sequence[Known], client: Client
) -> list[bool | None]:
    """The judge's verdict on each answer; None where what it said can't be read."""
    slots = asyncio.Semaphore(_AT_ONCE)

    async def one(known: Known) -> Sequence[Verdict] | None:
        async with slots:
            try:
                return await known.ask(judge, client)
            except (ModelError, UnreadableError, DoesNotFit):
                return None

    calls = {known.call: known for known in answers}
    given = await asyncio.gather(*map(one, calls.values()))
    said = dict(zip(calls, given, strict=True))
    return [None if (found := said[known.call]) is None else known.met(found) for known in answers]


def calibration(
    judge: str,
    name: str,
    answers: Sequence[Known],
    said: Sequence[bool | None],
    demand: str,
) -> Calibration:
    """The rates of verdicts on answers, which are in the same order."""
    pairs = list(zip(answers, said, strict=True))
    sorts = dict.fromkeys(known.sort for known in answers)
    return Calibration(
        judge=judge,
        set=name,
        demand=demand,
        right=_rate(met for known, met in pairs if known.right),
        wrong=_rate(met for known, met in pairs if not known.right),
        sorts={s: _rate(met for known, met in pairs if known.sort == s) for s in sorts},
        abstained={
            s: n
            for s in sorts
            if (n := sum(known.sort == s and met is None for known, met in pairs))
        },
    )


def _rate(said: Iterable[bool | None]) -> Rate:
    judged = [met for met in said if met is not None]
    return Rate.of(sum(judged), len(judged))
