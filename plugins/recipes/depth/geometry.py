"""The Depth paper's tables and figures, from sweeps over governed corpora."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from framework.analysis.evidence import Group, Job, higher_is_better, load
from framework.analysis.outcomes import part_values
from framework.contracts.recipe import AddFigure, Recipe
from framework.errors import UserError
from framework.registry import register
from framework.reporting.blocks import Block, Cell, Note, Table, Text
from framework.reporting.figures import figure
from framework.statistics.paired import Comparison
from framework.statistics.ratios import ratio_of_means
from plugins.recipes._cells import Measured, against, measured, shown
from plugins.recipes._paper_values import Printed, printed
from plugins.recipes.depth._cases import STAR, difference, gain, slope
from plugins.recipes.depth._knobs import by_depth, curves_block, jobs_of, needs, setting, words

ARMS: Final = {
    "Brief": "typed_graph",
    "brief_graph_3hop": "typed_graph",
}
"""The paper's names of arms that are called otherwise here; the others have one name."""


_PRINTED_DEPTHS: Final = 3
"""Depths that the paper's tables have: 1, 2 and 3."""


def _ours(label: str) -> str:
    return ARMS.get(label, label)


# --------------------------------------------------------------------------- beside what is printed


class _Beside(Recipe):
    """Measured numbers beside a printed table, arm by arm."""

    needs = needs("paper_geometry")
    table: ClassVar[str]
    digits: ClassVar[int] = 3

    @abstractmethod
    def value(self, job: Job, column: str) -> Measured:
        """What is measured of the table's column."""

    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        jobs = jobs_of(sources)
        by_arm = {job.arm: job for job in jobs}
        source = printed("depth")[self.table]
        yield from words(jobs)
        yield _elsewhere(source)
        rows: list[list[Cell | str]] = []
        for label in dict.fromkeys([*map(_ours, source.values), *by_arm]):
            job = by_arm.get(label)
            texts = next((source.row(k) for k in source.values if _ours(k) == label), {})
            rows.append(
                [label]
                + [
                    against(
                        self.value(job, column) if job else Measured(value=None),
                        texts.get(column, ""),
                        self.digits,
                    )
                    for column in source.columns
                ]
            )
        yield Table(
            anchor=self.table.replace("_", "-"),
            caption=f"{source.source}. Under each number: its 95% interval, what the paper "
            "prints, and the difference.",
            columns=("", *source.columns),
            rows=rows,
        )


def _elsewhere(source: Printed) -> Block:
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
    "RoT": "return_on_tokens",
    "kappa": "kappa",
}


class _ByAxis(_Beside):
    """A column is an axis."""

    def value(self, job: Job, column: str) -> Measured:
        return measured(job.summary["axes"].get(_AXES[column]))


class _ByDepth(_Beside):
    """A column is a depth of one axis; its slope is, as in the paper, depth 3 minus depth 1."""

    axis: ClassVar[str]

    def value(self, job: Job, column: str) -> Measured:
        if column == "slope":
            found = slope(job, self.axis, deepest=_PRINTED_DEPTHS)
            if len(found.means) < _PRINTED_DEPTHS:
                return Measured(value=None)
            return Measured(value=found.endpoint, low=found.endpoint_low, high=found.endpoint_high)
        points = {f"d={point.x:g}": point.measured for point in by_depth(job, self.axis)}
        return points.get(column, Measured(value=None))


@register("recipe", "depth/table6")
class AllAxes(_ByAxis):
    """All axes by arm."""

    source = "Depth, Table 6"
    table = "table_6"


@register("recipe", "depth/figure32")
class ReturnOnTokens(_ByAxis):
    """Return on tokens by arm."""

    source = "Depth, Figure 32"
    table = "figure_32"


@register("recipe", "depth/table7")
class ComplianceByDepth(_ByDepth):
    """Compliance by depth."""

    source = "Depth, Table 7"
    table = "table_7"
    axis = "compliance"


@register("recipe", "depth/table67")
class RecallByDepth(_ByDepth):
    """Recall by depth."""

    source = "Depth, Table 67"
    table = "table_67"
    axis = "recall"


@register("recipe", "depth/table34")
class Failures(_Beside):
    """Why cases failed.

    Among failures, the percentage of one kind: a ratio of means over all cases.
    """

    source = "Depth, Table 34"
    table = "table_34"
    digits = 1

    def value(self, job: Job, column: str) -> Measured:
        found = part_values(job)
        if found is None:
            return Measured(value=None)
        parts, clusters = found
        lost, unused = (list(parts[part].values()) for part in ("lost_wrong", "retained_wrong"))
        share = ratio_of_means(
            lost if column.startswith("not") else unused,
            [a + b for a, b in zip(lost, unused, strict=True)],
            list(clusters.values()),
        )
        return Measured(value=share.value, low=share.low, high=share.high).times(100)


# ------------------------------------------------------------------------- figures of every report


class _Drawn(Recipe):
    """A figure that every report has, of a sweep over governed corpora, with its tables."""

    needs = needs("paper_geometry")
    drawing: ClassVar[str]

    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        groups = [group for path in sources for group in load(path).groups]
        yield from words([job for group in groups for job in group.jobs])
        added = [block for group in groups for block in add_figure(figure(self.drawing)(group))]
        if not added:
            title = (type(self).__doc__ or "").rstrip(".")
            raise UserError(f"{title}: the sweep has not what it needs")
        yield from added
        for group in groups:
            yield from self.tables(group)

    def tables(self, group: Group) -> Iterator[Block]:
        """Tables that stand with the figure."""
        yield from ()


@register("recipe", "depth/F023")
class CriticalDifference(_Drawn):
    """Critical difference."""

    source = "Depth, Figure 47"
    drawing = "ranks"

    def tables(self, group: Group) -> Iterator[Block]:
        from framework.reporting.sections import comparisons

        yield from comparisons.ranks_of(group)


@register("recipe", "depth/F024")
class Forest(_Drawn):
    """Forest of paired differences."""

    source = "Depth, Figure 48"
    drawing = "forest"


@register("recipe", "depth/F027")
class FailureSplit(_Drawn):
    """Failure split."""

    source = "Depth, Table 34 (figure F027)"
    drawing = "failures"


@register("recipe", "depth/F020")
class AccuracyAndCost(_Drawn):
    """Accuracy and cost."""

    source = "Depth, Figure 29"
    drawing = "pareto"

    def tables(self, group: Group) -> Iterator[Block]:
        from framework.reporting.sections import behaviour

        yield from behaviour.cost(group)


@register("recipe", "depth/table10")
class Scorecard(Recipe):
    """Scorecard.

    Wins, near-ties and losses of every arm, none left out, beside the printed tally.
    """

    source = "Depth, Table 10"
    needs = needs("paper_geometry")

    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        from framework.reporting.sections import comparisons

        source = printed("depth")["table_10"]
        yield from words(jobs_of(sources))
        for path in sources:
            yield from comparisons.scorecard(load(path))
        printed_tally = "; ".join(f"{name} {row[0]}" for name, row in source.values.items())
        yield Note(
            f"The paper prints for its typed store over 41 axes: {printed_tally}. Its axes, arms "
            "and rule for a near-tie are other ones."
        )


@register("recipe", "depth/F017")
class Intervention(Recipe):
    """What a memory adds, by axis.

    typed_graph minus no memory at all, paired by case, axis by axis (Product Navigator).
    """

    source = "Depth, Figures 56 and 57"
    needs = needs("intervention")

    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        jobs: list[Job] = []
        lifts: list[_Lift] = []
        without: dict[str, None] = {}
        for path in sources:
            evidence = load(path)
            jobs += evidence.jobs
            for group in evidence.groups:
                none = next((job for job in group.jobs if job.arm == "none"), None)
                for job in group.jobs if none is not None else ():
                    if job.arm.startswith("typed_graph"):
                        assert none is not None
                        found, lacking = _lifts(job.arm, job, none)
                        lifts += found
                        without |= dict.fromkeys(lacking)
        if not lifts:
            raise UserError("the sweep lacks arch=none or arch=typed_graph")
        yield from words(jobs)
        yield Text(
            "Every axis of which more or less is better and that both runs define, paired by task "
            f"on the tasks where both do; shares first, the largest lift first. {STAR}"
            + (f" Without a task where both define it: {', '.join(without)}." if without else "")
        )
        yield Table(
            anchor="intervention",
            caption="Lift over no memory by axis",
            columns=("", "axis", "with memory", "without", "lift", "n"),
            rows=[lift.cells for lift in sorted(lifts, key=_size, reverse=True)],
        )


def _size(lift: _Lift) -> tuple[bool, float]:
    return lift.found.share, abs(lift.found.delta or 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lift:
    """An arm minus no memory on one axis."""

    arm: str
    axis: str
    found: Comparison

    @property
    def cells(self) -> list[Cell | str]:
        """As a row of the table."""
        found = self.found
        better = "" if higher_is_better(self.axis) else " (less is better)"
        return [
            self.arm,
            f"{self.axis}{better}",
            shown(Measured(value=found.mean_a), 3),
            shown(Measured(value=found.mean_b), 3),
            gain(found, digits=3),
            str(found.n),
        ]


def _lifts(arm: str, job: Job, none: Job) -> tuple[list[_Lift], list[str]]:
    """The lift on every axis of which more or less is better, and the axes that it is not told of.

    Those are without a value on the cases of one of the two.
    """
    lifts: list[_Lift] = []
    without: list[str] = []
    named = {axis for one in (job, none) for row in one.good for axis in row.axes}
    for axis in sorted(named):
        if higher_is_better(axis) is None:
            continue
        found = difference(job, none, axis)
        if found is None:
            without.append(axis)
        else:
            lifts.append(_Lift(arm=arm, axis=axis, found=found))
    return lifts, without


# ------------------------------------------------------------------------------ tables with one row


@register("recipe", "depth/table39")
class SeedAndTraversal(Recipe):
    """Seed and traversal.

    Recall by depth of the seed alone and with traversal.
    """

    source = "Depth, Table 39"
    needs = needs("seed_traversal")

    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        jobs = jobs_of(sources)
        yield from words(jobs)
        curves = {job.arm: curve for job in jobs if (curve := by_depth(job, "recall"))}
        if not curves:
            raise UserError("the runs have no recall by depth")
        yield curves_block("seed-traversal", "recall by depth", "depth", curves)
        source = printed("depth")["table_39"]
        yield Text(
            "The paper prints: "
            + "; ".join(f"{label} {', '.join(row)}" for label, row in source.values.items())
            + "."
        )


@register("recipe", "depth/F049")
class FourCells(Recipe):
    """Four-cell ablation."""

    source = "Depth, Tables 40 to 42"
    needs = needs("four_cell")

    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        jobs = jobs_of(sources)
        source = printed("depth")["table_41"]
        yield from words(jobs)
        yield _elsewhere(source)
        rows: list[list[Cell | str]] = []
        for job in jobs:
            spec = "full_spec" if setting(job, "domain.spec") == "full" else "stripped"
            condition = f"{spec}/{job.arm}"
            theirs = condition.replace("typed_graph", "brief").replace("random_context", "random")
            text = source.row(theirs).get("compliance", "")
            rows.append(
                [condition, *(against(measured(job.summary["axes"].get(axis)),
                                      text if axis == "compliance" else "")
                              for axis in ("compliance", "merge_ready", "asserted_only"))]
            )  # fmt: skip
        yield Table(
            anchor="four-cell",
            caption="Compliance with and without the specification in the code, and with a memory",
            columns=("", "compliance", "merge ready", "asserted only"),
            rows=rows,
        )
