"""Doing well against what it takes: which arms at which budgets nothing beats on both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from framework.analysis.evidence import Group, Job
from framework.analysis.verdict import NOT_ITS_OWN
from framework.statistics.intervals import mean_interval
from plugins.sections._outcomes import outcome_axis, success_values


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """An arm at a budget: what it takes an answer, and how well it does, with its interval."""

    arm: str
    budget: str
    cost: float
    value: float
    low: float | None
    high: float | None


def cost_unit(group: Group) -> str:
    """Dollars where an arm spent any, else tokens of models, else tokens of the view."""
    if any(entry.get("cost_usd") for job in group.jobs for entry in _own(job)):
        return "usd"
    return "tokens" if any(_tokens(entry) for job in group.jobs for entry in _own(job)) else "view"


def points(group: Group) -> tuple[str, list[Point]]:
    """The axis that stands for doing well, and a point a job; none where there is no such axis."""
    axis = outcome_axis(group)
    if axis is None:
        return "", []
    unit = cost_unit(group)
    found = []
    for job in group.jobs:
        reached = _reached(group, job, axis)
        cost = _cost(job, unit)
        if reached is not None and cost is not None:
            value, low, high = reached
            found.append(
                Point(arm=job.arm, budget=job.budget, cost=cost, value=value, low=low, high=high)
            )
    return axis, found


def frontier(found: Sequence[Point]) -> list[Point]:
    """The points that no other matches or beats on both, by cost; estimates alone decide."""
    kept: list[Point] = []
    for point in sorted(found, key=lambda p: (p.cost, -p.value)):
        if not kept or point.value > kept[-1].value:
            kept.append(point)
    return kept


def _reached(group: Group, job: Job, axis: str) -> tuple[float, float | None, float | None] | None:
    if axis == "success":
        values = success_values(job, axis)
        clusters = {row.case_id: row.cluster or row.case_id for row in job.good}
        found = mean_interval(
            list(values.values()),
            [clusters[case] for case in values],
            seed=int(job.summary["run"]["seed"]),
        )
        return None if found.mean is None else (found.mean, found.low, found.high)
    entry = group.entry(job.arm, job.budget, axis)
    return None if entry is None else (entry["mean"], entry["ci_low"], entry["ci_high"])


def _cost(job: Job, unit: str) -> float | None:
    if unit == "view":
        tokens = job.summary["budget_use"].get("mean_view_tokens")
        return None if tokens is None else float(tokens)
    spent = [e.get("cost_usd", 0.0) if unit == "usd" else _tokens(e) for e in _own(job)]
    if None in spent:  # of a model without a price
        return None
    # An arm that chooses at random answers a case several times: its rows, not its cases, count.
    return float(sum(spent)) / len(job.rows) if job.rows else None


def _own(job: Job) -> list[Mapping[str, Any]]:
    """What an arm took, by phase: a judge's tokens, say, are the benchmark's expense."""
    return [entry for phase, entry in job.summary["ledger"].items() if phase not in NOT_ITS_OWN]


def _tokens(total: Mapping[str, Any]) -> float:
    return float(total.get("tokens_in", 0) + total.get("tokens_out", 0))
