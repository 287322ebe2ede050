"""The report of a run or sweep: report.html, report.md and the files under figures/."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from framework.analysis.evidence import (
    Evidence,
    as_printed,
    load,
    of_run,
    of_sweep,
    redacted,
)
from framework.registry import plugins
from framework.reporting.blocks import Block, Heading, Note, Page, Text
from framework.reporting.figures import budgets, forest, parts, planes, ranks, shares
from framework.reporting.figures.style import FigureWriter
from framework.reporting.html import to_html
from framework.reporting.markdown import blocks_markdown, to_markdown
from framework.reporting.sections import (
    behaviour,
    calibration,
    comparisons,
    conditions,
    corpus,
    coverage,
    judges,
    loops,
    overview,
    robustness,
)
from framework.reporting.sections.provenance import provenance
from framework.reporting.sections.verdict import verdict
from framework.reporting.terminal import print_blocks
from framework.store.atomic import write_text
from framework.store.directory import FIGURES, HTML, MARKDOWN, FinishedRun

_MOST_DRAWN: Final = 4
"""Settings that get figures: a sweep over many seeds would have hundreds."""


def write_report(path: Path, runs: Sequence[FinishedRun] = (), *, redact: bool = False) -> Path:
    """Write the report of a finished run or sweep into its directory; return report.html.

    runs : what was read of it already. redact : leave out all words that may be of a case.
    The same rows give the same bytes. Raises UserError for a directory that holds nothing finished.
    """
    evidence = as_printed(load(path, runs))
    if redact:
        evidence = redacted(evidence)
    writer = FigureWriter(path / FIGURES)
    made = page(evidence, writer)
    writer.remove_stale()
    for name, text in ((MARKDOWN, to_markdown(made)), (HTML, to_html(made))):
        write_text(path / name, text)
    return path / HTML


def print_run(summary: Mapping[str, Any]) -> None:
    """Print a run's axes with their intervals, its gate and its errors."""
    print_blocks(ending(of_run(summary)), folded=False)


def print_sweep(sweep: Mapping[str, Any], *, paged: bool = False) -> None:
    """Print the content of a sweep.json, or what compares runs; briefly where a page has it all."""
    evidence = of_sweep(sweep)
    print_blocks(brief(evidence) if paged else ending(evidence), folded=paged)


def sweep_markdown(sweep: Mapping[str, Any]) -> str:
    """What `print_sweep` prints, as Markdown."""
    return blocks_markdown(ending(of_sweep(sweep)))


def print_loop(results: Mapping[str, Any]) -> None:
    """Print a loop, the content of its improve.json."""
    print_blocks(loops.one_loop(results))


def print_loops(summary: Mapping[str, Any]) -> None:
    """Print the loops of a sweep, the content of its improve.json."""
    print_blocks(loops.loops_of(summary))


def brief(evidence: Evidence) -> Iterator[Block]:
    """The verdict, one table a setting, and what may not be overlooked; the rest is in the page."""
    yield from verdict(evidence)
    yield from overview.notes(evidence)
    for group in evidence.groups[:_MOST_DRAWN]:
        yield overview.short_table(group)
    left = len(evidence.groups) - _MOST_DRAWN
    flags = len(evidence.sweep.get("budget_flags", ()))
    yield Text(
        "In the page: every axis, what being right costs, "
        f"{len(evidence.sweep['comparisons'])} paired comparisons, budget use ({flags} flags)"
        f"{f', {left} more settings' if left > 0 else ''}."
    )
    yield from conditions.predictions(evidence)
    yield from conditions.gate_lines(evidence)


def ending(evidence: Evidence) -> Iterator[Block]:
    """The sections of a page that are shown at the end of a run or sweep: summaries suffice."""
    yield from verdict(evidence)
    yield from overview.notes(evidence)
    if evidence.is_sweep:
        yield from overview.main_tables(evidence)
        yield from overview.telling_cases(evidence)
    elif evidence.jobs[0].summary["axes"]:
        yield overview.axes_table(evidence.jobs[0], "axes-0")
    for group in evidence.groups:
        yield from behaviour.declared_strata(group)
        yield from behaviour.cost_effectiveness(group)
    if evidence.is_sweep:
        yield from conditions.budget_flags(evidence)
    for section in (
        *(comparisons.comparisons, robustness.published, robustness.agreement, corpus.corpus),
        *(
            corpus.extraction,
            robustness.counterfactual_pairs,
            conditions.predictions,
            conditions.gates,
        ),
    ):
        yield from section(evidence)


def page(evidence: Evidence, writer: FigureWriter) -> Page:
    """The whole report as blocks; figures are written on the way."""
    terms = overview.terms(evidence)
    blocks = [*_blocks(evidence, writer), *overview.glossary(terms)]
    return Page(title=overview.title(evidence), blocks=blocks, terms=terms)


def _blocks(evidence: Evidence, writer: FigureWriter) -> Iterator[Block]:
    drawn = evidence.groups[:_MOST_DRAWN]
    yield from overview.beginning(evidence)
    left = len(evidence.groups) - len(drawn)
    if left:
        yield Note(
            f"Figures are of the first {_MOST_DRAWN} settings; those of {left} more are left to "
            "the tables, which hold them all."
        )
    yield from loops.loops(evidence, writer.add_figure)
    yield from overview.results(evidence)
    for block in comparisons.comparisons(evidence):
        yield block
        if isinstance(block, Heading):
            for group in drawn:
                yield from writer.add_figure(forest.forest(group))
    yield from robustness.published(evidence)
    yield from comparisons.scorecard(evidence)
    yield from robustness.agreement(evidence)
    for title, anchor, figures, tables in (
        ("Retention and use", "retention",
         (budgets.budget_curve, shares.decomposition, shares.failures),
         behaviour.retention),
        ("Commitment and abstention", "abstention", (planes.commitment, planes.risk_coverage),
         behaviour.abstention),
        ("Calibration", "calibration", (planes.reliability,), calibration.calibration),
        ("Cost", "cost", (planes.pareto,), behaviour.cost),
        ("Strata and depth", "strata", (parts.strata, parts.depth), behaviour.by_case),
        ("Ranks", "ranks", (ranks.ranks,), comparisons.ranks_of),
    ):  # fmt: skip
        inner: list[Block] = []
        for group in evidence.groups:
            if group in drawn:
                for draw in figures:
                    inner += writer.add_figure(draw(group))
            inner += tables(group)
        if inner:
            yield Heading(title, anchor)
            yield from inner
        elif anchor == "calibration" and calibration.is_answered(evidence):
            yield from calibration.unstated()
    found = judges.pairs(evidence)
    if found:
        yield from judges.blocks(found)
        for drawing in judges.drawings(found):
            yield from writer.add_figure(drawing)
    yield from corpus.corpus(evidence)
    yield from corpus.extraction(evidence)
    yield from conditions.budget_use(evidence)
    yield from conditions.capabilities(evidence)
    yield from conditions.gates(evidence)
    yield from conditions.predictions(evidence)
    yield from robustness.counterfactual_pairs(evidence)
    yield from conditions.correlation(evidence)
    yield from coverage.coverage(evidence)
    for section in plugins("section"):
        yield from section.cls().blocks(evidence.plan)
    yield from provenance(evidence)
