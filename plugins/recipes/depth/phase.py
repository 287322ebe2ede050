"""Drift by depth: what an arm gains over a baseline in each cell, and what equation 9 says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from framework.analysis.evidence import Job
from framework.contracts.recipe import AddFigure
from framework.errors import UserError
from framework.registry import register
from framework.reporting.blocks import NOTHING, Block, Cell, Table, Text
from framework.reporting.figures.style import Drawing, canvas
from framework.statistics.paired import Comparison
from plugins.recipes.depth._cases import STAR, depths_of, difference, gain, is_sure
from plugins.recipes.depth._hops import advantage
from plugins.recipes.depth._knobs import (
    Sweep,
    by_setting,
    curves_block,
    needs,
    placed,
    setting,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_ARMS: Final = ("typed_graph", "typed_graph_pruned")
_BASELINE: Final = "bm25"


_Cells = Mapping[tuple[float, int], tuple[Comparison | None, float | None]]
"""By drift and depth: the paired difference measured, and what equation 9 says; None for none."""


@register("recipe", "depth/F036")
class Phase(Sweep):
    """Drift by depth: predicted and measured.

    Recall of each typed graph minus that of bm25, paired by task, by drift and depth.
    """

    source = "Depth, Figure 11"
    needs = needs("phase")

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        place = placed(jobs, "domain.rho")
        rhos = sorted({rho for _, rho in place})
        depths = sorted({depth for job in jobs for depth in depths_of(job.good).values()})
        if not depths:
            raise UserError("the runs have no cases by depth")
        phases: dict[str, _Cells] = {}
        for arm in _ARMS:
            found = {
                (rho, depth): _measure(place[arm, rho], place[_BASELINE, rho], rho, depth)
                for rho in rhos
                if (arm, rho) in place and (_BASELINE, rho) in place
                for depth in depths
            }
            if found:
                phases[arm] = found
        if not phases:
            raise UserError(f"the runs lack arch={_BASELINE} or one of {', '.join(_ARMS)}")
        yield Text(
            f"Each cell: recall of the arm minus that of {_BASELINE} on the same tasks; under it "
            "equation 9 with what the corpora were made with: s0 is domain.visibility, rho the "
            "share of phrases kept at each link, q domain.fidelity. Nothing in it is fitted, so a "
            "gap between the two is a finding about the formula, which is of a walk of any length "
            f"where these arms end at their hop limit. {STAR}"
        )
        yield from add_figure(_drawing(phases, rhos, depths))
        for arm, cells in phases.items():
            yield Table(
                anchor=f"phase-{arm}",
                caption=f"Recall of {arm} minus {_BASELINE} by drift (rows) and depth (columns)",
                columns=("", *(f"d = {depth}" for depth in depths)),
                rows=[
                    [f"rho = {rho:g}",
                     *(_cell(*cells[rho, d]) if (rho, d) in cells else NOTHING for d in depths)]
                    for rho in rhos
                ],
            )  # fmt: skip
        curves = by_setting(jobs, "domain.rho", "recall")
        yield curves_block("phase-arms", "recall by drift, over all depths", "rho", curves)


def _measure(
    arm: Job, baseline: Job, rho: float, depth: int
) -> tuple[Comparison | None, float | None]:
    s0, q = (float(setting(arm, f"domain.{key}")) for key in ("visibility", "fidelity"))
    known = s0 > 0 and rho > 0 and q > 0
    predicted = advantage(depth, s0, rho, q) if known else None
    return difference(arm, baseline, "recall", depth), predicted


def _cell(found: Comparison | None, predicted: float | None) -> Cell:
    cell = gain(found)
    said = "" if predicted is None else f"predicted {predicted:+.2f}"
    return replace(cell, under="; ".join(filter(None, (cell.under, said))))


def _drawing(phases: Mapping[str, _Cells], rhos: Sequence[float], depths: Sequence[int]) -> Drawing:
    """Maps of the cells: one of each arm, and one of the prediction."""
    first = next(iter(phases.values()))
    maps: dict[str, dict[tuple[float, int], tuple[float | None, bool]]] = {
        f"{arm} minus {_BASELINE}": {
            at: (found.delta, is_sure(found))
            for at, (found, _) in cells.items()
            if found is not None
        }
        for arm, cells in phases.items()
    }
    maps["equation 9"] = {at: (said, False) for at, (_, said) in first.items()}
    with canvas(1.2 + 3.4 * len(maps), 0.9 + 0.36 * len(rhos), 1, len(maps), sharey=True) as (
        figure,
        drawn,
    ):
        for panel, (title, cells) in zip(drawn[0], maps.items(), strict=True):
            _map(panel, cells, rhos, depths)
            panel.set(title=title, xlabel="depth (links)")
        drawn[0][0].set_ylabel("rho")
    return Drawing(
        name="depth-phase",
        title="Advantage in recall by drift and depth",
        caption="Measured: the difference on the same tasks, bold where the bounds that decisions "
        "rest on leave out 0, of each cell alone. Equation 9 is computed, not measured.",
        alt=f"Maps of {', '.join(maps)}; every number is in the tables.",
        figure=figure,
    )


def _map(
    panel: Axes,
    cells: Mapping[tuple[float, int], tuple[float | None, bool]],
    rhos: Sequence[float],
    depths: Sequence[int],
) -> None:
    colours = [[cells.get((rho, d), (None, False))[0] or 0.0 for d in depths] for rho in rhos]
    panel.imshow(colours, cmap="PuOr", vmin=-1, vmax=1, aspect="auto")
    for i, rho in enumerate(rhos):
        for j, depth in enumerate(depths):
            value, sure = cells.get((rho, depth), (None, False))
            if value is not None:
                # "-0" is how a small negative number would be rounded.
                panel.text(j, i, f"{value:+.2f}".replace("-0.00", "+0.00"), ha="center",
                           va="center", fontsize=7.5, weight="bold" if sure else "normal",
                           color="white" if abs(value) > 0.55 else "black")  # fmt: skip
    panel.set_xticks(range(len(depths)), [str(depth) for depth in depths])
    panel.set_yticks(range(len(rhos)), [f"{rho:g}" for rho in rhos])
    panel.grid(visible=False)
    panel.tick_params(length=0)
