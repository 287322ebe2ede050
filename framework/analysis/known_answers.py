"""How often a judge is right: its verdicts on answers of known truth, and what follows of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from framework.analysis.axes import corrected
from framework.analysis.forms import poolable
from framework.contracts import Client, Judge, maybe_await
from framework.contracts.calibration import ErrorRates, KnownAnswer
from framework.errors import DoesNotFit, ModelError, UnreadableError, UserError
from framework.records import ABSTAIN, Row
from framework.statistics.intervals import clopper_pearson, wilson
from framework.statistics.misclassification import corrected_difference, corrected_mean
from framework.statistics.paired import compare
from framework.statistics.seeding import generator

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
    they are in no rate.
    """

    judge: str
    set: str
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
        return ErrorRates(
            set=self.set, right=(right.passed, right.n), wrong=(wrong.passed, wrong.n)
        )

    def plain(self) -> dict[str, Any]:
        """As JSON values."""
        return {**asdict(self), "tells": self.tells}


async def verdicts(
    judge: Judge[Any], answers: Sequence[KnownAnswer], client: Client
) -> list[bool | None]:
    """The judge's verdict on each answer; None where what it said can't be read."""
    slots = asyncio.Semaphore(_AT_ONCE)

    async def one(known: KnownAnswer) -> bool | None:
        async with slots:
            try:
                found = await maybe_await(
                    judge.equivalent(
                        known.question, known.expected, known.given, known.kind, client
                    )
                )
            except (ModelError, UnreadableError, DoesNotFit):
                return None
            return found.met

    return list(await asyncio.gather(*(one(known) for known in answers)))


def calibration(
    judge: str, name: str, answers: Sequence[KnownAnswer], said: Sequence[bool | None]
) -> Calibration:
    """The rates of verdicts on answers, which are in the same order."""
    pairs = list(zip(answers, said, strict=True))
    sorts = dict.fromkeys(known.sort for known in answers)
    return Calibration(
        judge=judge,
        set=name,
        right=_rate(met for known, met in pairs if known.right),
        wrong=_rate(met for known, met in pairs if not known.right),
        sorts={s: _rate(met for known, met in pairs if known.sort == s) for s in sorts},
        abstained={
            s: n
            for s in sorts
            if (n := sum(known.sort == s and met is None for known, met in pairs))
        },
    )


def corrected_axes(rows: Sequence[Row], rates: ErrorRates, seed: int) -> dict[str, dict[str, Any]]:
    """The judged shares of a run, corrected for the judge's error: entries as of other axes.

    Of columns that are one verdict a row (`Axis.corrected`); an answer that abstains where one was
    expected is wrong without a verdict. Rows of one case or cluster are not independent.
    """
    good = sorted(poolable([row for row in rows if not row.error]), key=lambda row: row.key)
    entries: dict[str, dict[str, Any]] = {}
    for name, axis in corrected().items():
        given = [row for row in good if row.axes.get(axis) is not None]
        if not any(_is_judged(row) for row in given):
            continue
        labels = [row.cluster or row.case_id for row in given]
        found = corrected_mean(
            [row.axes[axis] if _is_judged(row) else None for row in given],
            labels,
            rates.right,
            rates.wrong,
            generator(seed, "calibration", rates.set, axis),
        )
        entries[name] = {
            "mean": found.share,
            "ci_low": found.low,
            "ci_high": found.high,
            "n": len({row.case_id for row in given}) if found.share is not None else 0,
            "n_clusters": None if len(set(labels)) == len(labels) else len(set(labels)),
            "method": found.method,
            "noise_sd": None,
        }
    return entries


def corrected_pair(
    a: Sequence[Row], b: Sequence[Row], axis: str, rates: ErrorRates, seed: int
) -> dict[str, Any]:
    """The difference of two arms on a judged axis, corrected for the judge's error on both.

    On the cases where both arms have it; empty for an axis that is no single verdict a row, or
    where no answer was judged. `corrected_difference` says how, and what is assumed.
    """
    right, wrong = rates.right, rates.wrong
    false = wrong[0] / wrong[1]
    sides = [_verdicts_by_case(rows, axis) for rows in (a, b)]
    both = sorted(sides[0].keys() & sides[1].keys())
    if axis not in corrected().values() or not any(s[c][1] for s in sides for c in both):
        return {}
    silent = any(side[case][1] < 1 for side in sides for case in both)
    less = false if silent else 0.0
    first, second = ({c: side[c][0] - less * side[c][1] for c in both} for side in sides)
    clusters = {row.case_id: row.cluster or None for row in a}
    names = ("calibration", rates.set, axis)
    found = compare(first, second, clusters, seed=seed, names=names, amount=silent)
    shares = [sum(side[case][1] for case in both) / len(both) for side in sides]
    given = corrected_difference(
        found.interval, right, wrong, generator(seed, *names), judged=shares[0] - shares[1]
    )
    return {
        "corrected_delta": given.share, "corrected_low": given.low,
        "corrected_high": given.high, "corrected_method": given.method,
    }  # fmt: skip


def _verdicts_by_case(rows: Sequence[Row], axis: str) -> dict[str, tuple[float, float]]:
    """By case, the mean verdict and the share of answers with one, over trials and repeats."""
    found: dict[str, list[tuple[float, bool]]] = {}
    for row in poolable([row for row in rows if not row.error]):
        if (value := row.axes.get(axis)) is not None:
            judged = _is_judged(row)
            found.setdefault(row.case_id, []).append((value if judged else 0.0, judged))
    return {
        case: (sum(v for v, _ in own) / len(own), sum(j for _, j in own) / len(own))
        for case, own in found.items()
    }


def of_error(
    rates: ErrorRates | None, kind: str, judged: Sequence[str], judge: str
) -> Iterator[str]:
    """What a reader must know of a judge's error, for the axes of a run that rest on its verdicts.

    Of a rule-based judge without a calibration nothing is said: there the rule is the measure.
    """
    names = {axis: name for name, axis in corrected().items() if axis in judged}
    if rates is not None and names:
        found = f"the judge {rates.told} of the set {rates.set}"
        if rates.discrimination <= 0:
            yield f"{found}: its verdicts say nothing ({', '.join(names)})"
        else:
            yield (
                f"{found}, for which {', '.join(names.values())} allows, as do differences that "
                "are called corrected; other differences, p and gates are of the verdicts as they "
                f"are: such a judge shows {rates.discrimination:.2f} of a difference"
            )
    elif names and kind == "llm":
        yield (
            f"the judge's error on {', '.join(names)} is not known: `decisionbench calibrate "
            f"{judge} --set NAME --out FILE`, with the judge's settings and a set of "
            "`list calibration`, measures it, and judge.calibration=FILE carries it into the "
            "interval"
        )
    others = ", ".join(axis for axis in judged if axis not in names)
    if others and (rates is not None or kind == "llm"):
        yield (
            f"the judge's error on {others} is not known, and nothing is corrected for it: "
            "`decisionbench label RUN` compares its verdicts with people's"
        )


def _is_judged(row: Row) -> bool:
    return row.decision != ABSTAIN or row.expected == ABSTAIN


def _rate(said: Iterable[bool | None]) -> Rate:
    judged = [met for met in said if met is not None]
    return Rate.of(sum(judged), len(judged))
