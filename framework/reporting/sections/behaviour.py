"""What arms did: retention and use, failures, abstention, cost, and where they differ by case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from framework.analysis.calibration import curve_of
from framework.analysis.cost import MEASURES, RETURN
from framework.analysis.evidence import Group, Job
from framework.analysis.frontier import cost_unit, frontier, points
from framework.analysis.outcomes import PARTS, outcomes
from framework.analysis.strata import (
    depth_axis,
    depth_entry,
    depths_of_group,
    natural,
    strata_of,
    stratum_axis,
    stratum_entry,
)
from framework.reporting.blocks import Block, Cell, Details, Table, Text
from framework.reporting.cells import (
    UNDEFINED,
    bounded,
    count,
    entry_cell,
    interval_cell,
    number_cell,
    yes_no,
)
from framework.reporting.format import DAGGER
from framework.reporting.sections.overview import titled
from framework.statistics.intervals import mean_interval


def retention(group: Group) -> Iterator[Block]:
    """P_ret, kappa, leak, and what became of the cases."""
    if not group.has("p_ret"):
        return
    yield _of_axes(
        group,
        "retention",
        "Retention and use",
        [a for a in ("p_ret", "kappa", "leak", "retained", "use_rate") if group.has(a)],
    )
    yield from _kept_by_all(group)
    rows: list[Sequence[Cell | str]] = []
    for job in group.by_budget:
        split = outcomes(job)
        if split is not None:
            parts = [interval_cell(split.parts[name]) for name in PARTS]
            n = count(split.parts["failed"].n)
            rows.append([job.arm, job.budget, interval_cell(split.success), *parts, n])
    if rows:
        yield Table(
            anchor=f"failures-table-{group.index}",
            caption=titled("What became of the cases: shares of all cases, which sum to 1", group),
            columns=["arm", "budget", "success", *PARTS.values(), "n"],
            rows=rows,
        )


def _kept_by_all(group: Group) -> Iterator[Block]:
    """Kappa on the cases that every arm retained: what arms differ in by use, and not by cases."""
    rows: list[Sequence[Cell | str]] = []
    for budget in group.budgets:
        of = {
            job.arm: kept
            for arm in group.arms
            if (job := group.job(arm, budget)) is not None
            and (kept := job.means.values.get((budget, arm), {}).get("kappa"))
        }
        common = sorted(set.intersection(*map(set, of.values()))) if len(of) > 1 else []
        for arm, kept in of.items() if common else ():
            job = group.job(arm, budget)
            assert job is not None
            found = mean_interval(
                [kept[case] for case in common],
                [job.means.clusters[case] for case in common],
                seed=int(job.summary["run"]["seed"]),
            )
            rows.append([arm, budget, interval_cell(found), count(found.n), count(len(kept))])
    if rows:
        yield Table(
            anchor=f"kappa-common-{group.index}",
            caption=titled(
                "kappa on the cases that all arms retained which retained any at the budget: an "
                "arm's own kappa is over its own cases, which may be the easy ones",
                group,
            ),
            columns=["arm", "budget", "kappa", "n", "retained itself"],
            rows=rows,
        )


def abstention(group: Group) -> Iterator[Block]:
    """The CAR numbers, and the area under the risk-coverage curve."""
    axes = [
        axis
        for axis in (
            *("commit_rate", "default_rate", "conditional_accuracy", "commit_all_accuracy"),
            *("abstention_case", "abstention_view"),
        )
        if group.has(axis)
    ]
    if not axes:
        return
    yield _of_axes(group, "abstention", "Commitment and abstention", axes)
    rows: list[Sequence[Cell | str]] = []
    for job in group.by_budget:
        found = curve_of(job)
        if found is not None:
            curve = found.curve
            areas = (curve.aurc, curve.aurc_optimal, curve.aurc_random)
            rows.append([job.arm, job.budget, *map(number_cell, areas), count(curve.n)])
    if rows:
        yield Table(
            anchor=f"risk-table-{group.index}",
            caption=titled("Area under the risk-coverage curve: lower is better", group),
            columns=["arm", "budget", "area", "perfect order", "no order", "answers"],
            rows=rows,
        )
    else:
        yield Text(
            "No answer states a confidence, so there is no risk-coverage curve: each arm is one "
            "point of the plane."
        )


def cost(group: Group) -> Iterator[Block]:
    """What being right costs; calls, tokens, dollars and seconds by phase; points of the plane."""
    yield from economy(group)
    rows: list[Sequence[Cell | str]] = []
    for job in group.by_budget:
        for phase, spent in job.summary["ledger"].items():
            counted = (spent.get(name) for name in ("calls", "tokens_in", "tokens_out"))
            rows.append(
                [
                    job.arm,
                    job.budget,
                    phase,
                    *map(count, counted),
                    count(spent.get("tokens_cached")),
                    number_cell(spent.get("tokens_per_case"), 0),
                    number_cell(spent.get("cost_usd"), 4),
                    number_cell(spent.get("paid_usd"), 4),
                    number_cell(spent.get("latency_p50_s")),
                    number_cell(spent.get("latency_p95_s")),
                ]
            )
    yield Table(
        anchor=f"cost-table-{group.index}",
        caption=titled(
            "Calls and tokens of models by phase; dollars at list price, and as paid", group
        ),
        columns=[
            *("arm", "budget", "phase", "calls", "tokens in", "tokens out", "cached"),
            *("tokens a case", "list $", "paid $", "p50 s", "p95 s"),
        ],
        rows=rows,
    )
    axis, found = points(group)
    if len(found) > 1:
        best = frontier(found)
        yield Table(
            anchor=f"pareto-table-{group.index}",
            caption=titled(f"{axis} and cost an answer ({cost_unit(group)})", group),
            columns=["arm", "budget", "cost", axis, "on the frontier"],
            rows=[
                [
                    point.arm,
                    point.budget,
                    number_cell(point.cost, 4 if cost_unit(group) == "usd" else 0),
                    bounded(point.value, point.low, point.high),
                    yes_no(point in best),
                ]
                for point in found
            ],
        )


def economy(group: Group) -> Iterator[Block]:
    """Return on tokens and cost to correct; beside them the differences, against one baseline."""
    names = [name for name in MEASURES if any(name in job.summary["axes"] for job in group.jobs)]
    if not names:
        return
    baselines = {row["arm_b"] for row in group.economy}
    against = next(iter(baselines)) if len(baselines) == 1 else None
    deltas = {(row["arm_a"], row["budget"]): row for row in group.economy}
    rows: list[Sequence[Cell | str]] = []
    for job in group.by_budget:
        cells = [_costs(n, job.summary["axes"].get(n)) for n in names]
        if against is not None:
            row = deltas.get((job.arm, job.budget))
            cells.append(UNDEFINED if row is None else _gain(row))
        rows.append([job.arm, job.budget, *cells])
    yield Table(
        anchor=f"economy-table-{group.index}",
        caption=titled(
            "What being right costs: successes per 1,000 tokens of recall and answer; tokens (or "
            "dollars at list price) per success, a history's ingest spread over its questions. "
            "Differences are described, not tested",
            group,
        ),
        columns=[
            *("arm", "budget", *names),
            *([] if against is None else [f"return minus {against}"]),
        ],
        rows=rows,
    )
    if group.economy:
        table = Table(
            anchor=f"economy-pairs-{group.index}",
            caption=titled("Return on tokens, arm minus arm on the same cases", group),
            columns=["arm", "minus", "budget", "difference", "n", "interval"],
            rows=[
                [
                    *(row["arm_a"], row["arm_b"], row["budget"]),
                    *(_gain(row), count(row["n"]), row["method"]),
                ]
                for row in group.economy
            ],
        )
        yield Details("Differences in return on tokens: described, not tested", [table])


def _gain(row: Mapping[str, Any]) -> Cell:
    return bounded(row["delta"], row["ci_low"], row["ci_high"], sign="+")


def _costs(name: str, entry: Mapping[str, Any] | None) -> Cell:
    """`0.415` of a return, `2,315` tokens, `0.0246` dollars, with their limits."""
    if entry is None:
        return UNDEFINED
    mark = DAGGER if entry.get("kind") == "rule-based" else ""
    digits = 3 if name == RETURN else 4 if name.endswith("_usd") else 0
    return bounded(entry["mean"], entry["ci_low"], entry["ci_high"], digits=digits, mark=mark)


def declared_strata(group: Group, but: Sequence[str] = ()) -> Iterator[Block]:
    """The axes that the domain shows by stratum, `but` some: arms in rows, strata in columns."""
    axes = dict.fromkeys(axis for job in group.jobs for axis in job.summary.get("by_stratum") or ())
    for axis in axes:
        if axis in but:
            continue
        found = [
            ((job.summary.get("by_stratum") or {}).get(axis, {}), job) for job in group.by_budget
        ]
        names = sorted({name for entries, _ in found for name in entries}, key=natural)
        if len(names) > 1:
            yield Table(
                anchor=f"strata-declared-{axis}-{group.index}",
                caption=titled(f"{axis} by stratum, {group.run['domain']}", group),
                columns=["arm", "budget", *names],
                rows=[
                    [job.arm, job.budget, *(entry_cell(entries.get(name)) for name in names)]
                    for entries, job in found
                ],
            )


def by_case(group: Group) -> Iterator[Block]:
    """What the domain shows by stratum; the headline; an axis by depth where cases have one."""
    names, shown = strata_of(group), stratum_axis(group)
    axes: list[str] = []
    if len(names) > 1 and shown is not None:
        axes = list(dict.fromkeys([shown, *(a for a in ("p_ret",) if group.has(a))]))
    yield from declared_strata(group, but=axes)
    if axes:
        for axis in axes:
            yield Table(
                anchor=f"strata-table-{axis}-{group.index}",
                caption=titled(f"{axis} by stratum", group),
                columns=["arm", "budget", *names],
                rows=[
                    [
                        job.arm,
                        job.budget,
                        *(
                            _part(job, axis, stratum_entry(group, job.arm, job.budget, name, axis))
                            for name in names
                        ),
                    ]
                    for job in group.by_budget
                ],
            )
    levels, axis_ = depths_of_group(group), depth_axis(group)
    if len(levels) > 1 and axis_ is not None:
        yield Table(
            anchor=f"depth-table-{group.index}",
            caption=titled(f"{axis_} by depth in hops", group),
            columns=["arm", "budget", *(str(level) for level in levels)],
            rows=[
                [
                    job.arm,
                    job.budget,
                    *(_part(job, axis_, depth_entry(job, level, axis_)) for level in levels),
                ]
                for job in group.by_budget
            ],
        )


def _part(job: Job, axis: str, entry: Mapping[str, Any] | None) -> Cell:
    """An axis over a part of a job's cases, with their number; of the kind it is over them all."""
    if entry is None:
        return UNDEFINED
    shown = entry_cell({**entry, "kind": job.summary["axes"][axis]["kind"]})
    return Cell(text=shown.text, under=f"{shown.under} n={entry['n']}".strip(), value=shown.value)


def _of_axes(group: Group, name: str, caption: str, axes: Sequence[str]) -> Table:
    return Table(
        anchor=f"{name}-table-{group.index}",
        caption=titled(f"{caption}: means with 95% intervals", group),
        columns=["arm", "budget", *axes],
        rows=[
            [job.arm, job.budget, *(entry_cell(job.summary["axes"].get(a)) for a in axes)]
            for job in group.by_budget
        ],
    )
