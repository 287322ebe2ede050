"""The arms of a board side by side: accuracy, tokens, latency, dollars, and ranks that hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import Any, Final

from framework.analysis.axes import axis_meta
from framework.analysis.forms import model_free
from framework.errors import UserError
from framework.records import Row, Usage
from framework.statistics.comparison import comparison_table
from framework.statistics.intervals import mean_interval
from plugins.commands.leaderboard.checks import Entry, worst

_PHASES: Final = ("ingest", "recall", "answer")
_NONE: Final = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """One line of a board.

    rank, last : the ranks that the comparisons leave open: 1 more than the arms that are better
        after Holm's adjustment, to all arms less those that are worse. Those of two arms that
        can't be told apart have at least one in common. accuracy : mean over the cases
        that count, in [0, 1], with its 95% interval (low, high; None where none is claimed); a
        failed case has the worst value. cases : different ones; one that several seeds draw is
        one, with the mean over them. drawn : with that one of each seed. counted : cases that
        accuracy is the mean of. unread : cases worded in a form that its model
        does not read, left out where a model has a hand in the axis. undefined : others where the
        axis is not defined, left out. tokens : in and out by case, for memory, recall and answer;
        of a history's memory, each of its cases has its part.
        seconds : median of recall and answer. dollars : by case, at list price. failed : cases
        with a failed row.
    """

    entry: Entry
    rank: int
    last: int
    better: tuple[str, ...]
    accuracy: float | None
    low: float | None
    high: float | None
    cases: int
    drawn: int
    counted: int
    unread: int
    undefined: int
    failed: int
    tokens: float
    seconds: float
    dollars: float


def ranked(entries: Sequence[Entry], axis: str) -> tuple[list[Ranked], list[dict[str, Any]]]:
    """The lines in order, and every paired comparison.

    axis : a share with a better end. Raises UserError where it has values outside 0 to 1.
    """
    higher = axis_meta()[axis]["higher_is_better"]
    entries = [_counted(entry, axis, 0.0 if higher else 1.0) for entry in entries]
    names = _names(entries)
    flat: list[dict[str, Any]] = [
        {
            "case_id": row.case_id,
            "arm": name,
            "budget": "",
            "cluster": row.cluster or row.case_id,
            "axes": {axis: row.axes.get(axis)},
        }
        for name, entry in zip(names, entries, strict=True)
        for rows in entry.rows.values()
        for row in rows
    ]
    if any(not 0.0 <= v <= 1.0 for row in flat for v in row["axes"].values() if v is not None):
        raise UserError(f"axis: {axis} has values outside 0 to 1, so no failed case can be ranked")
    compared: list[Any] = []
    if len(entries) > 1:
        lower = () if higher else (axis,)
        # The seed of the resampling: the board's result must not hang on who submitted first.
        compared = comparison_table(flat, seed=0, axes=[axis], lower_is_better=lower)
    better: dict[str, list[str]] = {name: [] for name in names}
    for pair in compared:
        if pair.conclusion == "a better":
            better[pair.arm_b].append(pair.arm_a)
        elif pair.conclusion == "b better":
            better[pair.arm_a].append(pair.arm_b)
    worse = Counter(name for of in better.values() for name in of)
    lines = [
        _line(entry, axis, better[name], len(names) - worse[name])
        for name, entry in zip(names, entries, strict=True)
    ]
    sign = -1 if higher else 1
    lines.sort(
        key=lambda x: (x.rank, x.last, sign * (x.accuracy or 0.0), x.entry.submitter, x.entry.arm)
    )
    plain = [{n: getattr(pair, n) for n in type(pair).__slots__} for pair in compared]
    return lines, plain


def _counted(entry: Entry, axis: str, worst_value: float) -> Entry:
    """The entry with what counts of each row: nothing of a form that its model does not read.

    An axis in which no model has a hand counts of every row, and so does a run without a row read.
    """
    rows = [row for of_seed in entry.rows.values() for row in of_seed]
    whole = axis in model_free(rows) or not any(row.form_read for row in rows)

    def of(row: Row) -> Row:
        if whole or row.form_read:
            return worst(replace(row, form_read=True), axis, worst_value)
        return replace(row, axes={**row.axes, axis: None})

    return replace(entry, rows={seed: [*map(of, found)] for seed, found in entry.rows.items()})


def name_of(entry: Entry) -> str:
    """How an arm is called on a board."""
    return f"{entry.submitter}: {entry.arm}, {entry.model}"


def _names(entries: Sequence[Entry]) -> list[str]:
    """Names, all different: the second of one name has its key's beginning with it."""
    counted = Counter(map(name_of, entries))
    return [
        name_of(e) if counted[name_of(e)] == 1 else f"{name_of(e)} ({e.key[:8]})" for e in entries
    ]


def _line(entry: Entry, axis: str, better: Sequence[str], last: int) -> Ranked:
    rows = [row for of_seed in entry.rows.values() for row in of_seed]
    defined: dict[str, list[float]] = {row.case_id: [] for row in rows}
    for row in rows:
        value = row.axes.get(axis)
        if value is not None:
            defined[row.case_id].append(value)
    means = {case: fmean(found) for case, found in defined.items() if found}
    unread = {row.case_id for row in rows if not row.form_read}
    clusters = {row.case_id: row.cluster or row.case_id for row in rows}
    interval = mean_interval(list(means.values()), [clusters[case] for case in means], seed=0)
    shared = Counter((seed, _ingest(row)) for seed, of in entry.rows.items() for row in of)
    parts = [shared[seed, _ingest(row)] for seed, of in entry.rows.items() for row in of]
    used = list(zip(rows, parts, strict=True))
    return Ranked(
        entry=entry,
        rank=1 + len(better),
        last=last,
        better=tuple(sorted(better)),
        accuracy=fmean(means.values()) if means else None,
        low=interval.low,
        high=interval.high,
        cases=len(defined),
        drawn=sum(len({row.case_id for row in of}) for of in entry.rows.values()),
        counted=len(means),
        unread=len(unread),
        undefined=len(defined) - len(means) - len(unread),
        failed=len({row.case_id for row in rows if row.error or row.state}),
        tokens=sum(_spent(row, part)[0] for row, part in used) / len(rows),
        seconds=median(
            row.timing.get("recall_s", 0.0) + row.usage.get("answer", _NONE).seconds for row in rows
        ),
        dollars=sum(_spent(row, part)[1] for row, part in used) / len(rows),
    )


def _ingest(row: Row) -> tuple[str, int, int]:
    return row.history_id, row.trial, row.repeat


def _spent(row: Row, part: int) -> tuple[float, float]:
    """Tokens and dollars of a row, with its part of the memory that it shares."""
    tokens = dollars = 0.0
    for phase in _PHASES:
        usage = row.usage.get(phase, _NONE)
        share = part if phase == "ingest" else 1
        tokens += (usage.tokens_in + usage.tokens_out) / share
        dollars += usage.cost_usd / share
    return tokens, dollars
