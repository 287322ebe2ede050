"""Judge agreement, where two judged the same answers: in the sweep, or before a rescoring."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from framework.analysis.axes import axis_meta
from framework.analysis.evidence import Evidence, Job, load
from framework.errors import UserError
from framework.reporting.blocks import Block, Heading, Note, Text
from framework.reporting.cells import count, number_cell
from framework.reporting.figures.style import Drawing
from framework.reporting.tables import table
from plugins.judging import figure
from plugins.judging.compare import compare_judges, judged_in_runs

Pair = tuple[tuple[str, Sequence[Job]], tuple[str, Sequence[Job]]]
"""Two judges with the runs whose answers they judged."""


def pairs(evidence: Evidence) -> list[Pair]:
    """Judges of the same answers: the sweep's, or this one and the one before a rescoring."""
    by_judge: dict[str, list[Job]] = defaultdict(list)
    for job in evidence.jobs:
        by_judge[str(job.summary["run"]["judge"])].append(job)
    names = list(by_judge)
    if len(names) > 1:
        return list(combinations(by_judge.items(), 2))
    before = _rescored_from(evidence)
    if before is None or not evidence.jobs:
        return []
    old = str(before[0].summary["run"]["judge"])
    return [((old, before), (names[0], evidence.jobs))] if old != names[0] else []


def blocks(found: Sequence[Pair]) -> Iterator[Block]:
    """Agreement by axis, and on how many paired comparisons the direction is kept."""
    yield Heading("Judge agreement", "judges")
    axes = judged_axes()
    agreed: list[Mapping[str, Any]] = []
    directions: list[Mapping[str, Any]] = []
    for pair in found:
        sides = [judged_in_runs(name, jobs) for name, jobs in pair]
        try:
            compared = compare_judges(sides, axes)
        except UserError as error:
            yield Note(f"{pair[0][0]} and {pair[1][0]}: {error}.")
            continue
        agreed += compared["agreement"]
        directions += compared["directions"]
    if agreed:
        yield Text(
            "How far the judges agree on the same answers. cohens_kappa is of values at or above "
            ".5, alpha Krippendorff's for interval values."
        )
        yield table(
            "judges-table",
            "Agreement of values.",
            {
                "axis": "axis",
                "judges": lambda row: f"{row['judge_a']}, {row['judge_b']}",
                "n": ("n", count),
                "mean of first": ("mean_a", number_cell),
                "of second": ("mean_b", number_cell),
                "mean |difference|": ("mean_absolute_disagreement", number_cell),
                "Pearson": ("pearson", number_cell),
                "cohens_kappa": ("cohens_kappa_at_least", number_cell),
                "alpha": ("alpha", number_cell),
            },
            agreed,
        )
    if directions:
        yield table(
            "judges-directions",
            "On how many cases both judges see the same sign of a difference between arms.",
            {
                "pair": lambda row: f"{row['arm_a']} − {row['arm_b']}",
                "axis": "axis",
                "budget": "budget",
                "n": ("n", count),
                "kept": ("kept", count),
                "of which ties": ("ties", count),
                "reversed": ("reversed", count),
            },
            directions,
        )


def drawings(found: Sequence[Pair]) -> Iterator[Drawing]:
    """One figure a pair of judges."""
    for number, ((a, first), (b, second)) in enumerate(found):
        by_axis = {}
        for axis in judged_axes():
            places = (_places(first, axis), _places(second, axis))
            if all(places):
                by_axis[axis] = places
        if by_axis:
            kinds = {
                "the model": first[0].summary["run"]["model_kind"],
                f"judge {a}": first[0].summary["run"]["judge_kind"],
                f"judge {b}": second[0].summary["run"]["judge_kind"],
            }
            rules = [name for name, kind in kinds.items() if kind == "rule-based"]
            yield figure.draw((a, b), by_axis, number, rules)


def judged_axes() -> list[str]:
    """The axes that rest on a judge's verdicts."""
    return [axis for axis, meta in axis_meta().items() if meta["judged"]]


def _places(jobs: Sequence[Job], axis: str) -> dict[tuple[str, str], Mapping[str, Any]]:
    return {
        (job.arm, job.budget): entry
        for job in jobs
        if (entry := job.summary["axes"].get(axis)) is not None and entry["mean"] is not None
    }


def _rescored_from(evidence: Evidence) -> list[Job] | None:
    """The runs that this was rescored from, where they still lie; None for one of its own."""
    if evidence.is_sweep:
        runs = (evidence.plan.get("rescored_from") or {}).get("runs", {})
        places = [evidence.path / run for run in runs.values()]
    else:
        origin = evidence.jobs[0].manifest.get("rescored_from")
        places = [evidence.path / origin["run"]] if origin else []
    olds = [Path(os.path.normpath(place)) for place in places]
    if not olds or not all(old.is_dir() for old in olds):
        return None
    return [load(old).jobs[0] for old in olds]
