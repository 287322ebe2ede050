"""The Depth paper's views of the same means: who beats whom, by depth, by data set, and spread."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from framework.analysis.evidence import Evidence, Group, Job, higher_is_better
from framework.contracts.recipe import AddFigure
from framework.errors import UserError
from framework.registry import register
from framework.reporting.blocks import NOTHING, Block, Cell, Table, Text
from framework.reporting.figures.labels import label_of, under
from framework.reporting.figures.style import (
    BLUE,
    SKY,
    Drawing,
    canvas,
    handles,
    legend,
    legend_height,
    marks,
    rows_axis,
    whisker,
)
from plugins.recipes._cells import Measured, measured, shown
from plugins.recipes._paper_values import printed
from plugins.recipes.depth._cases import is_fair, values
from plugins.recipes.depth._heat import heat
from plugins.recipes.depth._knobs import Sweeps, by_depth, needs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SPREAD: Final = ("compliance", "recall", "precision")
_BY_DEPTH: Final = ("recall", "chain_recovery", "compliance")


class _OfGroups(Sweeps):
    """A page with a figure of every setting and budget."""

    needs = needs("paper_geometry")

    def of(self, sources: Sequence[Evidence], add_figure: AddFigure) -> Iterator[Block]:
        for evidence in sources:
            for group in evidence.groups:
                for budget in group.budgets:
                    jobs = [job for arm in group.arms if (job := group.job(arm, budget))]
                    place = f"{self.file}-{group.index}-{budget}"
                    yield from self.page(group, jobs, place, add_figure)

    @abstractmethod
    def page(
        self, group: Group, jobs: Sequence[Job], place: str, add_figure: AddFigure
    ) -> Iterator[Block]:
        """The blocks of one setting at one budget; `place` names its figure and tables."""


def _mean(job: Job, axis: str) -> float | None:
    entry = job.summary["axes"].get(axis)
    return None if entry is None else entry["mean"]


@register("recipe", "depth/F054")
class Spread(_OfGroups):
    """Distributions over cases by arm."""

    source = "Depth, Figures 2 to 5"

    def page(
        self, group: Group, jobs: Sequence[Job], place: str, add_figure: AddFigure
    ) -> Iterator[Block]:
        axes = [axis for axis in _SPREAD if any(values(job, axis) for job in jobs)]
        if not axes:
            raise UserError(f"the sweep has none of {', '.join(_SPREAD)}")
        yield from add_figure(_violins(group, jobs, axes, place))
        rows: list[list[Cell | str]] = []
        for axis in axes:
            for job in jobs:
                found = list(values(job, axis).values())
                if found:
                    shares = [sum(test) / len(found) for test in (
                        [value == 0 for value in found], [0 < value < 1 for value in found],
                        [value == 1 for value in found])]  # fmt: skip
                    rows.append([job.arm, axis, str(len(found)),
                                 *(shown(Measured(value=share)) for share in shares)])  # fmt: skip
        yield Table(
            anchor=f"{place}-shares",
            caption="Share of the cases at 0, between, and at 1",
            columns=("", "axis", "n", "at 0", "between", "at 1"),
            rows=rows,
        )


def _violins(group: Group, jobs: Sequence[Job], axes: Sequence[str], place: str) -> Drawing:
    arms = [job.arm for job in jobs]
    size = (0.09 * max(map(len, arms)) + 2.1 * len(axes), 0.8 + 0.33 * len(arms))
    with canvas(*size, 1, len(axes), sharey=True) as (figure, (line,)):
        for panel, axis in zip(line, axes, strict=True):
            for at, job in enumerate(jobs):
                found = list(values(job, axis).values())
                if found:
                    _violin(panel, at, found)
            panel.set_title(axis)
            panel.set_xlim(-0.08, 1.08)
            rows_axis(panel, arms)
    return Drawing(
        name=place,
        title="Distributions over cases",
        caption="Density of the cases' values, clipped to what occurs; the dot is their mean. An "
        f"axis that is 0 or 1 in every case has two ends and nothing between ({under(group)}). "
        + label_of(group, axes),
        alt="; ".join(
            f"{axis} of {job.arm}: mean {np.mean(found):.2f}"
            for axis in axes
            for job in jobs
            if (found := list(values(job, axis).values()))
        ),
        figure=figure,
    )


def _violin(panel: Axes, at: int, found: Sequence[float]) -> None:
    drawn: Any = panel.violinplot(
        [found], [at], orientation="horizontal", widths=0.85, showextrema=False
    )
    for body in drawn["bodies"]:
        body.set(facecolor=SKY, edgecolor="#222222", linewidth=0.5, alpha=1.0)
    panel.plot(np.mean(found), at, "o", color=BLUE, zorder=4)


@register("recipe", "depth/F028")
class WinRates(_OfGroups):
    """Share of axes on which one arm beats another.

    By means alone, over every axis of which more or less is better; a tie counts half. What is
    decided stands in the scorecard (`depth/table10`).
    """

    source = "Depth, Figure 51"

    def page(
        self, group: Group, jobs: Sequence[Job], place: str, add_figure: AddFigure
    ) -> Iterator[Block]:
        named = sorted({axis for job in jobs for axis in job.summary["axes"]})
        axes = [axis for axis in named if higher_is_better(axis) is not None]
        grid = [[None if a is b else win_rate(a, b, axes) for b in jobs] for a in jobs]
        arms = [job.arm for job in jobs]
        caption = (
            f"Row against column: share of the axes, of {len(axes)}, on which the row's mean is "
            "better; a tie counts half, and an axis that one of them has not is left out. Means "
            "alone: nothing is tested, axes that measure nearly the same count each, and model-free"
            f" and rule-based ones count alike ({under(group)})."
        )
        yield from add_figure(heat(place, "Win rates", caption, arms, {"": (arms, grid)}))
        rows: list[list[Cell | str]] = []
        for arm, row in zip(arms, grid, strict=True):
            kept = [value for value in row if value is not None]
            mean = Measured(value=float(np.mean(kept)) if kept else None)
            rows.append([arm, shown(mean), str(len(kept))])
        yield Table(
            anchor=f"{place}-mean",
            caption="Mean win rate over the other arms",
            columns=("", "mean win rate", "other arms"),
            rows=rows,
        )


def win_rate(a: Job, b: Job, axes: Sequence[str]) -> float | None:
    """Share of the axes on which a's mean is better than b's, ties half; None without an axis."""
    points = []
    for axis in axes:
        mine, other = _mean(a, axis), _mean(b, axis)
        if mine is not None and other is not None:
            better = mine > other if higher_is_better(axis) else mine < other
            points.append(0.5 if mine == other else float(better))
    return sum(points) / len(points) if points else None


@register("recipe", "depth/F062")
class ArmsByDepth(_OfGroups):
    """Arms by depth as a heat map."""

    source = "Depth, Figure 53"

    def page(
        self, group: Group, jobs: Sequence[Job], place: str, add_figure: AddFigure
    ) -> Iterator[Block]:
        panels: dict[str, tuple[list[str], list[list[float | None]]]] = {}
        for axis in _BY_DEPTH:
            found = [{point.x: point.mean for point in by_depth(job, axis)} for job in jobs]
            if depths := sorted({float(x) for one in found for x in one}):
                columns = [f"d={depth:g}" for depth in depths]
                panels[axis] = (columns, [[one.get(depth) for depth in depths] for one in found])
        if not panels:
            raise UserError("the runs have no cases by depth")
        caption = (
            "Means; with intervals and beside what is printed in `depth/table20`. The paper draws "
            "one score of all axes: these are three of them, each its own. "
            f"({under(group)}) {label_of(group, panels)}"
        )
        yield from add_figure(heat(place, "Arms by depth", caption, [j.arm for j in jobs], panels))


@register("recipe", "depth/F074")
class Lollipop(_OfGroups):
    """Pooled compliance by arm, the best first."""

    source = "Depth, Figures 14 and 55"

    def page(
        self, group: Group, jobs: Sequence[Job], place: str, add_figure: AddFigure
    ) -> Iterator[Block]:
        found = {job.arm: measured(job.summary["axes"].get("compliance")) for job in jobs}
        means = {arm: one.value for arm, one in found.items() if one.value is not None}
        if not means:
            raise UserError("the sweep has no compliance")
        arms = sorted(means, key=lambda arm: (-means[arm], arm))
        with canvas(6.0, 0.7 + 0.27 * len(arms)) as (figure, ((panel,),)):
            for at, arm in enumerate(arms):
                panel.plot([0, means[arm]], [at, at], color=SKY, lw=2.5, zorder=2)
                whisker(panel, at, found[arm].low, found[arm].high)
                panel.plot(means[arm], at, "o", color=BLUE, zorder=4)
            rows_axis(panel, arms)
            panel.set(xlim=(-0.02, 1.02), xlabel="compliance")
        yield from add_figure(
            Drawing(
                name=place,
                title="Compliance by arm",
                caption=f"Means over all depths with 95% intervals ({under(group)}). "
                + label_of(group, ["compliance"]),
                alt="; ".join(f"{arm} {means[arm]:.2f}" for arm in arms),
                figure=figure,
            )
        )


def _label(evidence: Evidence, number: int) -> str:
    """A source by its domain; numbered, since two sweeps may be of one domain."""
    domain = str(evidence.jobs[0].summary["run"]["domain"]).partition("(")[0]
    return f"{number + 1}: {domain}"


def _successes(evidence: Evidence) -> dict[str, float]:
    """The mean of the domain's success by arm that keeps to the budget and sees no gold."""
    found = {}
    for job in evidence.jobs:
        axis = job.summary["success_axis"]
        if is_fair(job) and axis and (mean := _mean(job, axis)) is not None:
            if job.arm in found:
                raise UserError(f"{job.path}: the sweep has {job.arm} more than once")
            found[job.arm] = mean
    return found


@register("recipe", "depth/F087")
class Bumps(Sweeps):
    """Ranks of the arms over data sets.

    By mean success, of the arms that every sweep has.
    """

    source = "Depth, Figure 54"
    needs = "two sweeps or more of one list of arms: decisionbench +experiment=depth/paper_geometry"

    def of(self, sources: Sequence[Evidence], add_figure: AddFigure) -> Iterator[Block]:
        found = [_successes(evidence) for evidence in sources]
        arms = [arm for arm in found[0] if all(arm in one for one in found)]
        if len(found) < 2 or len(arms) < 2:
            raise UserError("at least two sweeps that share at least two arms are needed")
        places = [_label(evidence, number) for number, evidence in enumerate(sources)]
        ranks = {
            arm: [1 + sum(one[other] > one[arm] for other in arms) for one in found] for arm in arms
        }
        yield from add_figure(self.drawing(places, ranks))
        yield Table(
            anchor=f"{self.file}-ranks",
            caption="Rank by mean success, 1 is best; equals share the better rank. Means alone",
            columns=("", *places),
            rows=[[arm, *map(str, ranks[arm])] for arm in arms],
        )

    def drawing(self, places: Sequence[str], ranks: dict[str, list[int]]) -> Drawing:
        """One line an arm, rank 1 on top; equals lie a little apart."""
        styles = marks(list(ranks))
        width = max(5.0, 1.7 * len(places))
        with canvas(width, 1.2 + 0.25 * len(ranks) + legend_height(width, list(ranks))) as (
            figure,
            ((panel,),),
        ):
            drawn: dict[tuple[int, int], int] = {}
            for arm, line in ranks.items():
                heights = []
                for at, rank in enumerate(line):
                    equals = drawn.get((at, rank), 0)
                    drawn[at, rank] = equals + 1
                    heights.append(rank + 0.18 * equals)
                mark = styles[arm]
                panel.plot(range(len(line)), heights, ls=mark.line, marker=mark.marker,
                           color=mark.colour, mfc=mark.face, lw=1.3)  # fmt: skip
            panel.set_xticks(range(len(places)), places)
            panel.set_xlim(-0.3, len(places) - 0.7)
            panel.set_ylim(len(ranks) + 0.7, 0.3)
            panel.set_ylabel("rank, 1 is best")
            panel.grid(visible=False, axis="x")
            legend(figure, handles(styles.values(), line=True), list(ranks))
        return Drawing(
            name=self.file,
            title=self.title,
            caption="Ranks by mean success; equals share a rank and are drawn a little apart. By "
            "means alone: most neighbours can't be told apart.",
            alt="; ".join(f"{arm}: {', '.join(map(str, line))}" for arm, line in ranks.items()),
            figure=figure,
        )


@register("recipe", "depth/table66")
class Difficulty(Sweeps):
    """How hard each data set is.

    Mean success over the arms that keep to the budget and see no gold, by sweep and by depth, and
    the best arm.
    """

    source = "Depth, Tables 3, 47, 50, 64 and 66, Figure 1"
    needs = needs("paper_geometry")
    beside = ("table_3", "table_47", "table_50", "table_64")

    def of(self, sources: Sequence[Evidence], add_figure: AddFigure) -> Iterator[Block]:
        source = printed("depth")["table_66"]
        said = ", ".join(f"{name} {row[0]}" for name, row in source.values.items())
        yield Text(
            f"The mean depends on which arms were run. The paper prints over its own: {said}."
        )
        rows: list[list[Cell | str]] = []
        depths = sorted({depth for one in sources for job in one.jobs
                         for depth in job.summary["depths"].values()})  # fmt: skip
        for number, evidence in enumerate(sources):
            found = _successes(evidence)
            if not found:
                raise UserError(f"{evidence.jobs[0].path}: no success of an arm under the budget")
            best = max(found, key=lambda arm: found[arm])
            mean = Measured(value=float(np.mean(list(found.values()))))
            rows.append(
                [_label(evidence, number), str(evidence.jobs[0].summary["run"]["n_cases"]),
                 str(len(found)), shown(mean), *(_over(evidence, depth) for depth in depths),
                 f"{best} {found[best]:.2f}"]
            )  # fmt: skip
        yield Table(
            anchor="difficulty",
            caption="Mean success over arms, and the best of them by its mean alone",
            columns=(
                "",
                "tasks",
                "arms",
                "mean",
                *(f"d = {depth}" for depth in depths),
                "best arm",
            ),
            rows=rows,
        )


def _over(evidence: Evidence, depth: int) -> Cell:
    """Mean success at a depth over the arms under the budget."""
    means = [
        point.mean
        for job in evidence.jobs
        if is_fair(job) and job.summary["success_axis"]
        for point in by_depth(job, job.summary["success_axis"])
        if point.x == depth
    ]
    return shown(Measured(value=float(np.mean(means)))) if means else Cell(text=NOTHING)
