"""What was worked on: what domains measured of their corpora, and what extractors found in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from framework.analysis.evidence import Evidence
from framework.reporting.blocks import Block, Cell, Heading, Table, Text
from framework.reporting.cells import count, number_cell


def corpus(evidence: Evidence) -> Iterator[Block]:
    """A column for each domain that measured its corpus."""
    reports = {
        job.summary["run"]["domain"]: job.summary["corpus"]
        for job in evidence.jobs
        if job.summary.get("corpus")
    }
    if not reports:
        return
    yield Heading("Corpus", "corpus")
    names = dict.fromkeys(name for report in reports.values() for name in report)
    yield Table(
        anchor="corpus-table",
        caption="What each domain measured of the corpus itself, whatever arm works on it.",
        columns=["", *reports],
        rows=[
            [name, *(_amount(report.get(name)) for report in reports.values())] for name in names
        ],
    )


def extraction(evidence: Evidence) -> Iterator[Block]:
    """Precision and recall of extracted nodes and edges by type, against those given."""
    rows: list[Sequence[Cell | str]] = []
    for job in evidence.jobs:
        for what, types in (job.summary.get("extraction") or {}).items():
            for type_, found in types.items():
                rows.append(
                    [
                        job.arm,
                        job.summary["run"]["domain"],
                        job.budget,
                        what,
                        type_,
                        number_cell(found["precision"]),
                        number_cell(found["recall"]),
                        count(found["found"]),
                        count(found["given"]),
                    ]
                )
    if not rows:
        return
    yield Heading("Extraction", "extraction")
    yield Text(
        "What extractors made of raw text, against the nodes and edges that the domain knows; the "
        "arms see what was extracted, never these."
    )
    yield Table(
        anchor="extraction-table",
        caption="By type: precision over what was found, recall over what is given.",
        columns=[
            *("arm", "domain", "budget", "of", "type", "precision", "recall", "found", "given"),
        ],
        rows=rows,
    )


def _amount(value: float | None) -> Cell:
    if value is None or value == int(value):
        return count(value)
    return Cell(text=f"{value:,.4g}", value=float(value))
