"""What a dose of noise in capture costs, against none of it on the same cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from framework.analysis.evidence import Job
from framework.contracts.recipe import AddFigure
from framework.errors import UserError
from framework.registry import register
from framework.reporting.blocks import NOTHING, Block, Cell, Table, Text
from framework.reporting.format import p_value
from framework.statistics.multiplicity import holm
from framework.statistics.paired import Comparison, compare
from plugins.recipes._cells import Measured, measured, shown
from plugins.recipes.depth._cases import difference, gain, values
from plugins.recipes.depth._knobs import Sweep, by_setting, needs, placed, setting
from plugins.recipes.depth._panels import draw

_KEY: Final = "domain.capture_noise.{}"
_KINDS: Final = ("missing", "wrong", "duplicated")
_AXES: Final = ("recall", "compliance")
_STEP: Final = 0.1
"""The dose that a slope is told for."""


@register("recipe", "depth/capture_noise")
class CaptureNoise(Sweep):
    """Noise in capture.

    Recall and compliance by the share of records that are missing, wrong or recorded twice.
    """

    source = "ours: a control that Depth lacks"
    needs = needs("capture_noise")

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        by_kind = {kind: _of(kind, jobs) for kind in _KINDS}
        found = {kind: of for kind, of in by_kind.items() if len(_doses(kind, of)) > 1}
        if not found:
            raise UserError("no run with a share of domain.capture_noise beside one without")
        yield Text(
            "The gold is what was decided, whatever was captured of it. Under a mean: the paired "
            "difference from the same cases without noise, with its 95% interval; a star where the "
            "bounds that decisions rest on leave out 0 too. per .1: the mean over cases of each "
            "one's least-squares slope over the doses, for a tenth of all records; p: that slopes "
            "are symmetric about 0 (signs flipped by case or corpus), two-sided, by Holm over the "
            "arms of a table. Compliance is of the reader that the run names."
        )
        panels = {
            f"recall, {kind}": by_setting(of, _KEY.format(kind), "recall")
            for kind, of in found.items()
        }
        yield from add_figure(
            draw(
                self.file, self.title, panels, "share of all records",
                "Means with 95% intervals over cases, against the share of records.",
            )
        )  # fmt: skip
        for axis in _AXES:
            for kind, of in found.items():
                if any(values(job, axis) for job in of):
                    yield _table(axis, kind, of)


def _of(kind: str, jobs: Sequence[Job]) -> list[Job]:
    """The jobs in which nothing else is wrong with capture."""
    others = [_KEY.format(other) for other in _KINDS if other != kind]
    return [job for job in jobs if not any(_share(job, key) for key in others)]


def _doses(kind: str, jobs: Sequence[Job]) -> list[float]:
    return sorted({_share(job, _KEY.format(kind)) for job in jobs})


def _share(job: Job, key: str) -> float:
    return float(setting(job, key))


def _table(axis: str, kind: str, jobs: Sequence[Job]) -> Table:
    key = _KEY.format(kind)
    at = {(arm, float(dose)): job for (arm, dose), job in placed(jobs, key).items()}
    doses = _doses(kind, jobs)
    arms = [arm for arm in dict.fromkeys(job.arm for job in jobs) if (arm, 0.0) in at]
    trends = {arm: _trend(axis, {d: at[arm, d] for d in doses if (arm, d) in at}) for arm in arms}
    tested = {arm: p for arm, t in trends.items() if t and (p := t.permutation.p) is not None}
    adjusted = dict(zip(tested, holm(list(tested.values())), strict=True))
    rows: list[list[Cell | str]] = []
    for arm in arms:
        cells = [_cell(axis, at.get((arm, dose)), at[arm, 0.0]) for dose in doses]
        trend = trends[arm]
        slope = Cell(text=NOTHING) if trend is None else gain(trend, _STEP, 3)
        rows.append([arm, *cells, slope, p_value(adjusted.get(arm))])
    return Table(
        anchor=f"depth-capture_noise-{axis}-{kind}",
        caption=f"{axis} by share {kind}",
        columns=(f"share {kind}", *(f"{dose:g}" for dose in doses), "per .1", "p"),
        rows=rows,
    )


def _cell(axis: str, job: Job | None, base: Job) -> Cell:
    """The mean, and under it how far it is from that without noise."""
    if job is None:
        return Cell(text=NOTHING)
    entry = measured(job.summary["axes"].get(axis))
    if job is base:
        return shown(entry)
    own = shown(Measured(value=entry.value))
    change = gain(difference(job, base, axis))
    under = " ".join(filter(None, (change.text, change.under and f"({change.under})")))
    return Cell(text=own.text, under=under, value=own.value)


def _trend(axis: str, jobs: Mapping[float, Job]) -> Comparison | None:
    """The slopes of the cases over the doses, against none; None where fewer than two doses."""
    if len(jobs) < 2:
        return None
    found = {dose: values(job, axis) for dose, job in jobs.items()}
    cases = set.intersection(*(set(of) for of in found.values()))
    if not cases:
        return None
    doses = np.array(list(found))
    weights = (doses - doses.mean()) / np.sum((doses - doses.mean()) ** 2)
    least = found[min(found)]
    # From the value at the least dose, so that a case that never changes has a slope of 0 exactly.
    slopes = {
        case: float(
            sum(w * (of[case] - least[case]) for w, of in zip(weights, found.values(), strict=True))
        )
        for case in cases
    }
    job = next(iter(jobs.values()))
    return compare(
        slopes,
        dict.fromkeys(cases, 0.0),
        job.means.clusters,
        seed=int(job.summary["run"]["seed"]),
        names=("recipe", job.arm, axis, "dose"),
        amount=True,
    )
