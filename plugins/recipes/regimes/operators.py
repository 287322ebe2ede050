"""Guarded operators beside prose patches, from runs with and without them (Regimes 8.3)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from framework.analysis.evidence import Job, higher_is_better, load
from framework.contracts.recipe import AddFigure, Recipe
from framework.errors import UserError
from framework.registry import register
from framework.reporting.blocks import Block, Cell, Table, Text
from framework.reporting.cells import UNDEFINED, count, delta
from framework.reporting.format import DAGGER, MARKS, SECTION
from framework.statistics.paired import compare

_NEEDS: Final = (
    "runs or sweeps of reader=guarded over the same cases: one without operators and guidance, and "
    "others with reader.operators=[...] (and extra_axes=[operators]) or reader.guidance=..."
)
_WHERE: Final = ("domain", "arch", "budget", "model", "judge", "prompts", "seed", "n_cases")
_MOST: Final = 2


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A run with an addition, and the run without it. axis : what a success is."""

    job: Job
    base: Job
    axis: str

    @cached_property
    def values(self) -> dict[str, tuple[float, float]]:
        """By case that both runs define: without, with."""
        before, after = _column(self.base, self.axis), _column(self.job, self.axis)
        return {case: (before[case], after[case]) for case in sorted(before.keys() & after.keys())}

    def broken(self, cases: Sequence[str]) -> list[str]:
        """Those of these cases that came out worse."""
        return [case for case in cases if self.values[case][1] < self.values[case][0]]

    def flips(self, cases: Sequence[str]) -> tuple[int, int]:
        """Of these cases: how many came out better, how many worse."""
        pairs = [self.values[case] for case in cases]
        return sum(after > before for before, after in pairs), len(self.broken(cases))

    def fired(self, axis: str = "fired") -> list[str]:
        """Cases where an operator acted, or (`fired_wrong`) acted and the answer was not right."""
        return [case for case, value in _column(self.job, axis).items() if value > 0]


_OF_A_MARK: Final = {
    DAGGER: "Rule-based: effects on a rule-based reader",
    SECTION: "Judged by rules: a language model answered, a rule-based judge compared",
}


@register("recipe", "regimes/operators")
class Operators(Recipe):
    """Operators and prose patches side by side.

    What each addition fixed and broke, and where operators fired wrongly.
    """

    source = "Regimes, 8.3"
    needs = _NEEDS

    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        for number, pairs in enumerate(_paired(sources)):
            base, axis = pairs[0].base, pairs[0].axis
            run = base.summary["run"]
            entry = base.summary["axes"][axis]
            mark = MARKS.get(entry["kind"], "")
            yield Text(
                f"{run['domain']}, arm {run['arch']}, budget {run['budget']}, model {run['model']} "
                f"({run['model_kind']}), seed {run['seed']}: {axis} {entry['mean']:.3f}{mark} "
                f"without any addition, {entry['n']} cases. Each line is another run over the same "
                "cases."
            )
            if mark:
                yield Text(f"{mark} {_OF_A_MARK[mark]}.")
            yield _effects(pairs, f"operators-{number}")
            yield _by_type(pairs, f"operators-{number}-types")


def _effects(pairs: Sequence[Pair], anchor: str) -> Table:
    return Table(
        anchor=anchor,
        caption=(
            f"Change of {pairs[0].axis} with 95% intervals; cases fixed and broken. Fired: an "
            "operator gave the answer; wrong: and it was not right; broken there: it had been "
            "right without. Prose has no detector and acts on every case: of it, the last column "
            "counts cases broken."
        ),
        columns=[
            *("addition", "change", "fixed", "broken", "fired", "wrong", "broken there"),
            "goes wrong most often on",
        ],
        rows=[
            [_name(pair.job), delta(_change(pair)), *map(count, pair.flips(list(pair.values))),
             *_firing(pair)]
            for pair in pairs
        ],
    )  # fmt: skip


def _firing(pair: Pair) -> list[Cell | str]:
    """How often operators fired, were wrong, and broke something; and where it went wrong."""
    everything = list(pair.values)
    if _is_prose(pair.job):
        return [UNDEFINED, UNDEFINED, UNDEFINED, _most(pair, pair.broken(everything))]
    if "fired" not in pair.job.summary["axes"]:
        return [UNDEFINED] * 4
    fired, wrong = pair.fired(), pair.fired("fired_wrong")
    there = pair.broken([case for case in fired if case in pair.values])
    return [count(len(fired)), count(len(wrong)), count(len(there)), _most(pair, wrong)]


def _most(pair: Pair, cases: Sequence[str]) -> Cell | str:
    """The kinds that most of these cases are of."""
    # The finest name that a case's question has.
    kinds = {row.case_id: row.tags.get("structure", row.stratum) for row in pair.job.good}
    found = Counter(kinds[case] for case in cases).most_common()
    found.sort(key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{kind} ({n})" for kind, n in found[:_MOST]) or UNDEFINED


def _by_type(pairs: Sequence[Pair], anchor: str) -> Table:
    """The change by stratum, and by abstention where cases are tagged with it."""
    groups: dict[str, list[str]] = defaultdict(list)
    for row in pairs[0].base.good:
        abstains = row.tags.get("abstention") == "yes"
        groups["abstention" if abstains else row.stratum].append(row.case_id)
    groups = {name: sorted(set(groups[name])) for name in sorted(groups)}
    rows: list[Sequence[Cell | str]] = []
    for pair in pairs:
        line: list[Cell | str] = [_name(pair.job)]
        for cases in groups.values():
            both = [case for case in cases if case in pair.values]
            fixed, broken = pair.flips(both)
            change = sum(b - a for a, b in (pair.values[case] for case in both))
            line.append(
                Cell(text=f"{change / len(both):+.3f}", under=f"+{fixed} −{broken}", value=change)
                if both
                else UNDEFINED
            )
        rows.append(line)
    sizes = [f"{name} (n={len(cases)})" for name, cases in groups.items()]
    return Table(
        anchor=anchor,
        caption=f"Change of {pairs[0].axis} by question type; under it cases fixed and broken.",
        columns=["addition", *sizes],
        rows=rows,
    )


def _change(pair: Pair) -> Mapping[str, Any]:
    found = compare(
        {case: after for case, (_, after) in pair.values.items()},
        {case: before for case, (before, _) in pair.values.items()},
        pair.base.means.clusters,
        seed=int(pair.base.summary["run"]["seed"]),
        names=("operators", _name(pair.job), pair.axis),
    )
    low, high = found.interval.low, found.interval.high
    return {"delta": found.delta, "ci_low": low, "ci_high": high}


def _paired(sources: Sequence[Path]) -> list[list[Pair]]:
    """By what all but the reader share, each run with an addition beside the one without."""
    jobs = [job for source in sources for job in load(source).jobs]
    places: dict[tuple[Any, ...], list[Job]] = defaultdict(list)
    for job in jobs:
        places[tuple(job.summary["run"][key] for key in _WHERE)].append(job)
    found: list[list[Pair]] = []
    for members in places.values():
        plain = next((job for job in members if not _name(job)), None)
        others = [job for job in members if _name(job)]
        if plain is not None and others:
            axis = _axis(plain)
            found.append([Pair(job=job, base=plain, axis=axis) for job in others])
    if not found:
        raise UserError(f"regimes/operators needs {_NEEDS}")
    return found


def _axis(job: Job) -> str:
    """The first headline axis that an answer decides."""
    axes = job.summary["axes"]
    for axis in job.summary["headline"]:
        if higher_is_better(axis) and axes.get(axis, {}).get("kind", "model-free") != "model-free":
            return str(axis)
    raise UserError(f"{job.path}: no headline axis rests on an answer")


def _column(job: Job, axis: str) -> dict[str, float]:
    return dict(job.means.values.get((job.budget, job.arm), {}).get(axis, {}))


def _is_prose(job: Job) -> bool:
    """Whether a reader has guidance and no operator."""
    reader = str(job.summary["run"]["reader"])
    return "guidance=" in reader and "operators=[" not in reader


def _name(job: Job) -> str:
    """What the reader of a job has besides: `guarded(operators=[NAME])` as NAME, or nothing."""
    reader = str(job.summary["run"]["reader"])
    inside = reader.partition("(")[2].removesuffix(")")
    return inside.removeprefix("operators=").removeprefix("guidance=").strip("[]\"'")
