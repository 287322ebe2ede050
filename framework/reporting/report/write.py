"""The report of a run or sweep: report.html, report.md and the files under figures/."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from framework.reporting.evidence import Evidence, load
from framework.reporting.figures import figure
from framework.reporting.figures.style import Drawing, pixels, save
from framework.reporting.report import (
    FIGURE_DIRECTORY,
    HTML,
    MARKDOWN,
    behaviour,
    calibration,
    comparisons,
    conditions,
    corpus,
    judges,
    loops,
    overview,
    robustness,
)
from framework.reporting.report.blocks import Block, Heading, Note, Page, Picture
from framework.reporting.report.html import to_html
from framework.reporting.report.markdown import to_markdown
from framework.reporting.report.provenance import provenance

__all__ = ["Gallery", "page", "write_report"]

_MOST_DRAWN: Final = 4
"""Settings that get figures: a sweep over many seeds would have hundreds."""


def write_report(path: Path) -> Path:
    """Write the report of a finished run or sweep into its directory; return report.html.

    The same rows give the same bytes. Raises UserError for a directory that holds nothing finished.
    """
    evidence = load(path)
    gallery = Gallery(path / FIGURE_DIRECTORY)
    made = page(evidence, gallery)
    gallery.sweep_out()
    for name, text in ((MARKDOWN, to_markdown(made)), (HTML, to_html(made))):
        draft = path / f"{name}.draft"
        draft.write_text(text, encoding="utf-8")
        draft.replace(path / name)
    return path / HTML


@dataclass
class Gallery:
    """Saves drawings, each once, in one directory; `hang` gives the block that shows one."""

    directory: Path
    names: list[str] = field(default_factory=list)

    def hang(self, drawing: Drawing | None) -> Iterator[Block]:
        if drawing is None:
            return
        self.directory.mkdir(parents=True, exist_ok=True)
        svg, png = save(drawing, self.directory)
        self.names += [svg.name, png.name]
        yield Picture(
            anchor=f"figure-{drawing.name}",
            title=drawing.title,
            caption=drawing.caption,
            alt=drawing.alt,
            svg=svg,
            png=png,
            width=pixels(drawing),
        )

    def sweep_out(self) -> None:
        """Remove figures of an earlier report that this one does not have."""
        if self.directory.is_dir():
            for left in [*self.directory.glob("*.svg"), *self.directory.glob("*.png")]:
                if left.name not in self.names:
                    left.unlink()


def page(evidence: Evidence, gallery: Gallery) -> Page:
    """The whole report as blocks; figures are written on the way."""
    blocks = list(_blocks(evidence, gallery))
    return Page(title=overview.title(evidence), blocks=blocks)


def _blocks(evidence: Evidence, gallery: Gallery) -> Iterator[Block]:
    drawn = evidence.groups[:_MOST_DRAWN]
    yield from overview.beginning(evidence)
    left = len(evidence.groups) - len(drawn)
    if left:
        yield Note(
            f"Figures are of the first {_MOST_DRAWN} settings; those of {left} more are left to "
            "the tables, which hold them all."
        )
    yield from loops.loops(evidence, gallery.hang)
    yield from overview.results(evidence)
    for block in comparisons.comparisons(evidence):
        yield block
        if isinstance(block, Heading):
            for group in drawn:
                yield from gallery.hang(figure("forest")(group))
    yield from robustness.published(evidence)
    yield from comparisons.scorecard(evidence)
    yield from robustness.agreement(evidence)
    for title, anchor, names, tables in (
        ("Retention and use", "retention", ("decomposition", "failures"), behaviour.retention),
        ("Commitment and abstention", "abstention", ("car", "risk_coverage"),
         behaviour.abstention),
        ("Calibration", "calibration", ("reliability",), calibration.calibration),
        ("Cost", "cost", ("pareto",), behaviour.cost),
        ("Strata and depth", "strata", ("strata", "depth"), behaviour.by_case),
        ("Ranks", "ranks", ("ranks",), comparisons.ranks_of),
    ):  # fmt: skip
        inner: list[Block] = []
        for group in evidence.groups:
            if group in drawn:
                for name in names:
                    inner += gallery.hang(figure(name)(group))
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
            yield from gallery.hang(drawing)
    yield from corpus.corpus(evidence)
    yield from corpus.extraction(evidence)
    yield from conditions.fairness(evidence)
    yield from conditions.capabilities(evidence)
    yield from conditions.gates(evidence)
    yield from conditions.predictions(evidence)
    yield from robustness.treatment(evidence)
    yield from conditions.correlation(evidence)
    yield from provenance(evidence)
