"""Improvement loops: flips as a barcode, where candidates ended, promises and what TEST gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

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
from plugins.recipes.regimes.loop_tables import CASES, SPLITS

OUTCOMES: Final[Mapping[str, tuple[str, ...]]] = {
    "static-rejected": ("static", "sandbox"),
    "discarded on OPTIMIZE": ("best_of", "optimize"),
    "discarded on CONFIRM": ("confirm", "plateau"),
    "promoted": ("promoted",),
}
"""The outcomes that the paper counts candidates under, and the stages of a funnel that each is."""
_WIDEST: Final = 11.0
"""Inches of a barcode; with more flips its marks stand closer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One loop in a figure.

    flips : by row of the barcode, (cases gained, cases lost, change of accuracy). outcomes : how
    many candidates ended where. deltas : change of CONFIRM accuracy at each promotion.
    """

    name: str
    flips: Mapping[str, tuple[int, int, float]]
    outcomes: Mapping[str, int]
    deltas: tuple[float, ...]


def measured(name: str, results: Mapping[str, Any]) -> Shown:
    """A loop of this framework, from its improve.json; with a name it is part of each row's."""
    return Shown(
        name=name,
        flips={
            ", ".join(filter(None, (name, CASES[split]))): (
                results[split]["wrong_to_right"],
                results[split]["right_to_wrong"],
                results[split]["delta"],
            )
            for split in SPLITS
            if split in results
        },
        outcomes={
            label: sum(results["funnel"].get(stage, 0) for stage in stages)
            for label, stages in OUTCOMES.items()
        },
        deltas=tuple(entry["delta"] for entry in results["trajectory"]),
    )


def barcode(loops: Sequence[Shown], name: str, caption: str) -> Drawing:
    """One mark a flipped question: wrong to right to the right, right to wrong to the left."""
    flips = {row: counts for loop in loops for row, counts in loop.flips.items()}
    most = max(gained + lost for gained, lost, _ in flips.values())
    width = min(_WIDEST, max(4.5, 1.8 + 0.2 * most))
    size = min(5.0, 60 * (width - 1.8) / max(1, most))  # points: marks must not run into another
    words = []
    with canvas(width, 0.9 + 0.35 * len(flips)) as (figure, panels):
        panel = panels[0][0]
        for row, (label, (gained, lost, delta)) in enumerate(flips.items()):
            panel.plot(range(1, gained + 1), [row] * gained, ls="", marker="s", ms=size,
                       color=GREEN)  # fmt: skip
            panel.plot(range(-lost, 0), [row] * lost, ls="", marker="X", ms=size, color=VERMILLION)
            panel.annotate(f"{delta:+.2f}", (gained + 1, row), va="center")
            words.append(f"{label}: {gained} gained, {lost} lost, {delta:+.2f}")
        rows_axis(panel, list(flips))
        panel.axvline(0, color="#222222", lw=0.8)
        panel.set(xlabel="right to wrong  |  wrong to right (questions)")
        panel.margins(x=0.09)
    return Drawing(
        name=name, title="Flip barcode", caption=caption, alt="; ".join(words), figure=figure
    )


def funnel(loops: Sequence[Shown], name: str, caption: str) -> Drawing:
    """Stacked bars: where the candidates of each loop ended."""
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
    return Drawing(
        name=name,
        title="Candidate funnel",
        caption=caption,
        alt=f"By {', '.join(names)}. " + "; ".join(words),
        figure=figure,
    )


def promises(
    loops: Sequence[tuple[str, Mapping[str, Any]]], name: str, kind: str
) -> Drawing | None:
    """What each promotion promised on CONFIRM in all, and beside it what TEST gave.

    loops : name and improve.json of each. kind : the sentence on the kind of evidence. None where
    nothing was promoted: there is no promise to keep.
    """
    shown = [(label, results) for label, results in loops if results["trajectory"]]
    if not shown:
        return None
    names = [label for label, _ in shown]
    styles = marks(names)
    tests = [split for split in ("test", "test_shifted") if any(split in r for _, r in shown)]
    last = max(len(results["trajectory"]) for _, results in shown)
    below = legend_height(5.8, names) if len(names) > 1 else 0.0
    words = []
    with canvas(5.8, 3.0 + below) as (figure, panels):
        panel = panels[0][0]
        for place, (label, results) in enumerate(shown):
            mark = styles[label]
            deltas = [0.0, *(entry["cumulative_delta"] for entry in results["trajectory"])]
            panel.plot(range(len(deltas)), deltas, ls=mark.line, marker=mark.marker,
                       color=mark.colour, mfc=mark.face, lw=1.2)  # fmt: skip
            told = f"CONFIRM {', '.join(f'{d:+.3f}' for d in deltas[1:])}"
            for column, split in enumerate(tests, start=last + 1):
                if split not in results:
                    continue
                found = results[split]
                at = column + 0.5 * (place - (len(shown) - 1) / 2) / len(shown)
                if None not in found["interval"]:  # none is claimed over a few clusters
                    panel.vlines(at, *found["interval"], color=mark.colour, lw=1.1)
                panel.plot(at, found["delta"], marker=mark.marker, color=mark.colour, mfc="white",
                           ls="")  # fmt: skip
                told += f", {CASES[split]} {found['delta']:+.3f}"
            words.append(f"{label}: {told}" if label else told)
        panel.axhline(0, color="#222222", lw=0.8)
        panel.axvline(last + 0.5, color="#bbbbbb", lw=0.8)
        ticks = ["bare", *(str(n) for n in range(1, last + 1))]
        panel.set_xticks(
            range(last + 1 + len(tests)),
            [*ticks, *(CASES[split] for split in tests)],
        )
        panel.set(xlabel="promotions on CONFIRM, then the final stack where nothing was chosen",
                  ylabel="accuracy, less the bare pipeline's")  # fmt: skip
        if len(names) > 1:
            legend(figure, handles(styles.values(), line=True), names)
    return Drawing(
        name=name,
        title="What CONFIRM promised and TEST gave",
        caption=(
            "Accuracy of the stack after each promotion less that of the bare pipeline, on the "
            "CONFIRM cases of the split; then the final stack on TEST and on shifted TEST, hollow, "
            f"with 95% intervals. Loops that promoted nothing are not drawn. {kind}"
        ),
        alt="; ".join(words),
        figure=figure,
    )
