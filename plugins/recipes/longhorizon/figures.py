"""LongHorizon's figures 3-5, from recorded rows or from sweeps over its domains."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path

from framework.contracts.recipe import AddFigure, Recipe
from framework.errors import UserError
from framework.registry import register
from framework.reporting.blocks import Block
from framework.reporting.figures.style import Drawing, canvas, handles, legend, legend_height, marks
from plugins.recipes.longhorizon._published import published_tables
from plugins.recipes.longhorizon._rows import AXES, BUDGETS, Recorded, column
from plugins.recipes.longhorizon._sources import ARMS, NEEDS, NEEDS_VERIFIED, origin, rows_of


class _Figure(Recipe):
    """A page of one figure."""

    needs = NEEDS

    @abstractmethod
    def figure(self, rows: Sequence[Recorded]) -> Drawing:
        """What is drawn. Raises UserError where the rows hold nothing of it."""

    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        rows = rows_of(sources)
        drawing = self.figure(rows)
        yield origin(rows)
        yield from add_figure(drawing)


@register("recipe", "longhorizon/figure3")
class Profile(_Figure):
    """Profile of every arm by budget.

    One panel a budget: the four axes of each arm as points.
    """

    source = "LongHorizon, Figure 3"

    def figure(self, rows: Sequence[Recorded]) -> Drawing:
        arms, budgets = _arms(rows), _budgets(rows)
        styles = marks(arms)
        width = 1.2 + 2.4 * len(budgets)
        told = []
        with canvas(width, 2.9 + legend_height(width, arms), 1, len(budgets), sharey=True) as (
            figure,
            panels,
        ):
            for panel, budget in zip(panels[0], budgets, strict=True):
                for place, arm in enumerate(arms):
                    values = [_mean(rows, arm, budget, axis) for axis in AXES]
                    step = (place - (len(arms) - 1) / 2) * 0.11
                    at = [i + step for i, v in enumerate(values) if v is not None]
                    shown = [v for v in values if v is not None]
                    mark = styles[arm]
                    panel.plot(
                        at, shown, ls="", marker=mark.marker, color=mark.colour, mfc=mark.face
                    )
                    if shown:
                        told.append(f"{arm} at {budget}: " + ", ".join(f"{v:.2f}" for v in shown))
                panel.set(title=f"budget {budget}", ylim=(-0.04, 1.04))
                panel.set_xticks(range(len(AXES)), AXES)
            panels[0][0].set_ylabel("mean over cases")
            legend(figure, handles(styles.values()), arms)
        return Drawing(
            name="longhorizon-figure3",
            title="Profile by budget",
            caption="Means over cases in the published conventions; points, so that an arm at "
            "0 shows.",
            alt=f"Means of {', '.join(AXES)}. " + "; ".join(told),
            figure=figure,
        )


@register("recipe", "longhorizon/figure4")
class AccuracyByBudget(_Figure):
    """Decision accuracy by budget.

    EDA of each arm against the budget, with Wilson intervals.
    """

    source = "LongHorizon, Figure 4"

    def figure(self, rows: Sequence[Recorded]) -> Drawing:
        from framework.statistics.intervals import wilson

        arms, budgets = _arms(rows), _budgets(rows)[::-1]
        styles = marks(arms)
        told = []
        with canvas(5.6, 3.2 + legend_height(5.6, arms)) as (figure, panels):
            panel = panels[0][0]
            for place, arm in enumerate(arms):
                found = [column(rows, arm, budget, "EDA") for budget in budgets]
                at = [i + (place - (len(arms) - 1) / 2) * 0.06 for i, f in enumerate(found) if f]
                held = [list(f.values()) for f in found if f]
                means = [sum(values) / len(values) for values in held]
                mark = styles[arm]
                panel.plot(at, means, ls=mark.line, marker=mark.marker, color=mark.colour,
                           mfc=mark.face, lw=1.2)  # fmt: skip
                for x, values in zip(at, held, strict=True):
                    low, high = wilson(round(sum(values)), len(values))
                    panel.plot([x, x], [low, high], color=mark.colour, lw=0.8, alpha=0.6)
                told.append(f"{arm}: " + ", ".join(f"{m:.2f}" for m in means))
            panel.set(ylabel="EDA", ylim=(-0.04, 1.04))
            panel.set_xticks(range(len(budgets)), budgets)
            legend(figure, handles(styles.values(), line=True), arms)
        return Drawing(
            name="longhorizon-figure4",
            title="Decision accuracy by budget",
            caption="EDA with 95% Wilson intervals over cases.",
            alt=f"EDA at {', '.join(budgets)}. " + "; ".join(told),
            figure=figure,
        )


@register("recipe", "longhorizon/figure5")
class Commitment(_Figure):
    """The plane of commitment.

    Commit rate against accuracy when committed: Summ-only and the verified reader.
    """

    source = "LongHorizon, Figure 5"
    needs = NEEDS_VERIFIED

    def figure(self, rows: Sequence[Recorded]) -> Drawing:
        tables = {t.number: t for t in published_tables(rows, partial=True)}
        points = {label: cells for number in (7, 8) if number in tables
                  for label, cells in tables[number].rows}  # fmt: skip
        if not points:
            raise UserError("figure 5: the rows hold neither Summ-only nor the verified reader")
        styles = marks(list(points))
        told = []
        with canvas(4.8, 3.4 + legend_height(4.8, list(points))) as (figure, panels):
            panel = panels[0][0]
            for label, cells in points.items():
                x, y = cells[1].value, cells[2].value
                if x is not None and y is not None:
                    mark = styles[label]
                    panel.plot(x, y, ls="", marker=mark.marker, color=mark.colour, mfc="none",
                               mew=1.5, ms=8)  # fmt: skip
                    told.append(f"{label}: {x:.2f}, {y:.2f}")
            panel.set(xlabel="commit rate", ylabel="right, when committed")
            panel.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04))
            legend(figure, handles(styles.values(), hollow=True), list(points))
        return Drawing(
            name="longhorizon-figure5",
            title="The plane of commitment",
            caption="Moderate budget. A point that stands in the same place as another hides it.",
            alt="Commit rate, then accuracy when committed. " + "; ".join(told),
            figure=figure,
        )


def _arms(rows: Sequence[Recorded]) -> list[str]:
    wanted = {row.arm for row in rows if not row.arm.startswith("VM")}
    found = [arm for arm in ARMS.values() if arm in wanted]
    if not found:
        raise UserError("the rows hold none of the paper's arms")
    return found


def _budgets(rows: Sequence[Recorded]) -> list[str]:
    held = {row.budget for row in rows}
    return [budget for budget in BUDGETS if budget in held]


def _mean(rows: Sequence[Recorded], arm: str, budget: str, axis: str) -> float | None:
    values = list(column(rows, arm, budget, axis).values())
    return sum(values) / len(values) if values else None
