"""How every figure styles: colours for the colour-blind, marks that differ in grey, same bytes.

Colours are Okabe and Ito's (jfly.uni-koeln.de/color, 2008). Whatever has a colour has a marker, a
line style or a hatch of its own too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from framework.errors import UserError
from framework.store.atomic import named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from framework.reporting.blocks import Block

BLUE: Final = "#0072B2"
ORANGE: Final = "#E69F00"
GREEN: Final = "#009E73"
VERMILLION: Final = "#D55E00"
PURPLE: Final = "#CC79A7"
SKY: Final = "#56B4E9"
BLACK: Final = "#000000"
GREY: Final = "#666666"
_COLOURS: Final = (BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY, BLACK)
_MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h")
_LINES: Final = ("-", "--", "-.", ":")
_DPI: Final = 110
_PIXELS: Final = 96
"""CSS pixels an inch."""
_SETTINGS: Final[dict[str, Any]] = {
    "svg.hashsalt": "decisionbench",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.markersize": 5,
    "hatch.linewidth": 0.6,
    "figure.facecolor": "white",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """How one of several is drawn, whatever the figure."""

    colour: str
    marker: str
    line: str
    filled: bool

    @property
    def face(self) -> str:
        """Colour of the marker's inside."""
        return self.colour if self.filled else "white"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A figure with its words.

    name : of its files. title : what it is. caption : how to read it and what kind of evidence it
        is. alt : what it shows, in numbers where they are few, for who can't see it.
    """

    name: str
    title: str
    caption: str
    alt: str
    figure: Figure


def marks(names: Sequence[str]) -> dict[str, Mark]:
    """A mark for each name, by its place: markers and colours have different periods."""
    return {
        name: Mark(
            colour=_COLOURS[i % len(_COLOURS)],
            marker=_MARKERS[i % len(_MARKERS)],
            line=_LINES[i % len(_LINES)],
            filled=(i // len(_MARKERS)) % 2 == 0,
        )
        for i, name in enumerate(names)
    }


@contextmanager
def canvas(
    width: float, height: float, rows: int = 1, columns: int = 1, **options: Any
) -> Iterator[tuple[Figure, list[list[Axes]]]]:
    """An empty figure of inches with its panels by row and column.

    matplotlib's settings hold inside alone; nothing global is touched.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    with mpl.rc_context(_settings()):
        layout = ConstrainedLayoutEngine(w_pad=0.09, h_pad=0.07)
        figure = Figure(figsize=(width, height), layout=layout)
        FigureCanvasAgg(figure)
        panels = figure.subplots(rows, columns, squeeze=False, **options)
        yield figure, [list(row) for row in panels]


@contextmanager
def facets(
    n: int, most: int, width: tuple[float, float], height: tuple[float, float], **options: Any
) -> Iterator[tuple[Figure, list[Axes]]]:
    """A figure of `n` panels, at most `most` in a row.

    width, height : inches of what is around the panels, and of each of them.
    """
    across = min(most, n)
    down = math.ceil(n / across)
    size = (width[0] + width[1] * across, height[0] + height[1] * down)
    with canvas(*size, down, across, **options) as (figure, panels):
        flat = [panel for row in panels for panel in row]
        for panel in flat[n:]:
            panel.set_visible(False)
        yield figure, flat[:n]


def save(drawing: Drawing, directory: Path) -> tuple[Path, Path]:
    """Write the figure as SVG and PNG and return both paths: the same figure, the same bytes."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    svg, png = (directory / f"{drawing.name}.{kind}" for kind in ("svg", "png"))
    figure = drawing.figure
    with mpl.rc_context(_settings()), named(directory / drawing.name):
        # Not by savefig, which draws all of it once more beforehand.
        drawn: Any = FigureCanvasSVG(figure)
        drawn.print_svg(svg, metadata={"Date": None, "Creator": None})
        # The layout was found for the first file; finding it again takes as long and moves nothing.
        figure.set_layout_engine("none")
        figure.set_dpi(_DPI)
        drawn = FigureCanvasAgg(figure)
        drawn.print_png(png, metadata={"Software": None})
    return svg, png


def pixels(drawing: Drawing) -> int:
    """Width of the drawing in CSS pixels."""
    return math.ceil(drawing.figure.get_figwidth() * _PIXELS)


@dataclass
class FigureWriter:
    """Saves drawings, each once, in one directory; `add_figure` gives the block that shows one."""

    directory: Path
    names: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.directory.is_symlink():  # it would remove what is not of the report's
            raise UserError(
                f"{self.directory}: a symbolic link, where the report needs a directory"
            )

    def add_figure(self, drawing: Drawing | None) -> Iterator[Block]:
        """Save a drawing and give its block; nothing for no drawing."""
        from framework.reporting.blocks import Figure as Shown

        if drawing is None:
            return
        self.directory.mkdir(parents=True, exist_ok=True)
        svg, png = save(drawing, self.directory)
        self.names += [svg.name, png.name]
        yield Shown(
            anchor=f"figure-{drawing.name}",
            title=drawing.title,
            caption=drawing.caption,
            alt=drawing.alt,
            svg=svg,
            png=png,
            width=pixels(drawing),
        )

    def remove_stale(self) -> None:
        """Remove figures of an earlier report that this one does not have."""
        if self.directory.is_dir():
            for left in [*self.directory.glob("*.svg"), *self.directory.glob("*.png")]:
                if left.name not in self.names:
                    left.unlink()


def _settings() -> Any:
    """The defaults of matplotlib itself, whatever the user's are, with ours on top."""
    import matplotlib as mpl

    return {**mpl.rcParamsDefault, "backend": "Agg", **_SETTINGS}


def rows_axis(panel: Axes, names: Sequence[str]) -> None:
    """Name the rows of a panel, the first at the top, whatever it draws beside them."""
    panel.set_yticks(range(len(names)), names)
    panel.set_ylim(len(names) - 0.5, -0.5)
    panel.grid(visible=False, axis="y")
    panel.tick_params(axis="y", length=0)


def whisker(
    panel: Axes, at: float, low: float | None, high: float | None, colour: str = "#222222"
) -> None:
    """An interval along x at row `at`; nothing where none is claimed."""
    if low is not None and high is not None:
        gap, cap = math.nan, 0.07
        along = [low, high, gap, low, low, gap, high, high]
        across = [at, at, gap, at - cap, at + cap, gap, at - cap, at + cap]
        panel.plot(along, across, color=colour, lw=1.1, zorder=3, solid_capstyle="butt")


def handles(styles: Iterable[Mark], *, hollow: bool = False, line: bool = False) -> list[Line2D]:
    """What stands before the names in a legend, drawn as the panels draw it."""
    from matplotlib.lines import Line2D

    return [
        Line2D(
            [],
            [],
            color=mark.colour,
            marker=mark.marker,
            ls=mark.line if line else "",
            mfc="none" if hollow else mark.face,
            mew=1.5 if hollow else 1.0,
        )
        for mark in styles
    ]


def legend(figure: Figure, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """One legend for all panels, under them, in as many columns as fit."""
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=_legend_columns(figure.get_figwidth(), labels),
        handletextpad=0.5,
    )


def legend_height(width: float, labels: Sequence[str]) -> float:
    """Inches that the legend of a figure of this width takes."""
    return 0.15 + 0.19 * -(-len(labels) // _legend_columns(width, labels))


def _legend_columns(width: float, labels: Sequence[str]) -> int:
    entry = 0.65 + 0.075 * max(map(len, labels), default=0)
    return max(1, min(len(labels), int((width - 0.3) / entry)))
