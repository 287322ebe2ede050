"""The tables of a life: what was forgotten, what came late or from strangers, and how it grew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from framework.analysis.evidence import Job, load
from framework.contracts.recipe import AddFigure, Recipe
from framework.errors import UserError
from framework.records import Row
from framework.registry import register
from framework.reporting.blocks import NOTHING, Block, Cell, Table, Text
from plugins.protocols.lifecycle.lifetime import TIMINGS

FORGOTTEN: Final = {
    "found before": ("found_before", "deletion"),
    "gone": ("gone", "deletion"),
    "gone by id": ("gone_by_id", "deletion_by_id"),
    "others kept": ("neighbours_kept", "deletion"),
    "told again": ("told_again", "retold"),
}
LATE: Final = {
    "new shown": ("correction_shown", "correction"),
    "new first": ("correction_first", "correction"),
    "truth alone": ("truth_unpoisoned", "unpoisoned"),
    "instructed": ("truth_kept", "instruction"),
    "contradicted": ("truth_kept", "contradiction"),
    "flooded": ("truth_kept", "flood"),
    "false first": ("poison_first", ""),
}
TOGETHER: Final = {
    "tenants apart": ("tenants_apart", "tenants"),
    "found, at once": ("concurrent_found", "concurrent"),
    "not doubled": ("concurrent_single", "concurrent"),
}


@register("recipe", "lifecycle/life")
class Life(Recipe):
    """What became of memories over their life.

    Three tables of shares, and one of times as a memory grows.
    """

    source = "ours; no public benchmark measures it"
    needs = "a run or sweep: decisionbench -m +experiment=lifecycle"

    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        jobs = [job for source in sources for job in load(source).jobs]
        jobs = [job for job in jobs if "gone" in job.summary["axes"]]
        if not jobs:
            raise UserError("no run with protocol=lifecycle")
        yield Text(
            "Each column is a share of its probes, without a judge. What a memory does not offer "
            "is said in its cell. A dash: undefined, as for a deletion of what was never found."
        )
        budget = ", ".join(dict.fromkeys(job.budget for job in jobs))
        yield _table("forgotten", "Deleted, and told again", FORGOTTEN, jobs)
        yield _table("late", f"Corrected late, and poisoned; budget {budget}", LATE, jobs)
        yield _table("together", "Two tenants, and four writers at once", TOGETHER, jobs)
        yield Table(
            anchor="grown",
            caption="Milliseconds of a write and of a search as the memory grows, on one machine; "
            "of a memory that takes a history whole, a write is a rebuild",
            columns=("arm", "notes", "found", "write p50", "p95", "search p50", "p95"),
            rows=list(_grown(jobs)),
        )


def _table(
    anchor: str, caption: str, columns: dict[str, tuple[str, str]], jobs: Sequence[Job]
) -> Table:
    rows: list[list[Cell | str]] = [
        [job.arm, *(_cell(job, *where) for where in columns.values())] for job in jobs
    ]
    return Table(anchor=anchor, caption=caption, columns=("arm", *columns), rows=rows)


def _cell(job: Job, column: str, stratum: str) -> Cell:
    rows = [row for row in job.rows if stratum in ("", row.stratum)]
    known = [value for row in rows if (value := row.axes.get(column)) is not None]
    if known:
        mean = sum(known) / len(known)
        return Cell(text=f"{mean:.2f}", value=mean)
    why = next((row.state or row.error for row in rows if stratum and (row.state or row.error)), "")
    return Cell(text=why.partition(":")[0] or NOTHING)


def _grown(jobs: Sequence[Job]) -> Iterator[list[Cell | str]]:
    for job in jobs:
        grown = [(int(row.stratum.partition("=")[2]), row) for row in job.rows
                 if row.stratum.startswith("growth=")]  # fmt: skip
        for size, row in sorted(grown, key=lambda pair: pair[0]):
            yield [job.arm, f"{size:,}", _cell(job, "found_grown", row.stratum), *_times(row)]


def _times(row: Row) -> Iterator[Cell]:
    for name in TIMINGS:
        seconds = row.timing.get(name)
        if seconds is None:
            yield Cell(text=NOTHING)
        else:
            found = 1_000 * seconds
            yield Cell(text=f"{found:,.0f}" if found >= 100 else f"{found:.2g}", value=found)
