"""Errors of whoever has no context, task after task (Depth, Theorem 3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from framework.analysis.evidence import Job
from framework.contracts.recipe import AddFigure
from framework.errors import UserError
from framework.registry import register
from framework.reporting.blocks import Block, Cell, Table, Text
from framework.statistics.intervals import mean_interval
from plugins.recipes._cells import of_interval, shown, stands
from plugins.recipes.depth._cases import values
from plugins.recipes.depth._drawn import known
from plugins.recipes.depth._information import regret_floor
from plugins.recipes.depth._knobs import Sweep, needs, placed

_AXIS: Final = "compliance"
_STOPS: Final = 4


@register("recipe", "depth/regret")
class Regret(Sweep):
    """Errors without context, task after task, against their floor."""

    source = "Depth, Theorem 3"
    needs = needs("intervention")

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        placed(jobs)
        floor = 1 - known(jobs, "blind_success")
        answered = {job.arm: job for job in jobs if values(job, _AXIS)}
        if not any(map(_is_blind, answered.values())):
            raise UserError("no arm with answers whose views are all empty (arch=none)")
        yield Text(
            "Theorem 3: over T governed tasks an agent without context errs at least as often as "
            "the sum of the tasks' Bayes floors, which grows in a straight line. The floor of a "
            f"task is {floor:.4f} here: what a decision fixes is drawn without regard to the task, "
            "and the one answer that most draws admit complies with as few of them. An error is an "
            "edit that does not comply; tasks are counted in the order of their ids. Limits are of "
            "95% over corpora. Errors are of the reader that the run names: with a rule-based "
            "model (†) they are no evidence about language models, but the floor binds any. An "
            "arm with context may stand below it; the theorem says nothing of those."
        )
        yield _table("without", "Errors without context", floor, answered, blind=True)
        if not all(map(_is_blind, answered.values())):
            yield _table("with", "Errors with context", floor, answered, blind=False)


def _table(anchor: str, caption: str, floor: float, jobs: dict[str, Job], *, blind: bool) -> Table:
    shown_jobs = {arm: job for arm, job in jobs.items() if _is_blind(job) is blind}
    rows: list[list[Cell | str]] = []
    for arm, job in shown_jobs.items():
        found = values(job, _AXIS)
        losses = [1 - found[case] for case in sorted(found)]
        stops = [round(len(losses) * part / _STOPS) for part in range(1, _STOPS + 1)]
        seed = int(job.summary["run"]["seed"])
        clusters = [job.means.clusters[case] for case in sorted(found)]
        loss = of_interval(mean_interval(losses, clusters, seed=seed))
        rows.append(
            [
                arm + ("†" if job.summary["run"]["model_kind"] == "rule-based" else ""),
                *(_errors(sum(losses[:stop]), stop, floor) for stop in stops),
                shown(loss, 3),
                stands(loss, floor),
            ]
        )
    parts = [f"{part}/{_STOPS} of the tasks" for part in range(1, _STOPS)]
    columns = ("", *parts, "all tasks", "errors a task", "against the floor")
    return Table(anchor=f"regret-{anchor}", caption=caption, columns=columns, rows=rows)


def _errors(errors: float, tasks: int, floor: float) -> Cell:
    least = regret_floor([floor] * tasks)
    return Cell(text=f"{errors:.0f} of {tasks}", under=f"floor {least:.1f}", value=errors)


def _is_blind(job: Job) -> bool:
    """Whether no view held anything."""
    return not any(row.view_tokens for row in job.good)
