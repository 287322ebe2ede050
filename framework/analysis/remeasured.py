"""Summaries of other rows than those of one run: of fewer cases, or of several seeds together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from framework.analysis.axes import RowColumns, axes_of_part
from framework.analysis.known_answers import with_error
from framework.analysis.strata import by_stratum
from framework.analysis.summary import (
    SETTING,
    axes_of_strata,
    errors_of,
    ledger,
    of_cases,
    room_of_rows,
)
from framework.contracts.calibration import rates_in
from framework.records import Row
from framework.registry import find, names
from framework.rows import PackedRows, by_session

_SHARED: Final = (*(key for key in SETTING if key != "seed"), "budget")
"""What runs of several seeds share beside their arm."""


def measured_again(summary: Mapping[str, Any], rows: Sequence[Row], n_cases: int) -> dict[str, Any]:
    """The summary over other rows: all that `sweep_summary` takes from it is of these."""
    own, run = by_session(rows), summary["run"]
    good, seed = [row for row in own if not row.error], int(run["seed"])
    judged = (rates_in(summary.get("judge_error")), run.get("judge_kind", "llm"))
    columns = RowColumns.of(own)
    says = str(summary.get("success_axis", ""))
    fresh = with_error(own, axes_of_part(columns, None, seed), *judged, seed, says)
    axes = {
        axis: {**entry, "kind": summary["axes"][axis]["kind"]}
        for axis, entry in fresh.items()
        if axis in summary["axes"]  # a run of before a measure was made has no kind of it
    }
    strata = axes_of_strata(columns, seed, *judged, says)
    return {
        **summary,
        "run": {**run, "n_cases": n_cases},
        "axes": axes,
        "strata": strata,
        "by_stratum": by_stratum(list(summary.get("by_stratum") or ()), axes, strata),
        "budget_use": {**summary["budget_use"], **room_of_rows(good)},
        **of_cases(own, good),
        "ledger": ledger(
            rows, priced=summary["ledger"].get("total", {}).get("cost_usd", 0) is not None
        ),
        "errors": errors_of(own),
        "counterfactual_pairs": None,
        "corpus": {},
        "extraction": {},
    }


def over_seeds(
    summaries: Sequence[Mapping[str, Any]], rows: Sequence[Sequence[Row]]
) -> tuple[list[dict[str, Any]], list[Sequence[Row]]]:
    """Runs that differ in their seed alone as one run, the others as they are; empty where none do.

    Where another seed draws other cases, those of all seeds are its cases, and clusters of two
    seeds are two. Where it draws the same ones, each case has the repeats of all seeds. Runs of
    arms that were not all made with the same seeds stay apart, and so do those of a loop, whose
    rows are of several sets of cases. `seeds` of such a run says which; its `seed` is the smallest.
    """
    places: dict[tuple[Any, ...], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for i, summary in enumerate(summaries):
        place = tuple(summary["run"][key] for key in _SHARED)
        places[place][summary["run"]["arch"]].append(i)
    found = []
    for arms in places.values():
        sets = {tuple(sorted(_seed(summaries[i]) for i in own)) for own in arms.values()}
        first = next(iter(arms.values()))
        if len(sets) > 1 or len(first) < 2 or _in_a_loop(summaries[first[0]]):
            found += [(i, summaries[i], rows[i]) for own in arms.values() for i in own]
            continue
        same = _same_cases([rows[i] for i in first])
        for own in arms.values():
            own.sort(key=lambda i: _seed(summaries[i]))
            found.append((own[0], *_together([(summaries[i], rows[i]) for i in own], same)))
    if len(found) == len(summaries):
        return [], []
    found.sort(key=lambda one: one[0])
    return [dict(summary) for _, summary, _ in found], [own for _, _, own in found]


def _seed(summary: Mapping[str, Any]) -> int:
    return int(summary["run"]["seed"])


def _in_a_loop(summary: Mapping[str, Any]) -> bool:
    name = str(summary["run"]["protocol"]).partition(" ")[0].partition("(")[0]
    return name in names("protocol") and bool(find("protocol", name).cls.groups)


def _same_cases(rows: Sequence[Sequence[Row]]) -> bool:
    """Whether cases of one id are the same in every run: by all that a row says of its case."""
    known: dict[str, tuple[Any, ...]] = {}
    for own in rows:
        of_run = {row.case_id: _case(row) for row in own}
        both = known.keys() & of_run.keys()
        if any(known[case] != of_run[case] for case in both):
            return False
        known |= of_run
    return True


def _case(row: Row) -> tuple[Any, ...]:
    tags = tuple(sorted(row.tags.items()))
    return (row.history_id, row.cluster, row.stratum, row.depth, row.expected, tags)


def _together(
    runs: Sequence[tuple[Mapping[str, Any], Sequence[Row]]], same: bool
) -> tuple[dict[str, Any], Sequence[Row]]:
    def renamed() -> Iterator[Row]:
        for number, (summary, rows) in enumerate(runs):
            before, seed = number * int(summary["run"]["repeats"]), summary["run"]["seed"]
            for row in rows:
                yield replace(row, repeat=row.repeat + before) if same else _of_seed(row, seed)

    rows, first = PackedRows(renamed()), dict(runs[0][0])
    first["axes"] = {k: axis for run, _ in reversed(runs) for k, axis in run["axes"].items()}
    made = measured_again(first, rows, len({row.case_id for row in rows}))
    seeds = [_seed(summary) for summary, _ in runs]
    return {**made, "warnings": [], "run": {**made["run"], "seeds": _listed(seeds)}}, rows


def _of_seed(row: Row, seed: int) -> Row:
    cluster = f"{seed}/{row.cluster}" if row.cluster else row.cluster
    history, case = f"{seed}/{row.history_id}", f"{seed}/{row.case_id}"
    return replace(row, case_id=case, history_id=history, cluster=cluster)


def _listed(seeds: Sequence[int]) -> str:
    """`7, 11, 23`; `1 to 20` where none between is missing."""
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[-1] + 1)):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))
