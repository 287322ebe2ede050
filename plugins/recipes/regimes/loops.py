"""Regimes' tables 1b and 1c and figures 3-5, from recorded loops or from loops measured here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from framework.contracts.recipe import AddFigure, Recipe
from framework.registry import register
from framework.reporting.blocks import Block, Heading, Listing
from framework.reporting.figures.style import (
    Drawing,
    canvas,
    handles,
    legend,
    legend_height,
    marks,
)
from plugins.recipes._cells import table_block
from plugins.recipes.regimes import loop_figures as figures
from plugins.recipes.regimes._measured import measured, recorded, shown
from plugins.recipes.regimes._recorded import Loop
from plugins.recipes.regimes._tables import changes, corrected_tables, published_tables
from plugins.recipes.regimes.loop_tables import final_states, funnel_table, pooled_table

_NEEDS: Final = (
    "the directory of the recorded loops (regimes_seed*.json), "
    "or runs and sweeps of protocol=improve"
)
_CAPTION: Final = ". Under each number: what the paper prints."

Measured = Sequence[tuple[str, Mapping[str, Any]]]
"""Loops measured here: name and results."""


class _Loops(Recipe):
    """A page of improvement loops: what kind of evidence they are, and then what they say."""

    needs = _NEEDS

    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        loops, kind = shown(sources)
        yield kind
        yield from add_figure(self.figure(loops))
        mine = measured(sources)
        yield from self.theirs(recorded(sources)) if mine is None else self.ours(mine)

    def figure(self, loops: Sequence[figures.Shown]) -> Drawing | None:
        """The figure, where the page has one."""
        return None

    def ours(self, loops: Measured) -> Iterator[Block]:
        """Tables of loops measured here."""
        yield from ()

    def theirs(self, loops: Sequence[Loop]) -> Iterator[Block]:
        """Tables of the authors' loops."""
        yield from ()


@register("recipe", "regimes/table1b")
class Table1b(_Loops):
    """Final states by seed, and pooled.

    Final states, the pooled counts, and what the seed as the unit leaves of them.
    """

    source = "Regimes, Table 1b"

    def ours(self, loops: Measured) -> Iterator[Block]:
        yield final_states(loops)
        yield pooled_table(loops)

    def theirs(self, loops: Sequence[Loop]) -> Iterator[Block]:
        states, pooled, *_ = published_tables(loops)
        yield table_block(states, "final-states", _CAPTION)
        yield table_block(pooled, "pooled", _CAPTION)
        yield Heading("What changes", "changes")
        for place, table in enumerate(corrected_tables(loops)):
            yield table_block(table, f"corrected-{place}", _CAPTION)
        yield Listing(changes(loops))


@register("recipe", "regimes/table1c")
class Table1c(_Loops):
    """What became of the candidates.

    The funnel as the logs have it, beside the printed one.
    """

    source = "Regimes, Table 1c"

    def ours(self, loops: Measured) -> Iterator[Block]:
        yield funnel_table(loops)

    def theirs(self, loops: Sequence[Loop]) -> Iterator[Block]:
        yield table_block(published_tables(loops)[2], "funnel", _CAPTION)


@register("recipe", "regimes/figure3")
class Barcode(_Loops):
    """Flip barcode.

    One mark a flipped question: wrong to right to the right, right to wrong to the left.
    """

    source = "Regimes, Figure 3"

    def figure(self, loops: Sequence[figures.Shown]) -> Drawing | None:
        caption = (
            "Questions that the final state answers otherwise than the baseline, of CONFIRM where "
            "no other split is named; at the end the change of accuracy."
        )
        return figures.barcode(loops, "regimes-figure3", caption)


@register("recipe", "regimes/figure4")
class Funnel(_Loops):
    """Candidate funnel.

    Stacked bars: where the candidates of each seed ended.
    """

    source = "Regimes, Figure 4"

    def figure(self, loops: Sequence[figures.Shown]) -> Drawing | None:
        return figures.funnel(loops, "regimes-figure4", "Where each authored candidate ended.")


@register("recipe", "regimes/figure5")
class Trajectories(_Loops):
    """Trajectories of promotions.

    Change of CONFIRM accuracy at each promotion, one line a seed.
    """

    source = "Regimes, Figure 5"

    def figure(self, loops: Sequence[figures.Shown]) -> Drawing | None:
        names = [loop.name for loop in loops]
        styles = marks(names)
        words = []
        with canvas(5.4, 3.2 + legend_height(5.4, names)) as (figure, panels):
            panel = panels[0][0]
            for label, loop in zip(names, loops, strict=True):
                deltas = loop.deltas
                mark = styles[label]
                panel.plot(range(1, len(deltas) + 1), deltas, ls=mark.line, marker=mark.marker,
                           color=mark.colour, mfc=mark.face, lw=1.2)  # fmt: skip
                told = ", ".join(f"{d:+.2f}" for d in deltas) or "no promotion"
                words.append(f"{label}: {told}")
            panel.axhline(0, color="#222222", lw=0.8)
            panel.set(xlabel="promotion", ylabel="CONFIRM delta at that promotion")
            panel.set_xticks(range(1, 1 + max(1, *(len(loop.deltas) for loop in loops))))
            legend(figure, handles(styles.values(), line=True), names)
        return Drawing(
            name="regimes-figure5",
            title="Trajectories of promotions",
            caption=(
                "Each delta is of its own promotion, as the loop recorded it; they do not add up."
            ),
            alt="; ".join(words),
            figure=figure,
        )

    def theirs(self, loops: Sequence[Loop]) -> Iterator[Block]:
        yield table_block(published_tables(loops)[3], "trajectories", _CAPTION)
