"""Whether answers are as right as they say: calibration of stated confidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from framework.analysis.calibration import reliability_of
from framework.analysis.evidence import Evidence, Group
from framework.reporting.blocks import Block, Cell, Details, Heading, Table, Text
from framework.reporting.cells import bounded, count, number_cell
from framework.reporting.sections.overview import titled


def is_answered(evidence: Evidence) -> bool:
    """Whether anything was answered whose success is known."""
    return any(row.success is not None for job in evidence.jobs for row in job.good)


def unstated() -> Iterator[Block]:
    """What stands for a calibration where there is none."""
    yield Heading("Calibration", "calibration")
    yield Text("No confidence stated: no answer says how sure it is, so none can be calibrated.")


def calibration(group: Group) -> Iterator[Block]:
    """Expected calibration error and Brier score by arm; then the bins behind them."""
    rows: list[Sequence[Cell | str]] = []
    bins: list[Sequence[Cell | str]] = []
    for job in group.jobs:
        found = reliability_of(job)
        if found is None or found.ece is None:
            continue
        rows.append(
            [
                job.arm,
                job.budget,
                bounded(found.ece, found.ece_low, found.ece_high),
                number_cell(found.ece_by_chance),
                number_cell(found.brier),
                count(found.n),
                count(found.n_undefined),
                found.method,
            ]
        )
        for one in found.bins:
            bins.append(
                [
                    job.arm,
                    job.budget,
                    f"{one.low:.1f} to {one.high:.1f}",
                    count(one.n),
                    number_cell(one.confidence),
                    bounded(one.accuracy, one.accuracy_low, one.accuracy_high),
                ]
            )
    if not rows:
        return
    yield Table(
        anchor=f"calibration-table-{group.index}",
        caption=titled(
            "Expected calibration error over ten bins: biased upwards, so to be read against what "
            "a calibrated arm that is as sure would show by chance; and the Brier score",
            group,
        ),
        columns=[
            *("arm", "budget", "ECE", "by chance", "Brier", "answers", "without a confidence"),
            "limits",
        ],
        rows=rows,
    )
    table = Table(
        anchor=f"calibration-bins-{group.index}",
        caption=titled("Answers by stated confidence", group),
        columns=["arm", "budget", "confidence", "answers", "mean confidence", "share right"],
        rows=bins,
    )
    yield Details("The bins", [table])
