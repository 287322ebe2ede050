"""The same tables, corrected: strict labels, abstentions counted, exact tests, cases as the unit.

FRP and RCS stay as recorded: only the first 220 characters of each rationale were kept, so they
can't be scored again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from framework.contracts.recipe import PrintedCell, PrintedTable
from framework.statistics.intervals import Interval, mean_interval
from framework.statistics.multiplicity import holm
from framework.statistics.noninferiority import noninferiority
from framework.statistics.paired import Comparison, compare
from plugins.recipes._cells import count, number, said
from plugins.recipes._paper_values import printed_numbers
from plugins.recipes.longhorizon._rows import ABSTAIN, ADVERSE, BUDGETS, Recorded
from plugins.recipes.longhorizon.convention import SEED as _SEED

SLACK: Final = 0.05
"""The non-inferiority margin of the paper's gates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """A comparison of one of the paper's tables with its p adjusted over that table."""

    label: str
    found: Comparison
    holm_p: float | None


def value_of(row: Recorded, axis: str) -> float | None:
    """The corrected value of a row, ``None`` where the axis is undefined.

    EDA: the strict label is the true one. CRR: where the true decision needs a notice, whether the
    audited output passed and its decision is right; elsewhere undefined.
    """
    if axis == "EDA":
        return float(row.correct)
    if axis == "CRR":
        if row.gold not in ADVERSE:
            return None
        return row.axes["CRR"] if row.correct else 0.0
    return row.axes[axis]


def corrected_axis(rows: Iterable[Recorded], arm: str, axis: str) -> Interval:
    """Mean of an arm over its cases, budgets averaged within a case, with its interval."""
    found = [row for row in rows if row.arm == arm]
    return mean_interval(
        [value_of(row, axis) for row in found], [row.case_id for row in found], seed=_SEED
    )


def adjusted_tests(rows: Sequence[Recorded], table: int) -> list[Tested]:
    """The comparisons of Table 3 or 6, corrected and adjusted over the table (Holm)."""
    printed = printed_numbers("longhorizon")[f"table_{table}"]
    if table == 3:
        asked = [("Summ-only", other, budget, axis) for other, budget, axis, *_ in printed]
    else:
        asked = [("DPM", "Summ-only", budget, axis) for budget, axis, *_ in printed]
    found = [compared(rows, *words) for words in asked]
    defined = [c.permutation.p for c in found if c.permutation.p is not None]
    adjusted = iter(holm(defined))
    labels = [" ".join(words[1:] if table == 3 else words[2:]) for words in asked]
    return [
        Tested(label=label, found=c, holm_p=None if c.permutation.p is None else next(adjusted))
        for label, c in zip(labels, found, strict=True)
    ]


def corrected_tables(rows: Sequence[Recorded]) -> list[PrintedTable]:
    """Tables 2 to 8 corrected; Table 1 is a part of Table 2."""
    return [
        _means(rows),
        _tests(3, "Summ-only minus ..., exact, by case", adjusted_tests(rows, 3)),
        _hypotheses(rows),
        _gate(rows),
        _tests(6, "DPM minus Summ-only, exact, by case", adjusted_tests(rows, 6)),
        _commitment(rows, 7, "every arm's abstentions, moderate budget", swept=False),
        _commitment(rows, 8, "strictness of verification, moderate budget", swept=True),
    ]


def compared(rows: Sequence[Recorded], a: str, b: str, budget: str, axis: str) -> Comparison:
    """Arm a minus arm b on the cases that both have, corrected."""
    left, right = (
        {r.case_id: value_of(r, axis) for r in rows if r.arm == arm and r.budget == budget}
        for arm in (a, b)
    )
    common = left.keys() & right.keys()
    return compare(
        {case: left[case] for case in common},
        {case: right[case] for case in common},
        seed=_SEED,
        names=(budget, axis, *sorted((a, b))),
    )


def _means(rows: Sequence[Recorded]) -> PrintedTable:
    lines = []
    arms = list(dict.fromkeys(row.arm for row in rows if "(" not in row.arm))
    for arm in arms:
        intervals = [corrected_axis(rows, arm, axis) for axis in ("FRP", "RCS", "EDA", "CRR")]
        found = [row for row in rows if row.arm == arm]
        cases = len({row.case_id for row in found})
        abstained = sum(row.label == ABSTAIN for row in found)
        cells = [*(_interval(i) for i in intervals), count(len(found)), count(cases)]
        lines.append((arm, (*cells, count(abstained))))
    columns = ("FRP", "RCS", "EDA strict", "CRR with EDA", "rows", "cases", "abstained")
    title = "means over cases (budgets averaged within a case), 95% interval"
    return PrintedTable(number=2, title=title, columns=columns, rows=tuple(lines))


def _tests(table: int, title: str, found: Sequence[Tested]) -> PrintedTable:
    lines = []
    for test in found:
        c = test.found
        differs = test.holm_p is not None and test.holm_p < 0.05
        verdict = "differs" if differs else "undecided"
        cells = (
            number(c.delta, sign=True),
            said(_limits(c.interval)),
            number(c.permutation.p, digits=4),
            number(test.holm_p, digits=4),
            number(c.permutation.smallest_p, digits=4),
            count(c.n),
            said("cannot conclude" if c.cannot_conclude else verdict),
        )
        lines.append((test.label, cells))
    columns = ("delta", "95% interval", "exact p", "Holm p", "smallest p", "n", "verdict")
    return PrintedTable(number=table, title=title, columns=columns, rows=tuple(lines))


def _hypotheses(rows: Sequence[Recorded]) -> PrintedTable:
    lines = []
    for budget in BUDGETS:
        h1 = compared(rows, "Retr-only", "Summ-only", budget, "FRP")
        h2 = compared(rows, "Summ-only", "Retr-only", budget, "RCS")
        # Above both baselines: against each, not against the better one picked afterwards.
        h3 = [compared(rows, "TMC", base, budget, "EDA") for base in ("Summ-only", "Retr-only")]
        cells = [
            PrintedCell(
                value=c.delta, text=f"{100 * (c.delta or 0.0):+.1f} {_limits(c.interval, 100)}"
            )
            for c in (h1, h2, *h3)
        ]
        lines.append((budget, tuple(cells)))
    columns = ("H1 FRP Retr - Summ", "H2 RCS Summ - Retr", "H3 EDA TMC - Summ", "TMC - Retr")
    title = "the three hypotheses, percentage points with 95% intervals"
    return PrintedTable(number=4, title=title, columns=columns, rows=tuple(lines))


def _gate(rows: Sequence[Recorded]) -> PrintedTable:
    lines = []
    for axis in ("EDA", "FRP", "RCS"):
        found = compared(rows, "SAM", "Summ-only", "moderate", axis)
        decision = noninferiority(found, SLACK)
        cells = (
            number(found.delta, sign=True),
            said(_limits(found.bounds)),
            said(decision.conclusion),
            said(decision.reason),
        )
        lines.append((axis, cells))
    columns = ("delta", "decision bounds", "outcome", "why")
    title = f"the gate of SAM by its bound, margin {SLACK}"
    return PrintedTable(number=5, title=title, columns=columns, rows=tuple(lines))


def _commitment(rows: Sequence[Recorded], table: int, title: str, *, swept: bool) -> PrintedTable:
    lines = []
    here = [row for row in rows if row.budget == "moderate"]
    for arm in dict.fromkeys(row.arm for row in here if ("(" in row.arm) is swept):
        found = [row for row in here if row.arm == arm]
        committed = [row for row in found if row.label != ABSTAIN]
        right = sum(row.correct for row in committed)
        n = len(found)
        cells = (
            count(n),
            _interval(_share(len(committed), n)),
            _interval(_share(right, len(committed))),
            _interval(_share(right, n)),
            count(n - len(committed)),
        )
        lines.append((arm, cells))
    columns = ("n", "commit rate", "cond. accuracy", "commit-all accuracy", "abstained")
    return PrintedTable(number=table, title=title, columns=columns, rows=tuple(lines))


def _share(successes: int, n: int) -> Interval:
    return mean_interval([1.0] * successes + [0.0] * (n - successes), seed=_SEED)


def _interval(found: Interval) -> PrintedCell:
    if found.mean is None:
        return said(f"- ({found.method})")
    return PrintedCell(value=found.mean, text=f"{found.mean:.3f} {_limits(found)}")


def _limits(found: Any, scale: float = 1.0) -> str:
    if found.low is None or found.high is None:
        return f"({found.method})"
    digits = 1 if scale == 100 else 3
    return f"[{scale * found.low:.{digits}f}, {scale * found.high:.{digits}f}]"
