"""Regimes' tables 1b and 1c and figures 3-5, from recorded loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from framework.errors import UserError
from framework.reanalysis.loops import Loop, read_loops
from framework.reanalysis.regimes import changes, corrected_tables, published_tables
from framework.reanalysis.tables import Table as Published
from framework.reporting.figures.style import (
    BLUE,
    GREEN,
    ORANGE,
    SKY,
    VERMILLION,
    Drawing,
    canvas,
    handles,
    legend,
    legend_height,
    marks,
    rows_axis,
)
from framework.reporting.recipes import Hang, recipe
from framework.reporting.recipes.cells import beside
from framework.reporting.report.blocks import Block, Heading, Listing, Table, Text

__all__ = ["loops_of"]

_NEEDS: Final = "the directory of the recorded loops (regimes_seed*.json)"
_OUTCOMES: Final = {
    "static-rejected": "static_rejected",
    "discarded on OPTIMIZE": "discarded",
    "discarded on CONFIRM": "discarded:confirm_regression",
    "promoted": "promoted",
}


def loops_of(sources: Sequence[Path]) -> tuple[Loop, ...]:
    """The loops in the given directories."""
    loops = tuple(loop for source in sources for loop in read_loops(source))
    if len({loop.seed for loop in loops}) < len(loops):
        raise UserError("a loop of one seed is given twice")
    return loops


def _block(table: Published, anchor: str) -> Block:
    return Table(
        anchor=anchor,
        caption=f"Table {table.number}. {table.title}. Under each number: what the paper prints.",
        columns=("", *table.columns),
        rows=[[label, *map(beside, cells)] for label, cells in table.rows],
    )


def _recorded() -> Block:
    return Text("From the loops that the authors recorded: a language model read and judged.")


@recipe("regimes/table1b", "Regimes, Table 1b", "Final states by seed, and pooled", _NEEDS)
def table_1b(sources: Sequence[Path], hang: Hang) -> Iterator[Block]:
    """Final states, the pooled counts, and what the seed as the unit leaves of them."""
    loops = loops_of(sources)
    states, pooled, *_ = published_tables(loops)
    yield _recorded()
    yield _block(states, "final-states")
    yield _block(pooled, "pooled")
    yield Heading("What changes", "changes")
    for place, table in enumerate(corrected_tables(loops)):
        yield _block(table, f"corrected-{place}")
    yield Listing(changes(loops))


@recipe("regimes/table1c", "Regimes, Table 1c", "What became of the candidates", _NEEDS)
def table_1c(sources: Sequence[Path], hang: Hang) -> Iterator[Block]:
    """The funnel as the logs have it, beside the printed one."""
    yield _recorded()
    yield _block(published_tables(loops_of(sources))[2], "funnel")


@recipe("regimes/figure3", "Regimes, Figure 3", "Flip barcode", _NEEDS)
def barcode(sources: Sequence[Path], hang: Hang) -> Iterator[Block]:
    """One mark a flipped question: wrong to right to the right, right to wrong to the left."""
    loops = loops_of(sources)
    names = [f"seed {loop.seed}" for loop in loops]
    most = max(len(loop.final.gained) + len(loop.final.lost) for loop in loops)
    told = []
    with canvas(1.8 + 0.2 * most, 0.9 + 0.35 * len(loops)) as (figure, panels):
        panel = panels[0][0]
        for row, loop in enumerate(loops):
            gained, lost = len(loop.final.gained), len(loop.final.lost)
            panel.plot(range(1, gained + 1), [row] * gained, ls="", marker="s", color=GREEN)
            panel.plot(range(-lost, 0), [row] * lost, ls="", marker="X", color=VERMILLION)
            panel.annotate(f"{loop.delta:+.2f}", (gained + 1, row), va="center")
            told.append(f"{names[row]}: {gained} gained, {lost} lost, {loop.delta:+.2f}")
        rows_axis(panel, names)
        panel.axvline(0, color="#222222", lw=0.8)
        panel.set(xlabel="right to wrong  |  wrong to right (questions)")
        panel.margins(x=0.09)
    yield _recorded()
    yield from hang(
        Drawing(
            name="regimes-figure3",
            title="Flip barcode",
            caption=(
                "Questions of CONFIRM that the final state answers otherwise than the baseline; at "
                "the end the change of accuracy. The splits share one pool of questions."
            ),
            alt="; ".join(told),
            figure=figure,
        )
    )


@recipe("regimes/figure4", "Regimes, Figure 4", "Candidate funnel", _NEEDS)
def funnel(sources: Sequence[Path], hang: Hang) -> Iterator[Block]:
    """Stacked bars: where the candidates of each seed ended."""
    loops = loops_of(sources)
    names = [f"seed {loop.seed}" for loop in loops]
    colours, hatches = (VERMILLION, SKY, ORANGE, BLUE), ("xx", "..", "//", "")
    told = []
    height = 0.9 + 0.35 * len(loops) + legend_height(5.6, list(_OUTCOMES))
    with canvas(5.6, height) as (figure, panels):
        panel = panels[0][0]
        left = [0] * len(loops)
        bars = []
        for (label, outcome), colour, hatch in zip(
            _OUTCOMES.items(), colours, hatches, strict=True
        ):
            counts = [loop.count(outcome) for loop in loops]
            bar = panel.barh(range(len(loops)), counts, 0.6, left, color=colour, hatch=hatch)
            bars.append(bar)
            left = [a + b for a, b in zip(left, counts, strict=True)]
            told.append(f"{label}: {', '.join(map(str, counts))}")
        rows_axis(panel, names)
        panel.set(xlabel="candidates")
        legend(figure, bars, list(_OUTCOMES))
    yield _recorded()
    yield from hang(
        Drawing(
            name="regimes-figure4",
            title="Candidate funnel",
            caption="Where each authored candidate ended.",
            alt=f"By {', '.join(names)}. " + "; ".join(told),
            figure=figure,
        )
    )


@recipe("regimes/figure5", "Regimes, Figure 5", "Trajectories of promotions", _NEEDS)
def trajectories(sources: Sequence[Path], hang: Hang) -> Iterator[Block]:
    """Change of CONFIRM accuracy at each promotion, one line a seed."""
    loops = loops_of(sources)
    names = [f"seed {loop.seed}" for loop in loops]
    look = marks(names)
    told = []
    with canvas(5.4, 3.2 + legend_height(5.4, names)) as (figure, panels):
        panel = panels[0][0]
        for name, loop in zip(names, loops, strict=True):
            deltas = [promotion.confirm_delta for promotion in loop.promotions]
            mark = look[name]
            panel.plot(range(1, len(deltas) + 1), deltas, ls=mark.line, marker=mark.marker,
                       color=mark.colour, mfc=mark.face, lw=1.2)  # fmt: skip
            told.append(f"{name}: " + ", ".join(f"{d:+.2f}" for d in deltas))
        panel.axhline(0, color="#222222", lw=0.8)
        panel.set(xlabel="promotion", ylabel="CONFIRM delta at that promotion")
        panel.set_xticks(range(1, 1 + max(len(loop.promotions) for loop in loops)))
        legend(figure, handles(look.values(), line=True), names)
    yield _recorded()
    yield from hang(
        Drawing(
            name="regimes-figure5",
            title="Trajectories of promotions",
            caption=(
                "Each delta is of its own promotion, as the loop recorded it; they do not add up."
            ),
            alt="; ".join(told),
            figure=figure,
        )
    )
    yield _block(published_tables(loops)[3], "trajectories")
