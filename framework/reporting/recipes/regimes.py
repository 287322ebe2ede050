"""Regimes' tables 1b and 1c and figures 3-5, from recorded loops or from loops measured here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from framework.reanalysis.regimes import changes, corrected_tables, published_tables
from framework.reanalysis.tables import Table as Published
from framework.reporting.blocks import Block, Heading, Listing, Table, Text
from framework.reporting.figures import loops as figures
from framework.reporting.recipes import AddFigure, recipe
from framework.reporting.recipes.cells import beside
from framework.reporting.recipes.loops import measured, recorded, shown, told
from framework.reporting.sections.loop_tables import final_states, funnel_table, pooled_table

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
def table_1b(sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
    """Final states, the pooled counts, and what the seed as the unit leaves of them."""
    mine = measured(sources)
    if mine is not None:
        yield told(mine)
        yield final_states(mine)
        yield pooled_table(mine)
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
def table_1c(sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
    """The funnel as the logs have it, beside the printed one."""
    mine = measured(sources)
    if mine is not None:
        yield told(mine)
        yield funnel_table(mine)
        return
    yield _recorded()
    yield _block(published_tables(recorded(sources))[2], "funnel")


@recipe("regimes/figure3", "Regimes, Figure 3", "Flip barcode", _NEEDS)
def barcode(sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
    """One mark a flipped question: wrong to right to the right, right to wrong to the left."""
    loops, kind = shown(sources)
    yield kind
    caption = (
        "Questions that the final state answers otherwise than the baseline, of CONFIRM where no "
        "other split is named; at the end the change of accuracy."
    )
    yield from add_figure(figures.barcode(loops, "regimes-figure3", caption))


@recipe("regimes/figure4", "Regimes, Figure 4", "Candidate funnel", _NEEDS)
def funnel(sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
    """Stacked bars: where the candidates of each seed ended."""
    loops, kind = shown(sources)
    yield kind
    caption = "Where each authored candidate ended."
    yield from add_figure(figures.funnel(loops, "regimes-figure4", caption))


@recipe("regimes/figure5", "Regimes, Figure 5", "Trajectories of promotions", _NEEDS)
def trajectories(sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
    """Change of CONFIRM accuracy at each promotion, one line a seed."""
    loops, kind = shown(sources)
    yield kind
    caption = "Each delta is of its own promotion, as the loop recorded it; they do not add up."
    yield from add_figure(figures.promotions(loops, "regimes-figure5", caption))
    if measured(sources) is None:
        yield _block(published_tables(recorded(sources))[3], "trajectories")
