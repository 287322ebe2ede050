"""Regimes' tables 1b and 1c and figures 3-5, from recorded loops or from loops measured here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

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
from framework.reporting.recipes.loops import (
    OUTCOMES,
    final_states,
    funnel_table,
    measured,
    recorded,
    shown,
    told,
)
from framework.reporting.report.blocks import Block, Heading, Listing, Table, Text

_NEEDS: Final = (
    "the directory of the recorded loops (regimes_seed*.json), "
    "or runs and sweeps of protocol=improve"
)


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
    mine = measured(sources)
    if mine is not None:
        yield told(mine)
        yield from final_states(mine)
        return
    loops = recorded(sources)
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
    mine = measured(sources)
    if mine is not None:
        yield told(mine)
        yield funnel_table(mine)
        return
    yield _recorded()
    yield _block(published_tables(recorded(sources))[2], "funnel")


@recipe("regimes/figure3", "Regimes, Figure 3", "Flip barcode", _NEEDS)
def barcode(sources: Sequence[Path], hang: Hang) -> Iterator[Block]:
    """One mark a flipped question: wrong to right to the right, right to wrong to the left."""
    loops, kind = shown(sources)
    flips = {name: counts for loop in loops for name, counts in loop.flips.items()}
    names = list(flips)
    most = max(gained + lost for gained, lost, _ in flips.values())
    words = []
    with canvas(max(4.5, 1.8 + 0.2 * most), 0.9 + 0.35 * len(names)) as (figure, panels):
        panel = panels[0][0]
        for row, (name, (gained, lost, delta)) in enumerate(flips.items()):
            panel.plot(range(1, gained + 1), [row] * gained, ls="", marker="s", color=GREEN)
            panel.plot(range(-lost, 0), [row] * lost, ls="", marker="X", color=VERMILLION)
            panel.annotate(f"{delta:+.2f}", (gained + 1, row), va="center")
            words.append(f"{name}: {gained} gained, {lost} lost, {delta:+.2f}")
        rows_axis(panel, names)
        panel.axvline(0, color="#222222", lw=0.8)
        panel.set(xlabel="right to wrong  |  wrong to right (questions)")
        panel.margins(x=0.09)
    yield kind
    yield from hang(
        Drawing(
            name="regimes-figure3",
            title="Flip barcode",
            caption=(
                "Questions that the final state answers otherwise than the baseline, of CONFIRM "
                "where no other split is named; at the end the change of accuracy."
            ),
            alt="; ".join(words),
            figure=figure,
        )
    )


@recipe("regimes/figure4", "Regimes, Figure 4", "Candidate funnel", _NEEDS)
def funnel(sources: Sequence[Path], hang: Hang) -> Iterator[Block]:
    """Stacked bars: where the candidates of each seed ended."""
    loops, kind = shown(sources)
    names = [loop.name for loop in loops]
    colours, hatches = (VERMILLION, SKY, ORANGE, BLUE), ("xx", "..", "//", "")
    words = []
    height = 0.9 + 0.35 * len(loops) + legend_height(5.6, list(OUTCOMES))
    with canvas(5.6, height) as (figure, panels):
        panel = panels[0][0]
        left = [0] * len(loops)
        bars = []
        for label, colour, hatch in zip(OUTCOMES, colours, hatches, strict=True):
            counts = [loop.outcomes[label] for loop in loops]
            bar = panel.barh(range(len(loops)), counts, 0.6, left, color=colour, hatch=hatch)
            bars.append(bar)
            left = [a + b for a, b in zip(left, counts, strict=True)]
            words.append(f"{label}: {', '.join(map(str, counts))}")
        rows_axis(panel, names)
        panel.set(xlabel="candidates")
        legend(figure, bars, list(OUTCOMES))
    yield kind
    yield from hang(
        Drawing(
            name="regimes-figure4",
            title="Candidate funnel",
            caption="Where each authored candidate ended.",
            alt=f"By {', '.join(names)}. " + "; ".join(words),
            figure=figure,
        )
    )


@recipe("regimes/figure5", "Regimes, Figure 5", "Trajectories of promotions", _NEEDS)
def trajectories(sources: Sequence[Path], hang: Hang) -> Iterator[Block]:
    """Change of CONFIRM accuracy at each promotion, one line a seed."""
    loops, kind = shown(sources)
    names = [loop.name for loop in loops]
    look = marks(names)
    words = []
    with canvas(5.4, 3.2 + legend_height(5.4, names)) as (figure, panels):
        panel = panels[0][0]
        for name, loop in zip(names, loops, strict=True):
            deltas = loop.deltas
            mark = look[name]
            panel.plot(range(1, len(deltas) + 1), deltas, ls=mark.line, marker=mark.marker,
                       color=mark.colour, mfc=mark.face, lw=1.2)  # fmt: skip
            words.append(f"{name}: " + (", ".join(f"{d:+.2f}" for d in deltas) or "no promotion"))
        panel.axhline(0, color="#222222", lw=0.8)
        panel.set(xlabel="promotion", ylabel="CONFIRM delta at that promotion")
        panel.set_xticks(range(1, 1 + max(1, *(len(loop.deltas) for loop in loops))))
        legend(figure, handles(look.values(), line=True), names)
    yield kind
    yield from hang(
        Drawing(
            name="regimes-figure5",
            title="Trajectories of promotions",
            caption=(
                "Each delta is of its own promotion, as the loop recorded it; they do not add up."
            ),
            alt="; ".join(words),
            figure=figure,
        )
    )
    if measured(sources) is None:
        yield _block(published_tables(recorded(sources))[3], "trajectories")
