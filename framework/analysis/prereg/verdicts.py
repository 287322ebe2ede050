"""Judging each hypothesis by rule on measured rows: supported, rejected, reversed, underpowered."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from framework.analysis.axes import signed
from framework.analysis.prereg.flags import RunInfo, flags
from framework.errors import UserError
from framework.statistics.bootstrap import RESAMPLES
from framework.statistics.comparison import case_means
from framework.statistics.paired import Comparison, compare
from framework.store.hypotheses import Hypothesis, Preregistration
from framework.store.register import Lock
from framework.text.counting import counted

Outcome = Literal["supported", "rejected", "reversed", "underpowered"]
_POINT_TOLERANCE: Final = 1e-9
_Values = dict[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Rows to judge by: mappings as `framework.statistics.comparison.case_means` takes them.

    A row that failed has `error` true, one that was not answered (`Row.state`) `state`: on an axis
    in [0, 1] its case counts as the worst for the claim where that is to be supported, and as the
    best where it is to be rejected or reversed; elsewhere as undefined. With `common_cases` arms
    are compared on the cases that all of a comparison have, as where one arm was measured on fewer;
    else different cases are an error.
    Rows to be told apart by setting have the configuration of their run as `config`.
    """

    rows: Sequence[Mapping[str, Any]]
    runs: Sequence[RunInfo]
    common_cases: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What came of one hypothesis.

    Attributes:
        hypothesis: as registered.
        outcome: by the rule of `judge`.
        by_point: what the estimates alone would say, as LongHorizon judged: not a verdict.
        estimate: the difference in the predicted direction, the least over the rivals.
        low: its decision bound at `level`, the least over the rivals.
        high: likewise.
        p: two-sided permutation p, the largest over the rivals.
        level: of the bounds, two-sided: 1 - alpha, adjusted.
        n: cases that counted, the fewest over the rivals.
        reason: one line for people.
    """

    hypothesis: Hypothesis
    outcome: Outcome
    by_point: Outcome
    estimate: float | None
    low: float | None
    high: float | None
    p: float | None
    level: float
    n: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Every verdict, and all that lessens it: `flags`, one line each, empty for a clean one."""

    plan: Preregistration
    verdicts: tuple[Verdict, ...]
    flags: tuple[str, ...]


def judge(
    plan: Preregistration,
    measured: Measured,
    entries: Sequence[Lock],
    *,
    resamples: int = RESAMPLES,
) -> Judgement:
    """Judge every hypothesis of a pre-registration.

    With the difference taken in the predicted direction, and bounds at one-sided alpha / 2:

    - *supported*: against every rival the lower bound is above the margin (non-inferiority: above
      minus the margin), and for "paired" the permutation p is below alpha.
    - *reversed* ("paired" only): against every rival the upper bound is below 0 and p below alpha.
    - *rejected*: against some rival the upper bound is below the margin (minus the margin).
    - *underpowered*: anything else, and always with fewer cases than planned.

    What failed never decides: it counts as the worst for whatever is to be shown.

    Primary hypotheses are adjusted as the file says. Holm's step-down: all are tested at alpha / m;
    while some are decided, the rest are tested again with m less by those. Exploratory ones are
    tested at alpha each.

    Args:
        plan: as it is now.
        measured: the rows, and the runs they come from.
        entries: of the register.
        resamples: of the bootstrap and the permutations.

    Raises:
        UserError: an arm, axis, budget or setting that no row has, or arms on different cases.
    """
    tests = {h.name: _tester(plan, h, measured, resamples) for h in plan.hypotheses}
    verdicts: dict[str, Verdict] = {}
    waiting = [h for h in plan.hypotheses if h.role == "primary"]
    while waiting:
        share = len(waiting) if plan.adjust == "holm" else 1
        found = {h.name: tests[h.name](h.alpha / share) for h in waiting}
        verdicts |= found
        left = [h for h in waiting if found[h.name].outcome == "underpowered"]
        if len(left) == len(waiting) or plan.adjust == "none":
            break
        waiting = left
    for h in plan.hypotheses:
        if h.name not in verdicts:
            verdicts[h.name] = tests[h.name](h.alpha)
    return Judgement(
        plan=plan,
        verdicts=tuple(verdicts[h.name] for h in plan.hypotheses),
        flags=(
            *flags(plan, entries, measured.runs),
            *_case_flags(plan, list(verdicts.values()), measured.runs),
        ),
    )


def _tester(
    plan: Preregistration, h: Hypothesis, measured: Measured, resamples: int
) -> Callable[[float], Verdict]:
    """A function from a two-sided alpha to the verdict at it.

    Cases are paired by id, at two settings too: where the generator makes another case of an id
    there, partners have nothing in common, which leaves the test right and gains it nothing.
    """
    rows = [row for row in measured.rows if row.get("budget") == h.budget]
    if not rows:
        known = sorted({str(row.get("budget")) for row in measured.rows})
        raise UserError(f"{h.name}: no row at budget {h.budget!r}; measured: {', '.join(known)}")
    mine = _at(h.name, rows, plan.base, h.setting)
    others = _at(h.name, rows, plan.base, h.against_setting)

    def columns(*, doubted: bool) -> tuple[_Values, dict[str, _Values]]:
        """The arm's values and its rivals': what failed is against the claim, or for it."""
        own = _column(h, mine, h.arm, high=(h.direction == "higher") != doubted)
        of = {r: _column(h, others, r, high=(h.direction == "lower") != doubted) for r in h.against}
        if measured.common_cases:
            shared = set.intersection(set(own), *(set(column) for column in of.values()))
            own = {c: v for c, v in own.items() if c in shared}
            of = {a: {c: v for c, v in col.items() if c in shared} for a, col in of.items()}
        return own, of

    worst, best = columns(doubted=True), columns(doubted=False)
    clusters = case_means(rows).clusters
    lower = h.direction == "lower"

    def compared(own: _Values, of: Mapping[str, _Values], alpha: float) -> list[Comparison]:
        found = []
        for rival in h.against:
            a, b = (of[rival], own) if lower else (own, of[rival])
            names = ("prereg", h.budget, h.axis, *sorted((h.arm, rival)))
            found.append(
                compare(
                    a,
                    b,
                    clusters,
                    seed=0,
                    names=names,
                    resamples=resamples,
                    alpha=alpha,
                    amount=h.axis in signed(),
                )
            )
        return found

    def test(alpha: float) -> Verdict:
        against = compared(*worst, alpha)
        return _verdict(h, against, against if best == worst else compared(*best, alpha), alpha)

    return test


def _at(
    name: str,
    rows: Sequence[Mapping[str, Any]],
    base: Mapping[str, Any],
    setting: Mapping[str, Any],
) -> Sequence[Mapping[str, Any]]:
    """The rows measured at the setting; all of them where the file has no base."""
    wanted = {**base, **setting}
    found = [row for row in rows if all(_value(row, k) == v for k, v in wanted.items())]
    if not found:
        said = ", ".join(f"{key}={value}" for key, value in wanted.items())
        raise UserError(f"{name}: no row was measured at {said}")
    return found


def _value(row: Mapping[str, Any], key: str) -> Any:
    found: Any = row.get("config")
    for part in key.split("."):
        if not isinstance(found, Mapping) or part not in found:
            raise UserError(f"base: the runs have no configuration key {key}")
        found = found[part]
    return found


def _column(h: Hypothesis, rows: Sequence[Mapping[str, Any]], arm: str, *, high: bool) -> _Values:
    """By case an arm's mean. high : whether what failed is at the high end of [0, 1]."""
    own = [row for row in rows if row["arm"] == arm]
    if not own:
        known = sorted({str(row["arm"]) for row in rows})
        raise UserError(f"{h.name}: no row of arm {arm!r}; measured: {', '.join(known)}")
    if not any(h.axis in row["axes"] for row in own):
        known = sorted({axis for row in own for axis in row["axes"]})
        raise UserError(f"{h.name}: no axis {h.axis!r} of arm {arm}; measured: {', '.join(known)}")
    end: float | None = float(high)
    failed = {str(row["case_id"]) for row in own if row.get("error") or _silent(row, h.axis)}
    (means,) = case_means(own).values.values()
    found = means.get(h.axis, {})
    if h.axis in signed() or not all(0 <= value <= 1 for value in found.values()):
        end = None
    return {
        case: end if case in failed else found.get(case)
        for case in sorted({str(row["case_id"]) for row in own})
    }


def _silent(row: Mapping[str, Any], axis: str) -> bool:
    """Whether nothing was answered, and so the axis is not known."""
    return bool(row.get("state")) and row["axes"].get(axis) is None


def _verdict(
    h: Hypothesis, compared: Sequence[Comparison], best: Sequence[Comparison], alpha: float
) -> Verdict:
    """By the worst for the claim; that it is false, by the best for it."""
    threshold = h.margin if h.test == "paired" else -h.margin
    deltas = [c.delta for c in compared]
    lows, highs = [c.bounds.low for c in compared], [c.bounds.high for c in compared]
    p_values = [c.permutation.p for c in compared]
    n = min(c.n for c in compared)

    def verdict(outcome: Outcome, reason: str) -> Verdict:
        return Verdict(
            hypothesis=h,
            outcome=outcome,
            by_point=_by_point(h, deltas, threshold),
            estimate=_least(deltas),
            low=_least(lows),
            high=_least(highs),
            p=None if None in p_values else max(p for p in p_values if p is not None),
            level=1 - alpha,
            n=n,
            reason=reason,
        )

    if n < h.n:
        return verdict("underpowered", f"{counted(n, 'case')} where {h.n} were planned")
    significant = [h.test == "noninferiority" or (p is not None and p < alpha) for p in p_values]
    if all(low is not None and low > threshold for low in lows) and all(significant):
        return verdict("supported", f"lower bound above {threshold:+.3f}")
    if h.test == "paired" and all(
        c.bounds.high is not None
        and c.bounds.high < 0
        and c.permutation.p is not None
        and c.permutation.p < alpha
        for c in best
    ):
        return verdict("reversed", "the opposite holds: upper bound below 0")
    if any(c.bounds.high is not None and c.bounds.high < threshold for c in best):
        return verdict("rejected", f"upper bound below {threshold:+.3f}")
    smallest = [c.permutation.smallest_p for c in compared]
    if h.test == "paired" and any(s is None or s >= alpha for s in smallest):
        return verdict("underpowered", f"{counted(n, 'case')} can't reach p below {alpha:.4f}")
    if None in lows:
        return verdict(
            "underpowered", next(c.bounds.method for c in compared if c.bounds.low is None)
        )
    if any(high is not None and high < threshold for high in highs):
        return verdict("underpowered", "nothing but what failed speaks against it")
    return verdict("underpowered", f"the bounds hold {threshold:+.3f}")


def _by_point(h: Hypothesis, deltas: Sequence[float | None], threshold: float) -> Outcome:
    found = [d for d in deltas if d is not None]
    if len(found) < len(deltas):
        return "underpowered"
    if min(found) >= threshold - _POINT_TOLERANCE:
        return "supported"
    if h.test == "paired" and max(found) < 0:
        return "reversed"
    return "rejected"


def _least(values: Sequence[float | None]) -> float | None:
    found = [v for v in values if v is not None and not math.isnan(v)]
    return min(found) if len(found) == len(values) else None


def _case_flags(
    plan: Preregistration, verdicts: Sequence[Verdict], runs: Sequence[RunInfo]
) -> list[str]:
    found = [
        f"{v.hypothesis.name}: {counted(v.n, 'case')} where {v.hypothesis.n} were planned and the "
        "number was fixed"
        for v in verdicts
        if plan.stop == "fixed" and v.n > v.hypothesis.n
    ]
    found += [f"{run.name}: {counted(run.n_errors, 'row')} failed" for run in runs if run.n_errors]
    return found
