"""What follows for a run from how often its judge is right on answers of known truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from framework.analysis.axes import correctable, corrected
from framework.analysis.forms import poolable
from framework.contracts import Axis
from framework.contracts.calibration import ErrorRates
from framework.records import Row
from framework.statistics.intervals import Interval, as_values, is_binary
from framework.statistics.misclassification import (
    corrected_amount,
    corrected_difference,
    corrected_mean,
)
from framework.statistics.paired import compare
from framework.statistics.seeding import generator

_ENTRY: Final = {
    "mean": "mean", "low": "ci_low", "high": "ci_high", "n": "n", "n_clusters": "n_clusters",
    "method": "method",
}  # fmt: skip
"""What an interval takes from an axis's entry."""


def corrected_axes(
    rows: Sequence[Row],
    axes: Mapping[str, Mapping[str, Any]],
    known: Mapping[str, ErrorRates],
    seed: int,
) -> dict[str, dict[str, Any]]:
    """The judged shares of a run, corrected for the judge's error: entries as of `axes`, its own.

    Of columns that are verdicts (`Axis.corrected`) whose error is known; a row without a verdict
    (`Axis.has_verdict`) is wrong as it is. Rows of one case or cluster are not independent.
    """
    entries: dict[str, dict[str, Any]] = {}
    if not known:
        return entries
    good = sorted(poolable([row for row in rows if not row.error]), key=lambda row: row.key)
    of_axis = correctable()
    for name, axis in corrected().items():
        given = [row for row in good if row.axes.get(axis) is not None]
        rates = known.get(of_axis[axis].demand)
        judged = [of_axis[axis].has_verdict(row) for row in given]
        if rates is None or not any(judged):
            continue
        labels = [row.cluster or row.case_id for row in given]
        values = [row.axes[axis] if met else None for row, met in zip(given, judged, strict=True)]
        rng = generator(seed, "calibration", rates.set, axis)
        if is_binary(as_values([value for value in values if value is not None])):
            found = corrected_mean(values, labels, rates.right, rates.wrong, rng)
        else:
            mean = Interval(**{to: axes[axis][of] for to, of in _ENTRY.items()})
            share = sum(judged) / len(judged)
            found = corrected_amount(mean, rates.right, rates.wrong, rng, judged=share)
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

    On the cases where both arms have it; empty for an axis that is no verdicts of this error, or
    where no answer was judged. `corrected_difference` says how, and what is assumed.
    """
    right, wrong = rates.right, rates.wrong
    false = wrong[0] / wrong[1]
    of_axis = correctable().get(axis)
    if of_axis is None or of_axis.demand != rates.demand:
        return {}
    sides = [_verdicts_by_case(rows, axis, of_axis) for rows in (a, b)]
    both = sorted(sides[0].keys() & sides[1].keys())
    if not any(s[c][1] for s in sides for c in both):
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


def _verdicts_by_case(
    rows: Sequence[Row], axis: str, of_axis: type[Axis[Any]]
) -> dict[str, tuple[float, float]]:
    """By case, the mean verdict and the share of answers with one, over trials and repeats."""
    found: dict[str, list[tuple[float, bool]]] = {}
    for row in poolable([row for row in rows if not row.error]):
        if (value := row.axes.get(axis)) is not None:
            judged = of_axis.has_verdict(row)
            found.setdefault(row.case_id, []).append((value if judged else 0.0, judged))
    return {
        case: (sum(v for v, _ in own) / len(own), sum(j for _, j in own) / len(own))
        for case, own in found.items()
    }


def of_error(
    known: Mapping[str, ErrorRates], kind: str, judged: Sequence[str], judge: str
) -> Iterator[str]:
    """What a reader must know of a judge's error, for the axes of a run that rest on its verdicts.

    Of a rule-based judge without a calibration nothing is said: there the rule is the measure.
    """
    of_axis = correctable()
    demands = {axis: of_axis[axis].demand for axis in judged if axis in of_axis}
    for demand, rates in known.items():
        names = {a: n for n, a in corrected().items() if demands.get(a) == demand}
        found = f"the judge {rates.told} of the set {rates.set}"
        if names and rates.discrimination <= 0:
            yield f"{found}: its verdicts say nothing ({', '.join(names)})"
        elif names:
            yield (
                f"{found}, for which {', '.join(names.values())} allows, as do differences that "
                "are called corrected; other differences, p and gates are of the verdicts as they "
                f"are: such a judge shows {rates.discrimination:.2f} of a difference"
            )
    if (unknown := [a for a in demands if demands[a] not in known]) and (known or kind == "llm"):
        yield (
            f"the judge's error on {', '.join(unknown)} is not known: `decisionbench calibrate "
            f"{judge} --set NAME --out FILE`, with the judge's settings and a set of "
            "`list calibration`, measures it, and judge.calibration=FILE carries it into the "
            "interval"
        )
    others = ", ".join(axis for axis in judged if axis not in demands)
    if others and (known or kind == "llm"):
        yield (
            f"the judge's error on {others} is not known, and nothing is corrected for it: "
            "`decisionbench label RUN` compares its verdicts with people's"
        )
