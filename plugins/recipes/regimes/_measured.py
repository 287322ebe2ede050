"""Improvement loops as the recipes of Regimes show them: the authors' or measured here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from framework.errors import UserError
from framework.reporting.blocks import Block, Text
from plugins.recipes.regimes import loop_figures as figures
from plugins.recipes.regimes._recorded import Loop, read_loops
from plugins.recipes.regimes.loop_tables import read_loop

_RECORDED: Final = dict(
    zip(
        figures.OUTCOMES,
        ("static_rejected", "discarded", "discarded:confirm_regression", "promoted"),
        strict=True,
    )
)


def recorded(sources: Sequence[Path]) -> tuple[Loop, ...]:
    """The authors' loops in the given directories."""
    loops = tuple(loop for source in sources for loop in read_loops(source))
    if len({loop.seed for loop in loops}) < len(loops):
        raise UserError("a loop of one seed is given twice")
    return loops


def measured(sources: Sequence[Path]) -> list[tuple[str, Mapping[str, Any]]] | None:
    """Name and results of each finished loop in runs and sweeps; None where there is none.

    A name is the seed, and the run's directory too where seeds repeat. Raises UserError where some
    of the sources are such runs and others are not.
    """
    found: list[tuple[Path, Mapping[str, Any]]] = []
    without: list[Path] = []
    for source in sources:
        runs = [source, *(sorted(source.iterdir()) if source.is_dir() else ())]
        results = [(run, read_loop(run)) for run in runs if run.is_dir()]
        mine = [(run, r) for run, r in results if r is not None and "loop" in r]
        found += sorted(mine, key=lambda pair: (pair[1]["loop"]["seed"], pair[0].name))
        without += [] if mine else [source]
    if found and without:
        raise UserError(f"{without[0]}: holds no finished loop, and the other sources do")
    seeds = Counter(results["loop"]["seed"] for _, results in found)
    named = [
        (f"seed {seed}" if seeds[seed] == 1 else f"seed {seed}, {run.name}", results)
        for run, results in found
        for seed in [results["loop"]["seed"]]
    ]
    return named or None


def shown(sources: Sequence[Path]) -> tuple[list[figures.Shown], Block]:
    """The loops of the sources as figures show them, and what kind of evidence they are."""
    mine = measured(sources)
    if mine is None:
        text = "From the loops that the authors recorded: a language model read and judged."
        return [_recorded(loop) for loop in recorded(sources)], Text(text)
    return [figures.measured(name, results) for name, results in mine], told(mine)


def told(loops: Sequence[tuple[str, Mapping[str, Any]]]) -> Block:
    """What measured loops were."""
    parts = {
        name: ", ".join(sorted({str(results["loop"][name]) for _, results in loops}))
        for name in ("target", "author", "routing", "gate")
    }
    setup = ", ".join(f"{name} {value}" for name, value in parts.items())
    return Text(f"Measured here: {len(loops)} loops; {setup}. Nothing of it is the paper's.")


def _recorded(loop: Loop) -> figures.Shown:
    name = f"seed {loop.seed}"
    return figures.Shown(
        name=name,
        flips={name: (len(loop.final.gained), len(loop.final.lost), loop.delta)},
        outcomes={label: loop.count(outcome) for label, outcome in _RECORDED.items()},
        deltas=tuple(promotion.confirm_delta for promotion in loop.promotions),
    )
