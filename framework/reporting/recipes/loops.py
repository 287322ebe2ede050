"""Improvement loops as the recipes of Regimes show them: the authors' or measured here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from framework.errors import UserError
from framework.reanalysis.loops import Loop, read_loops
from framework.reporting.loops import SPLITS, loops_summary, read_loop
from framework.reporting.report.blocks import Block, Cell, Table, Text
from framework.reporting.spelling import p_value

__all__ = ["OUTCOMES", "Shown", "final_states", "funnel_table", "measured", "recorded", "shown"]

OUTCOMES: Final = (
    "static-rejected",
    "discarded on OPTIMIZE",
    "discarded on CONFIRM",
    "promoted",
)
_RECORDED: Final = dict(
    zip(
        OUTCOMES,
        ("static_rejected", "discarded", "discarded:confirm_regression", "promoted"),
        strict=True,
    )
)
_STAGES: Final = dict(
    zip(
        OUTCOMES,
        (("static", "sandbox"), ("best_of", "optimize"), ("confirm", "plateau"), ("promoted",)),
        strict=True,
    )
)
_FLIPS: Final = ("wrong_to_right", "right_to_wrong")


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


def shown(sources: Sequence[Path]) -> tuple[list[Shown], Block]:
    """The loops of the sources as figures show them, and what kind of evidence they are."""
    mine = measured(sources)
    if mine is None:
        text = "From the loops that the authors recorded: a language model read and judged."
        return [_recorded(loop) for loop in recorded(sources)], Text(text)
    return [_measured(name, results) for name, results in mine], told(mine)


def told(loops: Sequence[tuple[str, Mapping[str, Any]]]) -> Block:
    """What measured loops were."""
    parts = {
        name: ", ".join(sorted({str(results["loop"][name]) for _, results in loops}))
        for name in ("target", "author", "routing", "gate")
    }
    setup = ", ".join(f"{name} {value}" for name, value in parts.items())
    return Text(f"Measured here: {len(loops)} loops; {setup}. Nothing of it is the paper's.")


def final_states(loops: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[Block]:
    """The paper's table 1b of measured loops: by seed and split, and pooled."""
    rows: list[list[Cell | str]] = []
    for name, results in loops:
        for split in SPLITS:
            if split in results:
                rows.append([name, *_state(split, results[split])])
    columns = ("", "cases", "n", "before", "after", "delta", *_ARROWS, "McNemar p")
    yield Table(
        anchor="final-states",
        caption="Final stack against the bare pipeline; confirm is what it was selected on.",
        columns=columns,
        rows=rows,
    )
    summary = loops_summary(
        [{"arm": "", "directory": name, "results": results} for name, results in loops]
    )
    pooled = summary["arms"][""]["pooled"]
    units = summary["arms"][""]["seeds_as_units"]
    yield Table(
        anchor="pooled",
        caption=f"Pooled over loops. {summary['caveat']}",
        columns=("cases", *_ARROWS, "McNemar p", "mean delta", "p, seeds as the unit", "least p"),
        rows=[
            [
                split,
                *(Cell(text=str(found[flip]), value=found[flip]) for flip in _FLIPS),
                p_value(found["mcnemar_p"]),
                *_units(units.get(split)),
            ]
            for split, found in pooled.items()
        ],
    )


_ARROWS: Final = ("wrong to right", "right to wrong")


def funnel_table(loops: Sequence[tuple[str, Mapping[str, Any]]]) -> Block:
    """The paper's table 1c of measured loops: where each candidate ended."""
    names = ("authored", *(stage for stages in _STAGES.values() for stage in stages))
    return Table(
        anchor="funnel",
        caption="Where each authored candidate ended.",
        columns=("", *names, "stopped"),
        rows=[
            [
                name,
                *(
                    Cell(text=str(n), value=n)
                    for n in (results["funnel"].get(stage, 0) for stage in names)
                ),
                results["stopped"]["reason"],
            ]
            for name, results in loops
        ],
    )


def _recorded(loop: Loop) -> Shown:
    name = f"seed {loop.seed}"
    return Shown(
        name=name,
        flips={name: (len(loop.final.gained), len(loop.final.lost), loop.delta)},
        outcomes={label: loop.count(outcome) for label, outcome in _RECORDED.items()},
        deltas=tuple(promotion.confirm_delta for promotion in loop.promotions),
    )


def _measured(name: str, results: Mapping[str, Any]) -> Shown:
    return Shown(
        name=name,
        flips={
            f"{name}, {split}": (*(results[split][flip] for flip in _FLIPS),
                                 results[split]["delta"])
            for split in SPLITS if split in results
        },
        outcomes={
            label: sum(results["funnel"].get(stage, 0) for stage in stages)
            for label, stages in _STAGES.items()
        },
        deltas=tuple(entry["delta"] for entry in results["trajectory"]),
    )  # fmt: skip


def _state(split: str, found: Mapping[str, Any]) -> list[Cell | str]:
    numbers = [("n", "d"), ("before", ".3f"), ("after", ".3f"), ("delta", "+.3f"),
               *((flip, "d") for flip in _FLIPS)]  # fmt: skip
    cells = [Cell(text=format(found[key], form), value=found[key]) for key, form in numbers]
    return [split, *cells, p_value(found["mcnemar_p"])]


def _units(units: Mapping[str, Any] | None) -> list[str]:
    if units is None:
        return ["", "", ""]
    return [f"{units['mean']:+.3f}", p_value(units["p"]), p_value(units["smallest_p"])]
