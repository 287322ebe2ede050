"""Regimes' results without a number: an interval, where flips fall, candidates by seam."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from framework.contracts.recipe import AddFigure, PrintedCell, PrintedTable, Recipe
from framework.registry import register
from framework.reporting.blocks import Block, Text
from framework.statistics.bootstrap import bootstrap_means, percentile_limits
from framework.statistics.seeding import generator
from plugins.recipes._cells import count, number, table_block
from plugins.recipes._paper_values import printed
from plugins.recipes.regimes._measured import recorded
from plugins.recipes.regimes._recorded import Loop

_CAPTION: Final = ". Under each number: what the paper prints."
_OUTCOMES: Final = {
    "static-rejected": "static_rejected",
    "on OPTIMIZE": "discarded",
    "on CONFIRM": "discarded:confirm_regression",
    "promoted": "promoted",
}


@register("recipe", "regimes/sections")
class Sections(Recipe):
    """Interval, flips by regime, and candidates by seam.

    Of recorded loops. Question types and abstention are not in them.
    """

    source = "Regimes, sections 5.5, 5.6 and 5.8"
    needs = "the directory of the recorded loops (regimes_seed*.json)"

    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        loops = recorded(sources)
        yield Text(
            "From the loops that the authors recorded: a language model read and judged. The "
            "intervals are over the questions of one split, on which the gate chose what was kept: "
            "they count no such choice."
        )
        yield table_block(intervals(loops), "interval", _CAPTION)
        yield table_block(paired(loops), "paired", _CAPTION)
        yield table_block(localised(loops), "localised", _CAPTION)
        yield table_block(by_seam(loops), "by-seam", _CAPTION)


def _texts(table: str, loop: Loop) -> dict[str, str]:
    """What the paper prints of the detailed seed; nothing of the others."""
    return dict(printed("regimes")[table].row(str(loop.seed)))


def intervals(loops: Sequence[Loop]) -> PrintedTable:
    """The mean paired difference with the 95% limits of a percentile bootstrap over questions."""
    rows = []
    for loop in loops:
        same = loop.n_confirm - len(loop.final.gained) - len(loop.final.lost)
        differences = np.repeat(
            [1.0, -1.0, 0.0], [len(loop.final.gained), len(loop.final.lost), same]
        )
        (means,) = bootstrap_means([differences], generator(loop.seed, "regimes 5.5"))
        low, high = percentile_limits(means, 0.95)
        texts = _texts("section_5.5", loop)
        cells = (
            number(loop.delta, texts.get("delta", ""), digits=2, sign=True),
            number(low, texts.get("low", ""), digits=2, sign=True, drawn=True),
            number(high, texts.get("high", ""), digits=2, sign=True, drawn=True),
        )
        rows.append((f"seed {loop.seed}", cells))
    return PrintedTable(
        number="of section 5.5",
        title="paired difference on CONFIRM, bootstrap over questions",
        columns=("delta", "low", "high"),
        rows=tuple(rows),
    )


def paired(loops: Sequence[Loop]) -> PrintedTable:
    """Questions that stay right or wrong, and that change."""
    columns = ("stay right", "right to wrong", "wrong to right", "stay wrong")
    rows = []
    for loop in loops:
        right = round(loop.confirm_base * loop.n_confirm)
        gained, lost = len(loop.final.gained), len(loop.final.lost)
        counts = (right - lost, lost, gained, loop.n_confirm - right - gained)
        texts = _texts("section_5.6", loop)
        cells = tuple(
            count(n, texts.get(name, "")) for name, n in zip(columns, counts, strict=True)
        )
        rows.append((f"seed {loop.seed}", cells))
    return PrintedTable(
        number="of section 5.6", title="questions of CONFIRM", columns=columns, rows=tuple(rows)
    )


def localised(loops: Sequence[Loop]) -> PrintedTable:
    """By regime before, the questions that the final state puts right; and those it breaks."""
    gained = {loop.seed: Counter(old for question, old, _ in loop.final.transitions
                                 if question in loop.final.gained) for loop in loops}  # fmt: skip
    regimes = sorted({regime for found in gained.values() for regime in found})
    rows = []
    for loop in loops:
        texts = _texts("section_5.6", loop)
        cells: list[PrintedCell] = [
            count(gained[loop.seed][regime], texts.get(regime, "")) for regime in regimes
        ]
        broken = count(len(loop.final.lost), texts.get("right to wrong", ""))
        rows.append((f"seed {loop.seed}", (*cells, broken)))
    return PrintedTable(
        number="of section 5.6",
        title="questions put right by the regime before, and broken",
        columns=(*regimes, "broken"),
        rows=tuple(rows),
    )


def by_seam(loops: Sequence[Loop]) -> PrintedTable:
    """What became of the candidates of each seam, over all loops."""
    attempts = [attempt for loop in loops
                for attempt in zip(loop.seams, loop.attempts, strict=True)]  # fmt: skip
    rows = []
    for seam in sorted({seam for seam, _ in attempts}):
        ended = Counter(outcome for of, outcome in attempts if of == seam)
        texts = printed("regimes")["section_5.8"].row(seam)
        cells = [count(sum(ended.values()), texts.get("authored", ""))]
        cells += [count(ended[name], texts.get(column, "")) for column, name in _OUTCOMES.items()]
        rows.append((seam, tuple(cells)))
    return PrintedTable(
        number="of section 5.8",
        title="what became of the candidates by seam",
        columns=("authored", *_OUTCOMES),
        rows=tuple(rows),
    )
