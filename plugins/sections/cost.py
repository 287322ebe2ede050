"""What being right costs, in calls, tokens, dollars and seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from framework.analysis.cost import MEASURES, RATE
from framework.registry import register
from framework.reporting.blocks import Block, Cell, Details
from framework.reporting.cells import UNDEFINED, bounded, count, delta, number_cell, yes_no
from framework.reporting.format import mark_of
from framework.reporting.grouped import GroupedSection
from framework.reporting.tables import Column, arms_table, table, titled

if TYPE_CHECKING:
    from framework.analysis.evidence import Group, Job
    from framework.reporting.figures.style import Drawing


@register("section", "cost")
class Cost(GroupedSection):
    """Cost of a right answer; calls, tokens, dollars and seconds by phase; points of the planes."""

    place, place_at_end = 430, 110
    title, anchor = "Cost", "cost"
    draws = ("pareto",)

    def draw(self, name: str, group: Group) -> Drawing | None:
        from plugins.sections.figures import planes

        return planes.pareto(group)

    def tables(self, group: Group) -> Iterator[Block]:
        from plugins.sections.frontier import cost_unit, frontier, points

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

    def at_end_of(self, group: Group) -> Iterator[Block]:
        yield from cost_effectiveness(group)


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
        limits = entry["ci_low"], entry["ci_high"]
        return bounded(entry["mean"], *limits, digits=digits, mark=mark_of(entry))

    return cell


def _dollars(value: float | None) -> Cell:
    return number_cell(value, 4)
