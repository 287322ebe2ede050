"""Judges beside each other: the same answers, judged by several, from runs, sweeps and tables."""

from __future__ import annotations

import csv
import dataclasses
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any, Final, NamedTuple

from framework.analysis.axes import axis_meta
from framework.analysis.evidence import Job
from framework.errors import DataError, UserError
from framework.records import Row
from framework.rows import NAMES
from framework.statistics.agreement import (
    agreement,
    agreement_limits,
    krippendorffs_alpha,
)
from framework.store.state import FinishedRun

_ARM: Final = ("arm", "condition")
_BUDGET: Final = ("budget", "budget_label")


class Key(NamedTuple):
    """What was judged: one answer."""

    case_id: str
    arm: str
    budget: str
    trial: int = 0
    repeat: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One judge's values by axis and answer.

    answers : by answer, what tells it from another: two judges must have seen the same. Empty for a
        table, which does not say.
    """

    judge: str
    values: Mapping[str, Mapping[Key, float]]
    answers: Mapping[Key, tuple[str, int]] = field(default_factory=dict)


def judged_in_runs(name: str, runs: Sequence[FinishedRun | Job]) -> Judged:
    """What the judge of these runs, one or a sweep's, said. Rows with an error are left out."""
    values: dict[str, dict[Key, float]] = defaultdict(dict)
    answers: dict[Key, tuple[str, int]] = {}
    for run in runs:
        budget = run.summary["run"]["budget"]
        for row in run.rows:
            if row.error:
                continue
            key = _key(row, budget)
            answers[key] = (row.decision, row.view_tokens)
            for axis, value in row.axes.items():
                if value is not None:
                    values[axis][key] = value
    return Judged(judge=name, values=values, answers=answers)


def judged_in_table(path: Path) -> list[Judged]:
    """The judges of a CSV file: a column JUDGE_AXIS each, `case_id`, and `arm` and `budget`.

    `condition` and `budget_label` are read as `arm` and `budget`; a column that is missing stands
    for one and the same. Raises UserError for a file without such columns, DataError naming the
    line of a value that is no number.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            columns = _columns(path, reader.fieldnames or ())
            found: dict[str, dict[str, dict[Key, float]]] = {}
            for record in reader:
                key = _table_key(path, reader.line_num, record)
                for column, (judge, axis) in columns.items():
                    text = (record[column] or "").strip()
                    if text:
                        by_axis = found.setdefault(judge, {}).setdefault(axis, {})
                        if key in by_axis:
                            raise DataError(path, reader.line_num, f"{column}: judged twice")
                        by_axis[key] = _number(path, reader.line_num, column, text)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: can't be read: {error}") from None
    return [Judged(judge=judge, values=values) for judge, values in found.items()]


def compare_judges(judges: Sequence[Judged], axes: Sequence[str], seed: int = 0) -> dict[str, Any]:
    """Agreement by axis and pair of judges, and on which paired comparisons the direction is kept.

    Returns `agreement` (see `framework.statistics.agreement`; `limits` are bootstrapped over cases
    by `seed`), `alpha` (Krippendorff's, of all
    judges, by axis) and `directions` (by axis, pair of judges, budget and pair of arms; repeats
    are averaged within their case). Raises UserError for fewer than two judges, or runs that do not
    hold the same answers.
    """
    if len(judges) < 2:
        raise UserError("judges: at least two judges are needed: two runs, or a table of several")
    _check_same_answers(judges)
    rows, alphas, directions = [], {}, []
    for axis in axes:
        with_axis = [j for j in judges if j.values.get(axis)]
        for a, b in combinations(with_axis, 2):
            x, y = a.values[axis], b.values[axis]
            shared = [key for key in x if key in y]
            if not shared:
                continue
            of_a, of_b = [x[key] for key in shared], [y[key] for key in shared]
            names = {"axis": axis, "judge_a": a.judge, "judge_b": b.judge}
            cases = [key.case_id for key in shared]
            limits = agreement_limits(of_a, of_b, cases, seed=seed, names=tuple(names.values()))
            figures = dataclasses.asdict(agreement(of_a, of_b))
            rows.append({**names, **figures, "n_cases": len(set(cases)), "limits": limits})
            directions += [{**names, **found} for found in _directions(x, y)]
        if len(with_axis) > 1:
            units = list(dict.fromkeys(key for j in with_axis for key in j.values[axis]))
            alphas[axis] = krippendorffs_alpha(
                [[j.values[axis].get(key) for key in units] for j in with_axis]
            )
    if not rows:
        raise UserError("judges: no answer was judged by two of them on the same axis")
    return {"agreement": rows, "alpha": alphas, "directions": directions}


def _directions(x: Mapping[Key, float], y: Mapping[Key, float]) -> list[dict[str, Any]]:
    """By budget and pair of arms."""
    means = [_by_case(values) for values in (x, y)]
    found = []
    for budget in sorted({budget for budget, _ in means[0]}):
        arms = sorted(arm for b, arm in means[0] if b == budget and (b, arm) in means[1])
        for one, other in combinations(arms, 2):
            pairs = [
                {
                    case: (of[budget, one][case], of[budget, other][case])
                    for case in of[budget, one]
                    if case in of[budget, other]
                }
                for of in means
            ]
            kept = direction_kept(*pairs)
            if kept["n"]:
                found.append({"budget": budget, "arm_a": one, "arm_b": other, **kept})
    return found


def direction_kept(
    a: Mapping[str, tuple[float, float]], b: Mapping[str, tuple[float, float]]
) -> dict[str, int]:
    """On how many cases two judges see the same sign of the difference of two arms.

    kept : the same sign, ties included; ties : both see none; reversed : opposite signs; the rest
    of `n` is a tie to one of them alone.

    Args:
        a: by case, the values that one judge gave the two arms.
        b: those that the other gave. Cases of one judge alone are left out.
    """
    signs = [
        tuple((first > second) - (first < second) for first, second in (a[case], b[case]))
        for case in a
        if case in b
    ]
    return {
        "n": len(signs),
        "kept": sum(x == y for x, y in signs),
        "ties": sum(x == y == 0 for x, y in signs),
        "reversed": sum(x * y < 0 for x, y in signs),
    }


def _by_case(values: Mapping[Key, float]) -> dict[tuple[str, str], dict[str, float]]:
    """(budget, arm) -> case -> mean over trials and repeats."""
    grouped: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for key, value in values.items():
        grouped[key.budget, key.arm][key.case_id].append(value)
    return {
        place: {case: fmean(found) for case, found in cases.items()}
        for place, cases in grouped.items()
    }


def _check_same_answers(judges: Sequence[Judged]) -> None:
    for a, b in combinations([j for j in judges if j.answers], 2):
        for key, answer in a.answers.items():
            if b.answers.get(key, answer) != answer:
                raise UserError(
                    f"judges: {a.judge} and {b.judge} did not judge the same answers: case "
                    f"{key.case_id}, arm {key.arm}; use `decisionbench rescore`"
                )


def _key(row: Row, budget: str) -> Key:
    return Key(row.case_id, row.arm, budget, row.trial, row.repeat)


def _columns(path: Path, names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Column -> (judge, axis), the longest axis that ends it."""
    known = sorted(axis_meta(), key=len, reverse=True)
    columns = {}
    for name in names:
        axis = next((a for a in known if name.lower().endswith(f"_{a}")), None)
        if axis is not None:
            columns[name] = (name[: -len(axis) - 1], axis)
    if "case_id" not in names or not columns:
        raise UserError(f"{path}: columns case_id and JUDGE_AXIS expected, as haiku_rcs")
    return columns


def _table_key(path: Path, line: int, record: Mapping[str, str]) -> Key:
    arm, budget = (next((record[n] for n in names if n in record), "") for names in (_ARM, _BUDGET))
    record = {NAMES.get(name, name): value for name, value in record.items()}
    numbers = [
        int(_number(path, line, name, record.get(name) or "0")) for name in ("trial", "repeat")
    ]
    return Key(record["case_id"], arm, budget, *numbers)


def _number(path: Path, line: int, column: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if value - value != 0:
        raise DataError(path, line, f"{column}: a number expected, {text!r} found")
    return value
