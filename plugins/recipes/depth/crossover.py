"""Recall, compliance and kappa against depth: curves, slopes, crossovers and laws of decay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from framework.analysis.evidence import Job
from framework.contracts.recipe import AddFigure
from framework.errors import UserError
from framework.registry import register
from framework.reporting.blocks import NOTHING, Block, Cell, Table, Text
from framework.text.counting import counted
from plugins.recipes._cells import Measured, shown
from plugins.recipes._paper_values import printed
from plugins.recipes.depth._cases import crossing, has_edges, is_fair, slope, values
from plugins.recipes.depth._decay import DecayFit, fit_decays, weights
from plugins.recipes.depth._decay import Measured as Recalled
from plugins.recipes.depth._knobs import Curve, Sweep, by_depth, curves_block, needs, placed
from plugins.recipes.depth._panels import draw
from plugins.recipes.depth._slopes import Crossover

_AXES: Final = ("recall", "compliance", "kappa")
_FEW: Final = 10


@register("recipe", "depth/F016")
class CrossoverByDepth(Sweep):
    """Depth crossover.

    Recall, compliance and kappa against depth, with slopes and the depths of crossover.
    """

    source = "Depth, Figure 16 and Tables 61 and 65"
    needs = needs("crossover")
    beside = ("table_61", "table_65")

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        curves: dict[str, dict[str, Curve]] = {
            axis: {job.arm: curve for job in jobs if (curve := by_depth(job, axis))}
            for axis in _AXES
        }
        curves = {axis: found for axis, found in curves.items() if found}
        if not curves:
            raise UserError("the runs have no cases by depth")
        placed(jobs)
        yield from add_figure(
            draw(
                "depth-crossover",
                "Depth crossover",
                {axis: _firm(found) for axis, found in curves.items()},
                "depth (links)",
                "Means with 95% intervals over cases, clustered by corpus. kappa is compliance "
                f"among the cases whose decision was in the view, drawn where at least {_FEW} "
                "were.",
            )
        )
        for axis, found in curves.items():
            yield curves_block(f"by-depth-{axis}", f"{axis} by depth", "depth", found)
        for axis in curves:
            yield _slopes(jobs, axis)
        yield from _crossovers(jobs)


def _firm(curves: Mapping[str, Curve]) -> dict[str, Curve]:
    """The points that rest on some cases; all of them where every point rests on few."""
    firm: dict[str, Curve] = {}
    for arm, curve in curves.items():
        if kept := [point for point in curve if point.n >= _FEW]:
            firm[arm] = kept
    return firm or dict(curves)


def _slopes(jobs: Sequence[Job], axis: str) -> Block:
    rows: list[list[Cell | str]] = []
    for job in jobs:
        found = slope(job, axis)
        first, last = (f"d{found.means[i][0]:g}" if found.means else "" for i in (0, -1))
        rows.append(
            [job.arm, shown(found.hop, 3, sign="+"), shown(found.ends, sign="+"),
             f"{last} minus {first}" if last != first else NOTHING,
             str(sum(n for _, n, _ in found.means)), found.method]
        )  # fmt: skip
    return Table(
        anchor=f"slope-{axis}",
        caption=f"Slope of {axis} over depth, by least squares over cases, and between its ends; "
        "depths with few cases are left out where others have enough",
        columns=("", f"{axis} a hop", "end to end", "ends", "n", "interval"),
        rows=rows,
    )


def _crossovers(jobs: Sequence[Job]) -> Iterator[Block]:
    """From which depth each arm with edges leads all arms without, under the same budget."""
    typed = [job for job in jobs if has_edges(job)]
    rivals = [job for job in jobs if not has_edges(job) and is_fair(job)]
    cases = values(typed[0], "recall").keys() if typed else set()
    others = [job.arm for job in rivals if values(job, "recall").keys() != cases]
    rivals = [job for job in rivals if job.arm not in others]
    if not typed or not rivals:
        return
    if others:
        yield Text(
            f"Measured on the forms that a model reads, and so left out: {', '.join(others)}."
        )
    yield Text(
        f"Crossover: the least depth at which an arm with edges recalls more than each of "
        f"{counted(len(rivals), 'arm')} without edges at the same budget, the lower bound of its "
        "lead above 0. To lead the best of them is to lead each, so no rival is chosen by its "
        "result. The interval begins where a lead can't be ruled out and ends where it is sure, "
        "with the bounds that decisions rest on, 95% for both ends together and all depths; the "
        "bounds of the leads are at 95% for each depth."
    )
    found = {job.arm: crossing(job, rivals, "recall") for job in typed}
    yield Table(
        anchor="crossover",
        caption="Depth of crossover in recall",
        columns=("", "crossover", "95% interval", "interval by"),
        rows=[
            [arm, Cell(text="none" if one.depth is None else f"{one.depth:g}", value=one.depth),
             _between(one), one.method]
            for arm, one in found.items()
        ],
    )  # fmt: skip
    depths = [lead.depth for lead in next(iter(found.values())).leads]
    yield Table(
        anchor="leads",
        caption="Lead in recall over the best arm without edges at each depth, with 95% bounds "
        "over all of them, and which it is",
        columns=("", *(f"d = {depth:g}" for depth in depths)),
        rows=[
            [arm, *(_lead(lead.lead, lead.low, lead.high, lead.rival) for lead in one.leads)]
            for arm, one in found.items()
        ],
    )


def _between(found: Crossover) -> str:
    if not found.claimed:
        return NOTHING
    low, high = ("none" if d is None else f"{d:g}" for d in (found.low, found.high))
    return f"{low} to {high}"


def _lead(value: float, low: float | None, high: float | None, rival: str) -> Cell:
    cell = shown(Measured(value=value, low=low, high=high), sign="+")
    return replace(cell, under="; ".join(filter(None, (cell.under, rival))))


@register("recipe", "depth/F035")
class Decay(Sweep):
    """Decay laws by depth.

    Laws of decay fitted to recall at every depth, with AICc and the error out of sample.
    """

    source = "Depth, Table 37 (its figure F035)"
    needs = needs("crossover")

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        source = printed("depth")["table_37"]
        said = ", ".join(f"{source.row(law)['AIC']} for {law}" for law in source.values)
        yield Text(
            "Binomial maximum likelihood on recall by depth. AICc counts depths, so that laws of "
            "many parameters pay; weight: a law's share of the support (Akaike weights); held out: "
            "each depth predicted from the others; extrapolated: the deepest third predicted from "
            "the rest. The paper fitted three depths, at which no such choice can be made (its "
            f"{source.source} prints an AIC of {said})."
        )
        rows: list[list[Cell | str]] = []
        for job in jobs:
            curve = by_depth(job, "recall")
            if len(curve) < 4 or max(point.mean for point in curve) < 0.1:
                continue
            points = [
                Recalled(depth=float(p.x), recalled=p.mean * p.n, cases=p.n) for p in curve if p.n
            ]
            fits = fit_decays(points)
            rows += [
                _fit_row("" if place else job.arm, fit, fit.aicc - fits[0].aicc, weight)
                for place, (fit, weight) in enumerate(zip(fits, weights(fits), strict=True))
            ]
        if not rows:
            raise UserError("no arm has recall at four depths")
        yield Table(
            anchor="decay",
            caption="Laws by arm, the best by AICc first",
            columns=("", *("law", "parameters", "AICc above best", "weight"),
                     *("error", "held out", "extrapolated")),
            rows=rows,
        )  # fmt: skip


def _fit_row(label: str, fit: DecayFit, above: float, weight: float | None) -> list[Cell | str]:
    parameters = ", ".join(f"{name} {value:.2f}" for name, value in fit.parameters.items())
    errors = (fit.error, fit.held_out_error, fit.extrapolated_error)
    return [label, fit.law.replace("_", " "), parameters, shown(Measured(value=above), 1),
            *(shown(Measured(value=value), 3) for value in (weight, *errors))]  # fmt: skip
