"""Heat maps: one panel a measure, one row an arm, each cell with its number."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from framework.reporting.figures.style import Drawing, canvas

_DARK = 0.55
"""Above it a cell of the colour map is light, and its number is written in black."""


def heat(
    name: str,
    title: str,
    caption: str,
    rows: Sequence[str],
    panels: Mapping[str, tuple[Sequence[str], Sequence[Sequence[float | None]]]],
) -> Drawing:
    """Shares from 0 to 1 as colours, viridis; a dash where nothing is defined.

    panels : by what is measured, the names of the columns and the values by row.
    """
    longest = max(map(len, rows))
    wide = max(len(columns) for columns, _ in panels.values())
    cell = 0.52
    turned = wide > 4
    width = 0.085 * longest + len(panels) * (0.5 + cell * wide)
    height = 0.7 + 0.27 * len(rows) + (0.07 * longest if turned else 0.2)
    with canvas(max(5.0, width), height, 1, len(panels), sharey=True) as (figure, (line,)):
        for panel, (measure, (columns, values)) in zip(line, panels.items(), strict=True):
            shades = [[math.nan if value is None else value for value in row] for row in values]
            panel.imshow(shades, cmap="viridis", vmin=0, vmax=1, aspect="auto")
            panel.set_title(measure)
            panel.set_xticks(range(len(columns)), columns, rotation=90 if turned else 0)
            panel.set_yticks(range(len(rows)), rows)
            panel.grid(visible=False)
            panel.tick_params(length=0)
            for y, row in enumerate(values):
                for x, value in enumerate(row):
                    dark = value is not None and value < _DARK
                    panel.text(
                        x,
                        y,
                        "–" if value is None else f"{value:.2f}",
                        fontsize=7.5,
                        ha="center",
                        va="center",
                        color="white" if dark else "black",
                    )
    told = [
        f"{measure} of {arm}: "
        + ", ".join("undefined" if value is None else f"{value:.2f}" for value in row)
        for measure, (_, values) in panels.items()
        for arm, row in zip(rows, values, strict=True)
    ]
    return Drawing(name=name, title=title, caption=caption, alt="; ".join(told), figure=figure)
