"""Tables of the Depth paper with what is measured beside what is printed, arm by arm."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar, Final

from framework.analysis.evidence import Job
from framework.contracts.recipe import AddFigure
from framework.reporting.blocks import Block, Cell, Note, Table
from plugins.recipes._cells import UNDEFINED, Measured, against, measured
from plugins.recipes._paper_values import Printed, printed
from plugins.recipes.depth._cases import slope
from plugins.recipes.depth._knobs import Sweep, by_depth, needs

ARMS: Final = {
    "Brief": "brief_graph_3hop",
    "hybrid": "hybrid_rrf",
    "random": "random_context",
    "rerank": "rerank_ce",
}
"""The paper's names of arms that are called otherwise here; the others have one name."""
_EMBEDDER: Final = re.compile(r"\(embedder=[^,()]+\)$")
_PRINTED_DEPTHS: Final = 3
"""Depths that the paper's tables have: 1, 2 and 3."""


class Beside(Sweep):
    """Measured numbers beside a printed table, arm by arm. also : further tables, the same way."""

    needs = needs("paper_geometry")
    table: ClassVar[str]
    also: ClassVar[Sequence[str]] = ()
    digits: ClassVar[int] = 3

    @abstractmethod
    def value(self, job: Job, column: str) -> Measured:
        """What is measured of the table's column."""

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        sources = [printed("depth")[name] for name in (self.table, *self.also)]
        yield elsewhere(sources[0])
        for source in sources:
            yield printed_beside(source, self.columns(source), jobs, self.value, self.digits)

    def columns(self, source: Printed) -> Mapping[str, str]:
        """The table's columns as they are named here, and as they are printed."""
        return {name: name for name in source.columns}


def printed_name(arm: str) -> str:
    """An arm's name without its embedder, which a paper's name does not tell."""
    return _EMBEDDER.sub("", arm)


def printed_beside(
    source: Printed,
    columns: Mapping[str, str],
    jobs: Sequence[Job],
    value: Callable[[Job, str], Measured],
    digits: int = 3,
) -> Table:
    """A printed table and what is measured: its arms first, then ours that it has not.

    An arm's printed row stands beside ours whatever the embedder of ours, which its label tells.

    columns : as they are named here, and in the printed table. value : of a job and a column, by
        its name here.
    """
    by_arm = {job.arm: job for job in jobs}
    labels = {ARMS.get(label, label): label for label in source.values}
    ours = {name: arm for arm in by_arm if (name := printed_name(arm)) in labels}
    rows: list[list[Cell | str]] = []
    for arm in dict.fromkeys([*(ours.get(name, name) for name in labels), *by_arm]):
        texts, job = source.row(labels.get(printed_name(arm), "")), by_arm.get(arm)
        found = {name: value(job, name) if job else UNDEFINED for name in columns}
        rows.append([arm, *(against(one, texts.get(columns[name], ""), digits)
                            for name, one in found.items())])  # fmt: skip
    return Table(
        anchor=source.name.replace("_", "-"),
        caption=f"{source.source}. Under each number: its 95% interval, what the paper "
        "prints, and the difference.",
        columns=("", *columns),
        rows=rows,
    )


def elsewhere(source: Printed) -> Block:
    """What the printed numbers of a table are, and are not."""
    return Note(
        "The printed numbers are the authors', of another corpus, budget and model: they stand "
        f"beside for orientation ({source.standing}), and agreement with them would prove nothing."
    )


_AXES: Final = {
    "compliance": "compliance",
    "recall": "recall",
    "precision": "precision",
    "F1": "f1",
    "merge-ready": "merge_ready",
    "chain recovery": "chain_recovery",
    "RoT": "successes_per_1000_tokens",
    "kappa": "kappa",
    "nDCG@10": "ndcg_at_10",
}


class ByAxis(Beside):
    """A column is an axis."""

    def value(self, job: Job, column: str) -> Measured:
        return measured(job.summary["axes"].get(_AXES[column]))


class ByDepth(Beside):
    """A column is a depth of one axis; its slope is, as in the paper, depth 3 minus depth 1."""

    axis: ClassVar[str]

    def value(self, job: Job, column: str) -> Measured:
        if column == "slope":
            found = slope(job, self.axis, deepest=_PRINTED_DEPTHS)
            return UNDEFINED if len(found.means) < _PRINTED_DEPTHS else found.ends
        points = {f"d={point.x:g}": point.measured for point in by_depth(job, self.axis)}
        return points.get(column, UNDEFINED)
