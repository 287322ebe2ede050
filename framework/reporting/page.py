"""The report of a run or sweep: report.html, report.md and the files under figures/."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from framework.analysis.evidence import Evidence, as_printed, load, of_run, of_sweep, redacted
from framework.contracts.section import Section
from framework.registry import plugins
from framework.reporting.blocks import Block, Note, Page, Text
from framework.reporting.figures.style import FigureWriter
from framework.reporting.grouped import GroupedSection
from framework.reporting.html import to_html
from framework.reporting.markdown import blocks_markdown, to_markdown
from framework.reporting.sections import conditions, overview
from framework.reporting.sections.provenance import provenance
from framework.reporting.sections.verdict import verdict
from framework.reporting.terminal import print_blocks
from framework.store.atomic import write_text
from framework.store.directory import FIGURES, HTML, MARKDOWN
from framework.store.state import FinishedRun
from framework.text.counting import counted

_Part = tuple[int, Callable[[Evidence], Iterable[Block]]]
"""A place (`framework.contracts.section`), and what stands there."""
_OWN: Final[Sequence[_Part]] = (
    (200, overview.results),
    (800, conditions.budget_use),
    (820, conditions.capabilities),
    (840, conditions.gates),
    (1000, provenance),
)
_OWN_AT_END: Final[Sequence[_Part]] = (
    (200, conditions.flags_at_end),
    (700, conditions.gates),
)


def write_report(path: Path, runs: Sequence[FinishedRun] = (), *, redact: bool = False) -> Path:
    """Write the report of a finished run or sweep into its directory; return report.html.

    runs : what was read of it already. redact : leave out all words that may be of a case.
    The same directory gives the same bytes: the times of its runs are those of their journals.
    Raises UserError for a directory that holds nothing finished.
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


def print_reported(path: Path) -> None:
    """Print what the protocol of a run's or sweep's directory reports."""
    for section in _sections():
        print_blocks(section.reported(path))


def brief(evidence: Evidence) -> Iterator[Block]:
    """The verdict, one table a setting, and what may not be overlooked; the rest is in the page."""
    yield from verdict(evidence)
    yield from overview.notes(evidence)
    together = evidence.over_seeds
    for group in together.drawn:
        yield overview.short_table(group)
    left = len(together.groups) - len(together.drawn)
    flags = len(evidence.sweep.get("budget_flags", ()))
    pairs = counted(len(together.sweep["comparisons"]), "paired comparison")
    seeds = "each seed alone, " if together is not evidence else ""
    yield Text(
        f"On the page: {seeds}every axis, the cost of a right answer, "
        f"{pairs}, budget use ({counted(flags, 'flag')})"
        f"{f', {left} more settings' if left > 0 else ''}."
    )
    paged = [(s.place_at_end, s.at_end) for s in _sections() if s.paged]
    yield from _in_order([*paged, (700, conditions.gate_lines)], evidence)


def ending(evidence: Evidence) -> Iterator[Block]:
    """The sections of a page that are shown at the end of a run or sweep: summaries suffice."""
    yield from verdict(evidence)
    yield from overview.notes(evidence)
    if evidence.is_sweep:
        yield from overview.main_tables(evidence)
        yield from overview.telling_cases(evidence)
    elif evidence.jobs[0].summary["axes"]:
        yield overview.axes_table(evidence.jobs[0], "axes-0", narrow=True)
    sections = sorted(_sections(), key=lambda section: section.place_at_end)
    for group in evidence.groups:
        for section in sections:
            if isinstance(section, GroupedSection):
                yield from section.at_end_of(group)
    yield from _in_order([*((s.place_at_end, s.at_end) for s in sections), *_OWN_AT_END], evidence)


def page(evidence: Evidence, writer: FigureWriter) -> Page:
    """The whole report as blocks; figures are written on the way."""
    terms = overview.terms(evidence)
    blocks = [*_blocks(evidence, writer), *overview.glossary(terms)]
    return Page(title=overview.title(evidence), blocks=blocks, terms=terms)


def _blocks(evidence: Evidence, writer: FigureWriter) -> Iterator[Block]:
    yield from overview.beginning(evidence)
    left = len(evidence.groups) - len(evidence.drawn)
    if left:
        yield Note(
            f"Figures show the first {len(evidence.drawn)} settings only; the other {left} are in "
            "the tables, which hold all settings."
        )

    def drawn(section: Section) -> Callable[[Evidence], Iterable[Block]]:
        return lambda evidence: section.blocks(evidence, writer.add_figure)

    yield from _in_order([*((s.place, drawn(s)) for s in _sections()), *_OWN], evidence)


def _sections() -> list[Section]:
    return [plugin.cls() for plugin in plugins("section")]


def _in_order(parts: Iterable[_Part], evidence: Evidence) -> Iterator[Block]:
    for _, blocks in sorted(parts, key=itemgetter(0)):
        yield from blocks(evidence)
