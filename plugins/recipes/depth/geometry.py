"""The Depth paper's tables and figures, from sweeps over governed corpora."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from framework.analysis.cost import RATE, cost_effectiveness, sharing
from framework.analysis.evidence import Evidence, Group, Job, higher_is_better
from framework.analysis.outcomes import part_values
from framework.contracts.recipe import AddFigure
from framework.errors import UserError
from framework.records import Row
from framework.registry import find, register
from framework.reporting.blocks import NOTHING, Block, Cell, Note, Table, Text
from framework.statistics.intervals import mean_interval
from framework.statistics.paired import Comparison
from framework.statistics.ratios import ratio_of_means
from plugins.recipes._cells import UNDEFINED, Measured, against, measured, of_interval, shown
from plugins.recipes._paper_values import Printed, printed
from plugins.recipes.depth._beside import Beside, ByAxis, ByDepth, elsewhere, printed_beside
from plugins.recipes.depth._cases import STAR, difference, gain
from plugins.recipes.depth._knobs import (
    Sweep,
    Sweeps,
    curves_block,
    curves_by_depth,
    needs,
    setting,
)


@register("recipe", "depth/table6")
class AllAxes(ByAxis):
    """All axes by arm."""

    source = "Depth, Tables 6 and 57"
    table, also = "table_6", ("table_57",)


@register("recipe", "depth/figure32")
class ReturnOnTokens(ByAxis):
    """Return on tokens by arm."""

    source = "Depth, Figure 32 and Table 32"
    table, also = "figure_32", ("table_32",)


class _Parts(Beside):
    """A column is a depth, and what is measured is of its rows, not an axis of a case."""

    printed_as: ClassVar[str] = "d={}"

    def columns(self, source: Printed) -> Mapping[str, str]:
        return {f"d={depth}": self.printed_as.format(depth) for depth in (1, 2, 3)}

    def value(self, job: Job, column: str) -> Measured:
        rows = [row for row in job.good if f"d={row.depth}" == column]
        return self.of_rows(rows, job) if rows else UNDEFINED

    @abstractmethod
    def of_rows(self, rows: Sequence[Row], job: Job) -> Measured:
        """The measure of one depth's rows."""


@register("recipe", "depth/table26")
class ReturnOnTokensByDepth(_Parts):
    """Return on tokens by depth.

    Of governed corpora, beside the paper's synthetic suite; its two sets of code are not here.
    """

    source = "Depth, Table 26"
    table = "table_26"
    printed_as = "syn{}"

    def of_rows(self, rows: Sequence[Row], job: Job) -> Measured:
        seed = int(job.summary["run"]["seed"])
        return measured(cost_effectiveness(rows, sharing(job.good), seed).get(RATE))


@register("recipe", "depth/figure31")
class TokensByDepth(_Parts):
    """Tokens of a view by depth.

    A control: every arm is held to one budget at every depth, so that depth is no matter of size.
    """

    source = "Depth, Figure 31"
    table = "figure_31"
    digits = 0

    def of_rows(self, rows: Sequence[Row], job: Job) -> Measured:
        cases: dict[str, list[int]] = {}
        for row in rows:
            cases.setdefault(row.case_id, []).append(row.view_tokens)
        means = [sum(tokens) / len(tokens) for tokens in cases.values()]
        clusters = [job.means.clusters[case] for case in cases]
        seed = int(job.summary["run"]["seed"])
        return of_interval(mean_interval(means, clusters, seed=seed, amount=True))


@register("recipe", "depth/table7")
class ComplianceByDepth(ByDepth):
    """Compliance by depth."""

    source = "Depth, Tables 7, 49 and 61"
    table, beside = "table_7", ("table_49", "table_61")
    axis = "compliance"


@register("recipe", "depth/table67")
class RecallByDepth(ByDepth):
    """Recall by depth."""

    source = "Depth, Table 67"
    table = "table_67"
    axis = "recall"


@register("recipe", "depth/table34")
class Failures(Beside):
    """Why cases failed.

    Among failures, the percentage of one kind: a ratio of means over all cases.
    """

    source = "Depth, Table 34"
    table = "table_34"
    digits = 1

    def value(self, job: Job, column: str) -> Measured:
        found = part_values(job)
        if found is None:
            return UNDEFINED
        parts, clusters = found
        lost, unused = (list(parts[part].values()) for part in ("lost_wrong", "retained_wrong"))
        share = ratio_of_means(
            lost if column.startswith("not") else unused,
            [a + b for a, b in zip(lost, unused, strict=True)],
            list(clusters.values()),
        )
        return Measured(value=share.value, low=share.low, high=share.high).times(100)


# ------------------------------------------------------------------------- figures of every report


class _Drawn(Sweeps):
    """A figure that every report has, of a sweep over governed corpora, with its tables.

    section : the section of the report that draws it, under the name `drawing`.
    """

    needs = needs("paper_geometry")
    section: ClassVar[str]
    drawing: ClassVar[str]
    with_tables: ClassVar[bool] = False

    def of(self, sources: Sequence[Evidence], add_figure: AddFigure) -> Iterator[Block]:
        section = find("section", self.section).cls()
        groups = [group for evidence in sources for group in evidence.groups]
        added = [
            block for group in groups for block in add_figure(section.draw(self.drawing, group))
        ]
        if not added:
            raise UserError(f"{self.title}: the sweep lacks what it needs")
        yield from added
        for group in groups if self.with_tables else ():
            yield from section.tables(group)


@register("recipe", "depth/F023")
class CriticalDifference(_Drawn):
    """Critical difference."""

    source = "Depth, Figure 47"
    section, drawing, with_tables = "ranks", "ranks", True


@register("recipe", "depth/F024")
class Forest(_Drawn):
    """Forest of paired differences."""

    source = "Depth, Figure 48"
    section, drawing = "comparisons", "forest"


@register("recipe", "depth/F027")
class FailureSplit(_Drawn):
    """Failure split."""

    source = "Depth, Figure 59 and Table 34"
    section, drawing = "retention", "failures"


@register("recipe", "depth/F020")
class AccuracyAndCost(_Drawn):
    """Accuracy and cost."""

    source = "Depth, Figure 29"
    section, drawing, with_tables = "cost", "pareto", True


@register("recipe", "depth/table10")
class Scorecard(Sweeps):
    """Scorecard.

    Wins, near-ties and losses of every arm, none left out, beside the printed tally.
    """

    source = "Depth, Table 10"
    needs = needs("paper_geometry")

    def of(self, sources: Sequence[Evidence], add_figure: AddFigure) -> Iterator[Block]:
        section = find("section", "scorecard").cls()
        for evidence in sources:
            yield from section.blocks(evidence, add_figure)
        tally = printed("depth")["table_10"].values
        yield Note(
            "The paper prints for its typed store over 41 axes: "
            + "; ".join(f"{name} {row[0]}" for name, row in tally.items())
            + ". Its axes, arms and rule for a near-tie are other ones."
        )


@register("recipe", "depth/F017")
class Intervention(Sweeps):
    """What a memory adds, by axis.

    typed_graph minus no memory at all, paired by case, axis by axis (Product Navigator).
    """

    source = "Depth, Figures 56 to 58 and Tables 28 to 30"
    needs = needs("intervention")
    beside = ("table_28", "table_29", "table_30", "figure_56")

    def of(self, sources: Sequence[Evidence], add_figure: AddFigure) -> Iterator[Block]:
        lifts: list[tuple[str, str, Comparison]] = []
        without: dict[str, None] = {}
        for group in (group for evidence in sources for group in evidence.groups):
            none = next((job for job in group.jobs if job.arm == "none"), None)
            for job in group.jobs:
                if none is not None and job.arm.startswith("typed_graph"):
                    for axis, found in _lifts(job, none):
                        if found is None:
                            without[axis] = None
                        else:
                            lifts.append((job.arm, axis, found))
        if not lifts:
            raise UserError("the sweep lacks arch=none or arch=typed_graph")
        lifts.sort(key=lambda lift: (lift[2].share, abs(lift[2].delta or 0.0)), reverse=True)
        yield Text(
            "Every axis of which more or less is better and that both runs define, paired by task "
            f"on the tasks where both do; shares first, the largest lift first. {STAR}"
            + (f" Without a task where both define it: {', '.join(without)}." if without else "")
        )
        yield Table(
            anchor="intervention",
            caption="Lift over no memory by axis",
            columns=("", "axis", "with memory", "without", "lift", "n"),
            rows=[
                [arm, axis if higher_is_better(axis) else f"{axis} (less is better)",
                 *(shown(Measured(value=mean), 3) for mean in (found.mean_a, found.mean_b)),
                 gain(found, digits=3), str(found.n)]
                for arm, axis, found in lifts
            ],
        )  # fmt: skip
        for evidence in sources:
            for group in evidence.groups:
                yield from _by_depth(group)


def _by_depth(group: Group) -> Iterator[Block]:
    """The lift in compliance at each depth, and what is printed."""
    none = next((job for job in group.jobs if job.arm == "none"), None)
    typed = [job for job in group.jobs if job.arm.startswith("typed_graph")]
    depths = sorted({row.depth for row in none.good if row.depth is not None} if none else ())
    if none is None or not typed or not depths:
        return
    paper = printed("depth")["figure_58"]
    theirs = [paper.row(f"d={depth}").get("difference", NOTHING) for depth in depths]
    rows: list[list[Cell | str]] = [[f"printed ({paper.source})", *theirs]]
    for job in typed:
        lifts = (difference(job, none, "compliance", depth) for depth in depths)
        rows.append([job.arm, *(gain(lift, digits=3) for lift in lifts)])
    yield Table(
        anchor=f"intervention-depth-{group.index}",
        caption="Lift in compliance over no memory by depth",
        columns=("", *(f"d = {depth}" for depth in depths)),
        rows=rows,
    )


def _lifts(job: Job, none: Job) -> Iterator[tuple[str, Comparison | None]]:
    """The lift on every axis of which more or less is better; None without a case of both."""
    for axis in sorted({axis for one in (job, none) for row in one.good for axis in row.axes}):
        if higher_is_better(axis) is not None:
            yield axis, difference(job, none, axis)


# ------------------------------------------------------------------------------ tables with one row


@register("recipe", "depth/table39")
class SeedAndTraversal(Sweep):
    """Seed and traversal.

    Recall by depth of the seed alone and with traversal.
    """

    source = "Depth, Table 39"
    needs = needs("seed_traversal")

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        curves = curves_by_depth(jobs, "recall")
        yield curves_block("seed-traversal", "recall by depth", "depth", curves)
        rows = printed("depth")["table_39"].values
        said = "; ".join(f"{label} {', '.join(row)}" for label, row in rows.items())
        yield Text(f"The paper prints: {said}.")


@register("recipe", "depth/table9")
class OnRealCode(ByAxis):
    """Retrieval and use on real code.

    Of tickets whose code was stripped of what the record decides; by depth, too.
    """

    source = "Depth, Tables 9, 35 and 58 and Figures 35 and 37 to 39"
    needs = needs("four_cell")
    tables: ClassVar = ("table_9", "table_35", "table_58")

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        stripped = [job for job in jobs if setting(job, "domain.spec") == "stripped"]
        yield elsewhere(printed("depth")[self.tables[0]])
        for source in (printed("depth")[name] for name in self.tables):
            yield printed_beside(source, self.columns(source), stripped, self.value, self.digits)
        for axis in ("compliance", "recall", "precision"):
            curves = curves_by_depth(stripped, axis)
            yield curves_block(f"real-code-{axis}", f"{axis} by depth", "depth", curves)


@register("recipe", "depth/F049")
class FourCells(Sweep):
    """Four-cell ablation."""

    source = "Depth, Tables 40 to 43 and Figure 28"
    needs = needs("four_cell")
    beside = ("table_43", "figure_28")

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        source = printed("depth")["table_41"]
        yield elsewhere(source)
        rows: list[list[Cell | str]] = []
        for job in jobs:
            spec = "full_spec" if setting(job, "domain.spec") == "full" else "stripped"
            condition = f"{spec}/{job.arm}"
            theirs = condition.replace("typed_graph", "brief").replace("random_context", "random")
            texts = source.row(theirs)
            rows.append(
                [condition, *(against(measured(job.summary["axes"].get(axis)), texts.get(axis, ""))
                              for axis in ("compliance", "merge_ready", "asserted_only"))]
            )  # fmt: skip
        yield Table(
            anchor="four-cell",
            caption="Compliance with and without the specification in the code, and with a memory",
            columns=("", "compliance", "merge ready", "asserted only"),
            rows=rows,
        )
