"""Regimes' tables 1b and 1c and figures 3-5, from recorded loops or from loops measured here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from framework.contracts.recipe import AddFigure, PrintedTable, Recipe
from framework.registry import register
from framework.reporting.blocks import Block, Heading, Listing, Table, Text
from framework.reporting.figures import loops as figures
from framework.reporting.sections.loop_tables import final_states, funnel_table, pooled_table
from plugins.recipes._cells import beside
from plugins.recipes.regimes._measured import measured, recorded, shown, told
from plugins.recipes.regimes._tables import changes, corrected_tables, published_tables

_NEEDS: Final = (
    "the directory of the recorded loops (regimes_seed*.json), "
    "or runs and sweeps of protocol=improve"
)


def _block(table: PrintedTable, anchor: str) -> Block:
    return Table(
        anchor=anchor,
        caption=f"Table {table.number}. {table.title}. Under each number: what the paper prints.",
        columns=("", *table.columns),
        rows=[[label, *map(beside, cells)] for label, cells in table.rows],
    )


def _recorded() -> Block:
    return Text("From the loops that the authors recorded: a language model read and judged.")


@register("recipe", "regimes/table1b")
class Table1b(Recipe):
    """Final states by seed, and pooled.

    Final states, the pooled counts, and what the seed as the unit leaves of them.
    """

    source = "Regimes, Table 1b"
    needs = _NEEDS

    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
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


@register("recipe", "regimes/table1c")
class Table1c(Recipe):
    """What became of the candidates.

    The funnel as the logs have it, beside the printed one.
    """

    source = "Regimes, Table 1c"
    needs = _NEEDS

    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        mine = measured(sources)
        if mine is not None:
            yield told(mine)
            yield funnel_table(mine)
            return
        yield _recorded()
        yield _block(published_tables(recorded(sources))[2], "funnel")


@register("recipe", "regimes/figure3")
class Barcode(Recipe):
    """Flip barcode.

    One mark a flipped question: wrong to right to the right, right to wrong to the left.
    """

    source = "Regimes, Figure 3"
    needs = _NEEDS

    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        loops, kind = shown(sources)
        yield kind
        caption = (
            "Questions that the final state answers otherwise than the baseline, of CONFIRM where "
            "no other split is named; at the end the change of accuracy."
        )
        yield from add_figure(figures.barcode(loops, "regimes-figure3", caption))


@register("recipe", "regimes/figure4")
class Funnel(Recipe):
    """Candidate funnel.

    Stacked bars: where the candidates of each seed ended.
    """

    source = "Regimes, Figure 4"
    needs = _NEEDS

    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        loops, kind = shown(sources)
        yield kind
        caption = "Where each authored candidate ended."
        yield from add_figure(figures.funnel(loops, "regimes-figure4", caption))


@register("recipe", "regimes/figure5")
class Trajectories(Recipe):
    """Trajectories of promotions.

    Change of CONFIRM accuracy at each promotion, one line a seed.
    """

    source = "Regimes, Figure 5"
    needs = _NEEDS

    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        loops, kind = shown(sources)
        yield kind
        caption = "Each delta is of its own promotion, as the loop recorded it; they do not add up."
        yield from add_figure(figures.promotions(loops, "regimes-figure5", caption))
        if measured(sources) is None:
            yield _block(published_tables(recorded(sources))[3], "trajectories")
