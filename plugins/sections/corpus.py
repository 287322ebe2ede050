"""What was worked on: what domains measured of their corpora, and what extractors found in them."""

from __future__ import annotations

from collections.abc import Iterator

from framework.analysis.evidence import Evidence
from framework.contracts.section import AddFigure, Section, no_figure
from framework.registry import register
from framework.reporting.blocks import Block, Cell, Heading, Text
from framework.reporting.cells import count, number_cell
from framework.reporting.tables import each, table


@register("section", "corpus")
class Corpus(Section):
    """Figures of the corpus, one column per domain that measured its own."""

    place, place_at_end = 600, 400

    def blocks(self, evidence: Evidence, add_figure: AddFigure) -> Iterator[Block]:
        reports = {
            job.summary["run"]["domain"]: job.summary["corpus"]
            for job in evidence.jobs
            if job.summary.get("corpus")
        }
        if not reports:
            return
        yield Heading("Corpus", "corpus")
        names = dict.fromkeys(name for report in reports.values() for name in report)
        yield table(
            "corpus-table",
            "Properties of the corpus itself, measured by each domain; the same for every arm.",
            {"": "name", **each(reports, _amount)},
            [
                {"name": name, **{domain: report.get(name) for domain, report in reports.items()}}
                for name in names
            ],
        )

    def at_end(self, evidence: Evidence) -> Iterator[Block]:
        yield from self.blocks(evidence, no_figure)


@register("section", "extraction")
class Extraction(Section):
    """Precision and recall of extracted nodes and edges by type, against the given ones."""

    place, place_at_end = 610, 410

    def blocks(self, evidence: Evidence, add_figure: AddFigure) -> Iterator[Block]:
        found = [
            {"job": job, "of": what, "type": type_, **counts}
            for job in evidence.jobs
            for what, types in (job.summary.get("extraction") or {}).items()
            for type_, counts in types.items()
        ]
        if not found:
            return
        yield Heading("Extraction", "extraction")
        yield Text(
            "What extractors found in raw text, compared with the domain's own nodes and edges. "
            "Arms see only what was extracted."
        )
        yield table(
            "extraction-table",
            "By type: precision of what was found, recall of what the domain has.",
            {
                "arm": ("job", lambda job: job.arm),
                "domain": ("job", lambda job: job.summary["run"]["domain"]),
                "budget": ("job", lambda job: job.budget),
                "of": "of",
                "type": "type",
                **each(("precision", "recall"), number_cell),
                **each(("found", "given"), count),
            },
            found,
        )

    def at_end(self, evidence: Evidence) -> Iterator[Block]:
        yield from self.blocks(evidence, no_figure)


def _amount(value: float | None) -> Cell:
    if value is None or value == int(value):
        return count(value)
    return Cell(text=f"{value:,.4g}", value=float(value))
