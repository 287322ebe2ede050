"""What recipes compute from the cases of jobs: differences, slopes over depth and crossovers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from framework.analysis.evidence import Job
from framework.errors import UserError
from framework.records import Row
from framework.reporting.blocks import NOTHING, Cell
from framework.statistics.clusters import MIN_UNITS
from framework.statistics.paired import Comparison, compare
from framework.statistics.ratios import ratio_of_means
from plugins.recipes._cells import Measured, shown
from plugins.recipes.depth._slopes import Crossover, Slope, crossover, depth_slope, effective

STAR: Final = (
    "Intervals are of 95% over corpora, t with the CR2 variance (the bounded mean where fewer than "
    "10 differ), of each number alone; a star where the bounds that decisions rest on, which hold "
    "where few pairs differ, leave out 0 too."
)
"""What the cells of `gain` mean."""


def values(job: Job, axis: str, depth: int | None = None) -> dict[str, float]:
    """Case id -> value, repeats and draws averaged, where defined; of one depth, or of all."""
    found = job.means.values.get((job.budget, job.arm), {}).get(axis, {})
    if depth is None:
        return dict(found)
    depths = depths_of(job.good)
    return {case: value for case, value in found.items() if depths.get(case) == depth}


def depths_of(rows: Iterable[Row]) -> dict[str, int]:
    """By case, its depth in links; cases without one are left out."""
    return {row.case_id: row.depth for row in rows if row.depth is not None}


def difference(a: Job, b: Job, axis: str, depth: int | None = None) -> Comparison | None:
    """Of job a minus job b, on the cases where both have the axis; None where there are none."""
    mine, other = values(a, axis, depth), values(b, axis, depth)
    both = mine.keys() & other.keys()
    if not both:
        return None
    return compare(
        {case: mine[case] for case in both},
        {case: other[case] for case in both},
        a.means.clusters,
        seed=_seed(a),
        names=("recipe", a.arm, b.arm, axis, str(depth)),
    )


def gain(found: Comparison | None, factor: float = 1.0, digits: int = 2) -> Cell:
    """The difference over its 95% interval; a star where the bounds for decisions leave out 0 too.

    Those hold where few pairs differ, which a bootstrap interval need not.
    """
    if found is None:
        return Cell(text=NOTHING)
    interval = Measured(value=found.delta, low=found.interval.low, high=found.interval.high)
    cell = shown(interval.times(factor), digits, sign="+")
    return replace(cell, text=f"{cell.text}*") if is_sure(found) else cell


def is_sure(found: Comparison) -> bool:
    """Whether the bounds for decisions leave out 0."""
    low, high = found.bounds.low, found.bounds.high
    return low is not None and high is not None and not low <= 0 <= high


def kept(job: Job, base: Job, axis: str) -> Measured:
    """The axis as a share of what it is in `base`, on the same cases, by the delta method.

    Raises UserError where the two have other cases.
    """
    top, bottom = values(job, axis), values(base, axis)
    if top.keys() != bottom.keys():
        raise UserError(f"{job.path} and {base.path} have other cases with {axis}")
    cases = sorted(top)
    found = ratio_of_means(
        [top[case] for case in cases],
        [bottom[case] for case in cases],
        [job.means.clusters[case] for case in cases],
    )
    return Measured(value=found.value, low=found.low, high=found.high)


def slope(job: Job, axis: str, deepest: int | None = None) -> Slope:
    """The slope of an axis over depth, up to a depth where one is given.

    An axis that is of some cases alone, as kappa, may have few of them at a depth: depths whose
    clusters count as fewer than an interval needs are left out, unless fewer than two have enough.
    """
    clusters = job.means.clusters
    found = values(job, axis)
    by_depth: dict[int, list[str]] = {}
    for case, depth in sorted(depths_of(job.good).items()):
        if case in found and (deepest is None or depth <= deepest):
            by_depth.setdefault(depth, []).append(case)
    enough = {
        depth: cases
        for depth, cases in by_depth.items()
        if effective([clusters[case] for case in cases]) >= MIN_UNITS
    }
    kept = enough if len(enough) > 1 else by_depth
    pairs = sorted((case, depth) for depth, cases in kept.items() for case in cases)
    return depth_slope(
        [found[case] for case, _ in pairs],
        [depth for _, depth in pairs],
        clusters=[clusters[case] for case, _ in pairs],
    )


def crossing(job: Job, rivals: Sequence[Job], axis: str) -> Crossover:
    """From which depth a job leads each of its rivals on an axis.

    Raises UserError where the rivals have other cases with the axis.
    """
    depths = depths_of(job.good)
    own, *others = (
        {case: value for case, value in values(one, axis).items() if case in depths}
        for one in (job, *rivals)
    )
    rows = dict(zip((rival.arm for rival in rivals), others, strict=True))
    return crossover(own, rows, depths, clusters=job.means.clusters)


def has_edges(job: Job) -> bool:
    """Whether the arm is given edges, or reads them from texts."""
    fair = job.summary["budget_use"]
    return bool(fair["gold_edges"]) or "extractor" in fair


def is_fair(job: Job) -> bool:
    """Whether it keeps to the budget and sees no gold."""
    fair = job.summary["budget_use"]
    return not fair.get("unbudgeted") and not fair["sees_gold"]


def _seed(job: Job) -> int:
    return int(job.summary["run"]["seed"])
