"""What follows for a run from how often its judge is right on answers of known truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from framework.analysis.axes import axis_meta, correctable, corrected, verdicts_behind
from framework.analysis.forms import poolable
from framework.contracts import Axis
from framework.contracts.calibration import ErrorRates
from framework.records import Row
from framework.statistics.misclassification import (
    Corrected,
    corrected_difference,
    corrected_mean,
)
from framework.statistics.paired import compare
from framework.statistics.seeding import generator
from framework.text.canonical import canonical_json

NOT_KNOWN: Final = "judge's error not known"
Verdicts = Mapping[str, tuple[float, float]]
"""By case, or by row, the mean verdict and the share of answers with one."""


def with_error(
    rows: Sequence[Row],
    axes: Mapping[str, Mapping[str, Any]],
    known: Mapping[str, ErrorRates],
    judge_kind: str,
    seed: int,
    success_axis: str = "",
) -> dict[str, dict[str, Any]]:
    """Entries of a run or of a part of its cases, with what the judge's error makes of them.

    success_axis : the domain's, whose verdicts other axes may rest on (`Axis.of_success`).
    Those that `corrected_axes` makes are beside them. One of verdicts whose error is not known says
    so in `judge_error`, but for a rule-based judge without a calibration: its rule is the measure.
    """
    made = corrected_axes(rows, known, seed, success_axis) if known else {}
    if not known and judge_kind == "rule-based":
        return {axis: {**entry} for axis, entry in axes.items()}
    # Also where no answer has a verdict: what error it would have is known.
    told = {axis for axis, cls in correctable().items() if cls.demand_of(axis) in known}
    # What rests on a verdict whose error is known has nothing of its own that is not.
    meta = axis_meta("" if success_axis in told else success_axis)
    flags = {
        axis: {"judge_error": NOT_KNOWN}
        for axis, entry in axes.items()
        if meta.get(axis, {}).get("judged") and entry["n"] and axis not in told
    }
    return {**{axis: {**entry, **flags.get(axis, {})} for axis, entry in axes.items()}, **made}


def corrected_axes(
    rows: Sequence[Row], known: Mapping[str, ErrorRates], seed: int, success_axis: str = ""
) -> dict[str, dict[str, Any]]:
    """The judged shares of a run, corrected for the judge's error: entries of their own.

    Of columns that are verdicts (`Axis.corrected`), or shares of several, whose error is known; a
    row without a verdict (`Axis.has_verdict`) is as it is: all such are 0, or all 1. Rows of one
    case or cluster are not independent. What rests on which answers are right (`Axis.of_success`)
    is corrected where `success_axis` is such a column; what a default or a guess decided is 0,
    whatever the judge says of it.
    """
    entries: dict[str, dict[str, Any]] = {}
    good = sorted(poolable([row for row in rows if not row.error]), key=lambda row: row.key)
    of_axis = correctable()
    for name, axis in corrected().items():
        source = verdicts_behind(axis, success_axis)
        rates = known.get(of_axis[source].demand_of(source)) if source else None
        given = [row for row in good if None not in (row.axes.get(axis), row.axes.get(source))]
        parts = of_axis[axis].differences.get(axis, (axis,))
        if rates is None or not given or not _all_say(given, parts, of_axis[axis]):
            continue
        labels = [row.cluster or row.case_id for row in given]
        rng = generator(seed, "calibration", rates.set, axis)
        if len(parts) == 2:
            # By row, as the mean itself is: a case counts by the trials that define it.
            own = {canonical_json(list(row.key)): row for row in given}
            one, two = (
                {key: _verdict(row, part, of_axis[axis], False) for key, row in own.items()}
                for part in parts
            )
            alone = len(set(labels)) == len(labels)
            places = {
                key: None if alone else row.cluster or row.case_id for key, row in own.items()
            }
            found = _behind(one, two, rates.right, rates.wrong, places, seed, rates.set, axis)
        else:
            found = _share_behind(given, axis, of_axis[axis], labels, rates, rng)
        if found is None:
            continue
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


def _all_say(rows: Sequence[Row], columns: Sequence[str], of_axis: type[Axis[Any]]) -> bool:
    """Whether each row says of these columns if its value is the judge's."""
    return all(of_axis.has_verdict(row, name) is not None for row in rows for name in columns)


def _share_behind(
    rows: Sequence[Row],
    axis: str,
    of_axis: type[Axis[Any]],
    labels: Sequence[str],
    rates: ErrorRates,
    rng: np.random.Generator,
) -> Corrected | None:
    """The share behind a column of verdicts; None where no row has one."""
    judged = [bool(of_axis.has_verdict(row, axis)) for row in rows]
    if not any(judged):
        return None
    turned = _is_turned(rows, axis, of_axis)
    said = [
        abs((row.axes[axis] or 0.0) - turned) if met else None
        for row, met in zip(rows, judged, strict=True)
    ]
    found = corrected_mean(said, labels, *both_rates(rates, turned), rng)
    return turned_round(found) if turned else found


def _is_turned(rows: Sequence[Row], axis: str, of_axis: type[Axis[Any]]) -> bool:
    """Whether a value without a verdict is 1: then what is not right is counted instead."""
    return any(row.axes[axis] == 1 and not of_axis.has_verdict(row, axis) for row in rows)


def both_rates(rates: ErrorRates, turned: bool) -> tuple[tuple[int, int], tuple[int, int]]:
    """What was passed of right and of wrong; `turned`, what was refused of wrong and of right."""
    (right, of_right), (wrong, of_wrong) = rates.right, rates.wrong
    if turned:
        return (of_wrong - wrong, of_wrong), (of_right - right, of_right)
    return rates.right, rates.wrong


def turned_round(found: Corrected, of: float = 1.0) -> Corrected:
    """The share that is not this one; with 0, a difference the other way round."""
    share, low, high = (v if v is None else of - v for v in (found.share, found.high, found.low))
    return replace(found, share=share, low=low, high=high)


def corrected_pair(
    a: Sequence[Row],
    b: Sequence[Row],
    axis: str,
    rates: ErrorRates,
    seed: int,
    success_axis: str = "",
) -> dict[str, Any]:
    """The difference of two arms on a judged axis, corrected for the judge's error on both.

    On the cases where both arms have it; empty for an axis that is no verdicts of this error, that
    is a difference itself, or where no answer was judged. success_axis : as in `with_error`.
    """
    source = verdicts_behind(axis, success_axis)
    of_axis = correctable()
    if not source or of_axis[source].demand_of(source) != rates.demand:
        return {}
    if axis in of_axis[axis].differences:
        return {}
    kept = [
        [r for r in poolable([r for r in rows if not r.error]) if r.axes.get(axis) is not None]
        for rows in (a, b)
    ]
    if not all(_all_say(rows, (axis,), of_axis[axis]) for rows in kept):
        return {}
    turned = any(_is_turned(rows, axis, of_axis[axis]) for rows in kept)
    one, other = (_verdicts_by_case(rows, axis, of_axis[axis], turned) for rows in kept)
    clusters = {row.case_id: row.cluster or None for row in a}
    right, wrong = both_rates(rates, turned)
    found = _behind(one, other, right, wrong, clusters, seed, rates.set, axis)
    if found is None:
        return {}
    given = turned_round(found, 0.0) if turned else found
    return {
        "corrected_delta": given.share, "corrected_low": given.low,
        "corrected_high": given.high, "corrected_method": given.method,
    }  # fmt: skip


def _behind(
    a: Verdicts,
    b: Verdicts,
    right: tuple[int, int],
    wrong: tuple[int, int],
    clusters: Mapping[str, str | None],
    seed: int,
    *of: str,
) -> Corrected | None:
    """The difference behind that of verdicts; None where no answer was judged.

    clusters : of the same cases, or rows. of : what names the draws. `corrected_difference` says
    how, and what is assumed.
    """
    both, false = sorted(a.keys() & b.keys()), wrong[0] / wrong[1]
    if not any(side[case][1] for side in (a, b) for case in both):
        return None
    silent = any(side[case][1] < 1 for side in (a, b) for case in both)
    less = false if silent else 0.0
    first, second = ({c: side[c][0] - less * side[c][1] for c in both} for side in (a, b))
    names = ("calibration", *of)
    found = compare(first, second, clusters, seed=seed, names=names, amount=silent)
    shares = [sum(side[case][1] for case in both) / len(both) for side in (a, b)]
    return corrected_difference(
        found.interval, right, wrong, generator(seed, *names), judged=shares[0] - shares[1]
    )


def _verdicts_by_case(
    rows: Sequence[Row], axis: str, of_axis: type[Axis[Any]], turned: bool
) -> Verdicts:
    """By case, the mean verdict and the share of answers with one, over trials and repeats."""
    found: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        found.setdefault(row.case_id, []).append(_verdict(row, axis, of_axis, turned))
    return {
        case: (sum(v for v, _ in own) / len(own), sum(j for _, j in own) / len(own))
        for case, own in found.items()
    }


def _verdict(row: Row, axis: str, of_axis: type[Axis[Any]], turned: bool) -> tuple[float, float]:
    judged = bool(of_axis.has_verdict(row, axis))
    return (abs((row.axes[axis] or 0.0) - turned) if judged else 0.0, float(judged))


def of_error(
    known: Mapping[str, ErrorRates],
    kind: str,
    judged: Sequence[str],
    judge: str,
    success_axis: str = "",
) -> Iterator[str]:
    """What a reader must know of a judge's error, for the axes of a run that rest on its verdicts.

    Of a rule-based judge without a calibration nothing is said: there the rule is the measure.
    """
    of_axis = correctable()
    demands = {axis: of_axis[axis].demand_of(axis) for axis in judged if axis in of_axis}
    for demand, rates in known.items():
        names = {a: n for n, a in corrected().items() if demands.get(a) == demand}
        found = f"the judge {rates.told} of the set {rates.set}"
        rests = "what rests on which answers are right and " if success_axis in names else ""
        if names and rates.discrimination <= 0:
            yield f"{found}: its verdicts say nothing ({', '.join(names)})"
        elif names:
            yield (
                f"{found}, for which {', '.join(names.values())} allows, as do columns of "
                f"{rests}differences that are called corrected, with the same rates in every "
                "stratum, which is assumed; other differences, the cost of a success, p and gates "
                "are of the verdicts as they are: such a judge shows "
                f"{rates.discrimination:.2f} of a difference"
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
