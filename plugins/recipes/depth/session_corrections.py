"""A correction half way through a series of sessions: is it honoured, and what does it cost?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from framework.analysis.evidence import Job
from framework.contracts.recipe import AddFigure
from framework.errors import UserError
from framework.records import Row
from framework.registry import register
from framework.reporting.blocks import NOTHING, Block, Cell, Table, Text
from framework.statistics.intervals import mean_interval
from framework.text.counting import counted
from plugins.recipes._cells import Measured, of_interval, shown
from plugins.recipes.depth._knobs import Sweep
from plugins.recipes.depth._sessions import with_sessions

NEEDS: Final = "its sweep: decisionbench +experiment=precedents"


@dataclass(frozen=True, slots=True, kw_only=True)
class Relearned:
    """One series of one arm after its correction.

    turns, tokens : of the cases that the correction bears on, in their order, up to and with the
    first whose first answer honours it; of all of them where none does. learned : whether one does.
    after : share of those that come later whose first answer honours it too; None where none does.
    """

    cluster: str
    turns: float
    tokens: float
    learned: bool
    after: float | None


@register("recipe", "sessions/correction")
class CorrectionHonoured(Sweep):
    """A correction half way.

    The same precedent before and after it was corrected, and what it took to honour that.
    """

    source = "a check of ours; Depth, section 18, corrects nothing"
    needs = NEEDS

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        jobs = [job for job in with_sessions(jobs) if "honoured_at_once" in job.summary["axes"]]
        if not jobs:
            raise UserError("no sessions whose cases tell whether a correction is honoured")
        yield Text(
            "Cases that one precedent governs, before and after it was corrected, and the cases "
            "after it that other precedents govern. At once: the first answer settled the case. In "
            "the end: the last answer sets what the correction fixes; retired: what it did before; "
            "retired tried: any answer of the session does. "
            "Limits of 95% are over series; the difference is that of a series' two means."
        )
        yield Table(
            anchor="correction",
            caption="The same precedent before and after its correction",
            columns=("", "at once, before", "at once, after", "difference", "in the end, after",
                     "retired, after", "retired tried, after", "others at once, after",
                     "turns before", "turns after", "cases after", "series"),
            rows=[_honoured(job) for job in jobs],
        )  # fmt: skip
        depths = sorted(
            {row.depth or 0 for job in jobs for row in _rows(job, "after", "corrected")}
        )
        yield Table(
            anchor="correction-depth",
            caption="At once, by links between a case and that precedent",
            columns=("", *(f"{n} links, {half}" for n in depths for half in ("before", "after"))),
            rows=[_by_depth(job, depths) for job in jobs],
        )
        strata = sorted({row.stratum for job in jobs for row in job.good})
        yield Table(
            anchor="correction-strata",
            caption="Compliance at the end of a session, by what governs the case",
            columns=("", *strata),
            rows=[[job.arm, *(shown(_in_the_end(job, name)) for name in strata)] for job in jobs],
        )
        yield Text(
            "Re-learning: turns and tokens of the cases that the correction bears on, from it up "
            "to and with the first case whose first answer honours it; a series without one counts "
            "with all of its cases, so that these means are too low where the share is below 1. "
            "Honoured again: first answers to the later of these cases."
        )
        yield Table(
            anchor="relearning",
            caption="What re-learning cost",
            columns=("", "honoured at once some time", "turns until then", "tokens until then",
                     "honoured again", "series"),
            rows=[_relearning(job) for job in jobs],
        )  # fmt: skip


def _rows(job: Job, half: str, thread: str) -> list[Row]:
    found = [row for row in job.good if row.axes.get("session_tokens") is not None]
    return [row for row in found if (row.tags["half"], row.tags["thread"]) == (half, thread)]


def _in_the_end(job: Job, stratum: str) -> Measured:
    return _mean(job, (row for row in job.good if row.stratum == stratum), "compliance")


def _mean(job: Job, rows: Iterable[Row], axis: str) -> Measured:
    """The mean of an axis over rows, limits over their series."""
    kept = list(rows)
    amount = axis in ("turns", "session_tokens")
    return _over([(r.cluster, r.axes.get(axis)) for r in kept], _seed(job), amount=amount)


def _over(
    values: Sequence[tuple[str, float | None]], seed: int, *, amount: bool = False
) -> Measured:
    if not values:
        return Measured(value=None)
    found = mean_interval(
        [value for _, value in values], [name for name, _ in values], seed=seed, amount=amount
    )
    return of_interval(found)


def _seed(job: Job) -> int:
    return int(job.summary["run"]["seed"])


def _honoured(job: Job) -> list[Cell | str]:
    before, after = _rows(job, "before", "corrected"), _rows(job, "after", "corrected")
    return [
        job.arm,
        shown(_mean(job, before, "resolved_first")),
        shown(_mean(job, after, "honoured_at_once")),
        shown(_over(differences(before, after), _seed(job), amount=True), sign="+"),
        shown(_mean(job, after, "correction_honoured")),
        shown(_mean(job, after, "retired_used")),
        shown(_mean(job, after, "retired_tried")),
        shown(_mean(job, _rows(job, "after", "other"), "resolved_first")),
        shown(_mean(job, before, "turns"), 1),
        shown(_mean(job, after, "turns"), 1),
        str(len({row.case_id for row in after})),
        str(len({row.cluster for row in after})),
    ]


def _by_depth(job: Job, depths: Sequence[int]) -> list[Cell | str]:
    """Shares with their cases, without limits: few series have cases at every distance."""
    cells: list[Cell | str] = [job.arm]
    for depth in depths:
        for half in ("before", "after"):
            at = [row for row in _rows(job, half, "corrected") if row.depth == depth]
            share = float(np.mean([row.axes["resolved_first"] for row in at])) if at else None
            text = NOTHING if share is None else f"{share:.2f}"
            cells.append(Cell(text=text, under=counted(len(at), "case"), value=share))
    return cells


def differences(before: Sequence[Row], after: Sequence[Row]) -> list[tuple[str, float]]:
    """By series with both, the share settled at once after the correction less that before."""

    def shares(rows: Sequence[Row]) -> dict[str, float]:
        names = dict.fromkeys(row.cluster for row in rows)
        return {
            name: float(np.mean([r.axes["resolved_first"] for r in rows if r.cluster == name]))
            for name in names
        }

    old, new = shares(before), shares(after)
    return [(name, new[name] - old[name]) for name in sorted(old.keys() & new.keys())]


def relearned(rows: Sequence[Row]) -> list[Relearned]:
    """Of the cases that corrections bear on: what each series took until it honoured its own."""
    series: dict[tuple[str, int, int], list[Row]] = {}
    for row in sorted(rows, key=lambda row: row.case_id):
        series.setdefault((row.cluster, row.trial, row.repeat), []).append(row)
    return [_relearned(own) for own in series.values()]


def _relearned(rows: Sequence[Row]) -> Relearned:
    """`rows` in the order of their cases."""
    at_once = [bool(row.axes["honoured_at_once"]) for row in rows]
    first = at_once.index(True) if any(at_once) else len(rows) - 1
    later = at_once[first + 1 :]
    until = rows[: first + 1]
    return Relearned(
        cluster=rows[0].cluster,
        turns=sum(row.axes["turns"] or 0.0 for row in until),
        tokens=sum(row.axes["session_tokens"] or 0.0 for row in until),
        learned=any(at_once),
        after=float(np.mean(later)) if any(at_once) and later else None,
    )


def _relearning(job: Job) -> list[Cell | str]:
    found = relearned(_rows(job, "after", "corrected"))

    def mean(values: Sequence[float | None], *, amount: bool = False) -> Measured:
        named = list(zip((one.cluster for one in found), values, strict=True))
        return _over(named, _seed(job), amount=amount)

    return [
        job.arm,
        shown(mean([float(one.learned) for one in found])),
        shown(mean([one.turns for one in found], amount=True), 1),
        shown(mean([one.tokens for one in found], amount=True), 0),
        shown(mean([one.after for one in found])),
        str(len({one.cluster for one in found})),
    ]
