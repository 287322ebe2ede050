"""The operating characteristics of gates as a table and a figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from benchmarks.studies.gates import ANALYSES, Found

if TYPE_CHECKING:
    from framework.reporting.figures.style import Drawing

_SHOWN: Final = (1, 5, 20)
"""Analyses after which the table shows what depends on them most."""
_PANELS: Final = {
    "any_false": "loops with a false promotion",
    "optimism": "optimism of the loop's claim",
    "regret": "regret",
}


def markdown(found: Sequence[Found]) -> str:
    """A table a population, one line a rule; of three numbers each is after so many analyses."""
    after = ", ".join(map(str, _SHOWN))
    parts = []
    for population, rules in _grouped(found).items():
        lines = [
            f"**Ideas: {population}** (a false one, optimism, regret: after {after} analyses)",
            "",
            "| gate | promotions | a false one | false share | true gain | optimism | regret |",
            "|---|---|---|---|---|---|---|",
        ]
        for rule, by_analyses in rules.items():
            last = by_analyses[_SHOWN[-1]]
            shown = [by_analyses[analyses] for analyses in _SHOWN]
            share = "-" if last.false_share is None else f"{last.false_share:.2f}"
            any_false = " / ".join(f"{f.any_false:.3f}" for f in shown)
            optimism = " / ".join(f"{f.optimism:+.3f}" for f in shown)
            regret = " / ".join(f"{f.regret:.3f}" for f in shown)
            lines.append(
                f"| {rule} | {last.promotions:.2f} | {any_false} | {share} | {last.gain:+.3f} | "
                f"{optimism} | {regret} |"
            )
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def draw(found: Sequence[Found]) -> Drawing:
    """False promotions, optimism and regret by analyses; a row of panels a population."""
    from framework.reporting.figures.style import (
        Drawing,
        canvas,
        handles,
        legend,
        legend_height,
        marks,
    )

    groups = _grouped(found)
    names = list(dict.fromkeys(f.rule for f in found))
    styles = marks(names)
    width = 9.6
    told = []
    height = 2.5 * len(groups) + legend_height(width, names)
    with canvas(width, height, len(groups), len(_PANELS), sharex=True) as (figure, panels):
        for row, (population, rules) in zip(panels, groups.items(), strict=True):
            for panel, (column, title) in zip(row, _PANELS.items(), strict=True):
                for rule, by_analyses in rules.items():
                    mark = styles[rule]
                    values = [getattr(by_analyses[analyses], column) for analyses in ANALYSES]
                    panel.plot(ANALYSES, values, ls=mark.line, marker=mark.marker, lw=1.2,
                               color=mark.colour, mfc=mark.face)  # fmt: skip
                panel.set(title=title, xscale="log")
                panel.set_xticks(ANALYSES, map(str, ANALYSES))
                panel.minorticks_off()
            row[0].set_ylabel(population.partition(",")[0])
            worst = max(rules, key=lambda rule: rules[rule][ANALYSES[-1]].any_false)
            told.append(
                f"{population}: after {ANALYSES[-1]} analyses a false promotion in "
                f"{rules[worst][ANALYSES[-1]].any_false:.0%} of loops under {worst}"
            )
        for panel in panels[-1]:
            panel.set_xlabel("analyses of CONFIRM")
        legend(figure, handles(styles.values(), line=True), names)
    return Drawing(
        name="gate_characteristics",
        title="What each gate lets through",
        caption="Simulated loops whose true effects are known, decided by the loop's own gates.",
        alt="; ".join(told),
        figure=figure,
    )


def _grouped(found: Sequence[Found]) -> dict[str, dict[str, dict[int, Found]]]:
    """By population, rule and analyses, in the order given."""
    groups: dict[str, dict[str, dict[int, Found]]] = {}
    for f in found:
        groups.setdefault(f.population, {}).setdefault(f.rule, {})[f.analyses] = f
    return groups
