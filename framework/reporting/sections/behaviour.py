"""What arms did: retention and use, failures, abstention, cost, and where they differ by case."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from framework.analysis.calibration import car_of, curve_of
from framework.analysis.cost import MEASURES, RATE
from framework.analysis.evidence import Group, Job
from framework.analysis.frontier import cost_unit, frontier, points
from framework.analysis.outcomes import PARTS, Outcomes, outcomes
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
    delta,
    entry_cell,
    interval_cell,
    number_cell,
    yes_no,
)
from framework.reporting.format import DAGGER
from framework.reporting.tables import Column, arms_table, each, table, titled
from framework.statistics.intervals import Interval, mean_interval

_RETENTION = (
    *("p_ret", "p_ret_read", "kappa", "leak", "right_undetermined"),
    *("p_ret_abstain", "kappa_abstain", "leak_abstain", "p_ret_all", "retained", "use_rate"),
)


def retention(group: Group) -> Iterator[Block]:
    """P_ret, kappa, leak, and how the cases ended."""
    if not group.has("p_ret"):
        return
    axes = [axis for axis in _RETENTION if group.has(axis)]
    yield from _of_axes(group, "retention", "Retention and use", axes)
    if not group.has("p_ret_all"):
        yield Text(
            "This run is from before p_ret_all: here p_ret is the share of views with every "
            "critical item, which later runs call p_ret_all; kappa and leak split by it, cases in "
            "which abstaining is right are among them, and success by default counts as use."
        )
    yield from arms_table(
        group,
        "kappa-common",
        "kappa on the cases that all arms retained which retained any at the budget: an arm's own "
        "kappa is over its own cases, which may be the easy ones",
        {
            "kappa": lambda pair: interval_cell(pair[0]),
            "n": lambda pair: count(pair[0].n),
            "retained itself": lambda pair: count(pair[1]),
        },
        _kept_by_all(group),
    )
    yield from arms_table(
        group,
        "failures-table",
        "Outcomes of the cases that have a decision: shares, which sum to 1",
        {
            "success": lambda split: interval_cell(split.success),
            **{words: _share_of(name) for name, words in PARTS.items()},
            "n": lambda split: count(split.parts["failed"].n),
        },
        ((job, split) for job in group.by_budget if (split := outcomes(job)) is not None),
    )


def _share_of(part: str) -> Callable[[Outcomes], Cell]:
    return lambda split: interval_cell(split.parts[part])


def _kept_by_all(group: Group) -> Iterator[tuple[Job, tuple[Interval, int]]]:
    """Kappa on the cases that every arm retained: what arms differ in by use, and not by cases."""
    for budget in group.budgets:
        of = [
            (job, kept)
            for arm in group.arms
            if (job := group.job(arm, budget)) is not None
            and (kept := job.means.values.get((budget, arm), {}).get("kappa"))
        ]
        common = sorted(set.intersection(*(set(kept) for _, kept in of))) if len(of) > 1 else []
        for job, kept in of if common else ():
            found = mean_interval(
                [kept[case] for case in common],
                [job.means.clusters[case] for case in common],
                seed=int(job.summary["run"]["seed"]),
            )
            yield job, (found, len(kept))


def abstention(group: Group) -> Iterator[Block]:
    """The CAR numbers, as a curve over thresholds of confidence, and the area under it."""
    named = (
        *("commit_rate", "default_rate", "conditional_accuracy", "commit_all_accuracy"),
        *("abstention_case", "abstention_view"),
    )
    axes = [axis for axis in named if group.has(axis)]
    if not axes:
        return
    yield from _of_axes(group, "abstention", "Commitment and abstention", axes)
    curves = [(job, found.curve) for job in group.by_budget if (found := curve_of(job)) is not None]
    if not curves:
        yield Text(
            "No answer states a confidence, so there is no risk-coverage curve: each arm is one "
            "point of the plane."
        )
    yield from arms_table(
        group,
        "risk-table",
        "Area under the risk-coverage curve: lower is better",
        {
            "area": ("aurc", number_cell),
            "perfect order": ("aurc_optimal", number_cell),
            "no order": ("aurc_random", number_cell),
            "answers": ("n", count),
        },
        curves,
    )
    yield from arms_table(
        group,
        "car-table",
        "CAR over thresholds of the arm's own confidences: decisions of less are withdrawn, as a "
        "reader with a threshold does; at 0 none is",
        {
            "threshold": lambda one: f"{one.threshold:.3f}" if one.threshold else "0",
            "decided": lambda one: interval_cell(one.committed),
            "right among them": lambda one: interval_cell(one.accuracy),
            "decided and right": lambda one: interval_cell(one.right),
        },
        ((job, one) for job in group.by_budget for one in car_of(job)),
    )


def cost(group: Group) -> Iterator[Block]:
    """What being right costs; calls, tokens, dollars and seconds by phase; points of the plane."""
    yield from cost_effectiveness(group)
    yield from arms_table(
        group,
        "cost-table",
        "Calls and tokens of models by phase; dollars at list price, and as paid",
        {
            "phase": "phase",
            "calls": ("calls", count),
            "tokens in": ("tokens_in", count),
            "tokens out": ("tokens_out", count),
            "cached": ("tokens_cached", count),
            "tokens a case": ("tokens_per_case", count),
            "list $": ("cost_usd", _dollars),
            "paid $": ("paid_usd", _dollars),
            "p50 s": ("latency_p50_s", number_cell),
            "p95 s": ("latency_p95_s", number_cell),
        },
        (
            (job, {"phase": phase, **spent})
            for job in group.by_budget
            for phase, spent in job.summary["ledger"].items()
        ),
    )
    axis, found = points(group)
    if len(found) > 1:
        best, unit = frontier(found), cost_unit(group)
        yield table(
            f"pareto-table-{group.index}",
            titled(f"{axis} and cost an answer ({unit})", group),
            {
                "arm": "arm",
                "budget": "budget",
                "cost": ("cost", _dollars if unit == "usd" else count),
                axis: lambda point: bounded(point.value, point.low, point.high),
                "on the frontier": lambda point: yes_no(point in best),
            },
            found,
        )


def _dollars(value: float | None) -> Cell:
    return number_cell(value, 4)


def cost_effectiveness(group: Group) -> Iterator[Block]:
    """Successes per 1,000 tokens and cost to correct; the differences from one baseline."""
    names = [name for name in MEASURES if any(name in job.summary["axes"] for job in group.jobs)]
    if not names:
        return
    columns: dict[str, Column] = {name: _costs(name) for name in names}
    baselines = {row["arm_b"] for row in group.cost_effectiveness}
    if len(baselines) == 1:
        deltas = {(row["arm_a"], row["budget"]): row for row in group.cost_effectiveness}
        columns[f"successes per 1,000 tokens minus {baselines.pop()}"] = lambda job: (
            delta(row) if (row := deltas.get((job.arm, job.budget))) else UNDEFINED
        )
    yield from arms_table(
        group,
        "cost-effectiveness-table",
        "What being right costs: successes per 1,000 tokens of recall and answer; tokens (or "
        "dollars at list price) per success, a history's ingest spread over its questions. "
        "Differences are described, not tested",
        columns,
        ((job, job) for job in group.by_budget),
    )
    if group.cost_effectiveness:
        pairs = table(
            f"cost-effectiveness-pairs-{group.index}",
            titled("Successes per 1,000 tokens, arm minus arm on the same cases", group),
            {
                "arm": "arm_a",
                "minus": "arm_b",
                "budget": "budget",
                "difference": delta,
                "n": ("n", count),
                "interval": "method",
            },
            group.cost_effectiveness,
        )
        yield Details("Differences in successes per 1,000 tokens: described, not tested", [pairs])


def _costs(name: str) -> Callable[[Job], Cell]:
    """`0.415` of a rate, `2,315` tokens, `0.0246` dollars, with their limits."""
    digits = 3 if name == RATE else 4 if name.endswith("_usd") else 0

    def cell(job: Job) -> Cell:
        entry = job.summary["axes"].get(name)
        if entry is None:
            return UNDEFINED
        mark = DAGGER if entry.get("kind") == "rule-based" else ""
        return bounded(entry["mean"], entry["ci_low"], entry["ci_high"], digits=digits, mark=mark)

    return cell


def declared_strata(group: Group, but: Sequence[str] = ()) -> Iterator[Block]:
    """The axes that the domain shows by stratum, `but` some: arms in rows, strata in columns."""
    found = [(job, job.summary.get("by_stratum") or {}) for job in group.by_budget]
    axes = dict.fromkeys(axis for job in group.jobs for axis in job.summary.get("by_stratum") or ())
    for axis in (axis for axis in axes if axis not in but):
        entries = [(job, of.get(axis, {})) for job, of in found]
        names = sorted({name for _, own in entries for name in own}, key=natural)
        if len(names) > 1:
            yield from arms_table(
                group,
                f"strata-declared-{axis}",
                f"{axis} by stratum, {group.run['domain']}",
                each(names, entry_cell),
                entries,
            )


def by_case(group: Group) -> Iterator[Block]:
    """What the domain shows by stratum; the headline; an axis by depth where cases have one."""
    names, shown = strata_of(group), stratum_axis(group)
    axes: list[str] = []
    if len(names) > 1 and shown is not None:
        axes = list(dict.fromkeys([shown, *(a for a in ("p_ret",) if group.has(a))]))
    yield from declared_strata(group, but=axes)
    for axis in axes:
        yield from arms_table(
            group,
            f"strata-table-{axis}",
            f"{axis} by stratum",
            each(names, _part),
            (
                (job, {name: _of_kind(job, axis, stratum_entry(job, name, axis)) for name in names})
                for job in group.by_budget
            ),
        )
    levels, axis_ = depths_of_group(group), depth_axis(group)
    if len(levels) > 1 and axis_ is not None:
        yield from arms_table(
            group,
            "depth-table",
            f"{axis_} by depth in hops",
            each(map(str, levels), _part),
            (
                (job, {str(d): _of_kind(job, axis_, depth_entry(job, d, axis_)) for d in levels})
                for job in group.by_budget
            ),
        )


def _of_kind(job: Job, axis: str, entry: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """An axis over a part of a job's cases, of the kind that it is over them all."""
    return entry and {**entry, "kind": job.summary["axes"][axis]["kind"]}


def _part(entry: Mapping[str, Any] | None) -> Cell:
    """An axis over a part of a job's cases, with their number."""
    if entry is None:
        return UNDEFINED
    shown = entry_cell(entry)
    return Cell(text=shown.text, under=f"{shown.under} n={entry['n']}".strip(), value=shown.value)


def _of_axes(group: Group, name: str, caption: str, axes: Sequence[str]) -> Iterator[Table]:
    found = ((job, job.summary["axes"]) for job in group.by_budget)
    caption = f"{caption}: means with 95% intervals"
    return arms_table(group, f"{name}-table", caption, each(axes, entry_cell), found)
