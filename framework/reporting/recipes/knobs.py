"""An axis against a setting that a sweep varies, or against the depth of the case."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from framework.errors import UserError
from framework.reporting.evidence import Job, load
from framework.reporting.figures.style import Drawing, canvas, handles, legend, legend_height, marks
from framework.reporting.report.blocks import NOTHING, Block, Cell, Table, Text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "Curve",
    "Point",
    "by_depth",
    "by_setting",
    "curves_block",
    "draw",
    "jobs_of",
    "setting",
    "words",
]

_DEPTH: Final = re.compile(r"(?:stratum=d|depth=)(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """An axis at one value of the knob, with its 95% interval where one is claimed."""

    x: float | str
    mean: float
    low: float | None
    high: float | None
    n: int
    job: Job


Curve = Sequence[Point]


def jobs_of(sources: Sequence[Path]) -> list[Job]:
    """The finished jobs of runs and sweeps, in order."""
    return [job for source in sources for job in load(source).jobs]


def by_depth(job: Job, axis: str) -> Curve:
    """The axis of one job by depth, ascending."""
    found = []
    for name, axes in job.summary["strata"].items():
        match = _DEPTH.fullmatch(name)
        if match is not None and (point := _point(float(match[1]), axes.get(axis), job)):
            found.append(point)
    return sorted(found, key=lambda point: float(point.x))


def by_setting(
    jobs: Iterable[Job], key: str, axis: str, depth: int | None = None
) -> dict[str, Curve]:
    """By arm, the axis at each value of a configuration key (`domain.rho`), ascending.

    depth : the axis in the stratum of that depth; over all cases where None.

    Raises UserError where no job has the axis, or where two jobs of an arm share a value: then the
    sweep varies something else too.
    """
    found: dict[str, dict[Any, Point]] = {}
    for job in jobs:
        value = setting(job, key)
        axes = job.summary["axes"]
        if depth is not None:
            axes = next((job.summary["strata"][n] for n in job.summary["strata"]
                         if (m := _DEPTH.fullmatch(n)) and int(m[1]) == depth), {})  # fmt: skip
        point = _point(value, axes.get(axis), job)
        if point is None:
            continue
        # A setting of the arm is in its label: without it, one curve is one arch.
        arm = job.arm.partition("(")[0] if key.startswith("arch.") else job.arm
        own = found.setdefault(arm, {})
        if value in own:
            raise UserError(f"{key}={value} of {arm} was measured twice: {job.path}")
        own[value] = point
    if not found:
        raise UserError(f"no job has the axis {axis}" + ("" if depth is None else f" at d={depth}"))
    return {
        arm: [own[value] for value in sorted(own, key=lambda v: (isinstance(v, str), v))]
        for arm, own in found.items()
    }


def draw(
    name: str,
    title: str,
    panels: Mapping[str, Mapping[str, Curve]],
    xlabel: str,
    caption: str,
    *,
    logarithmic: bool = False,
    overlay: Mapping[str, Callable[[Axes], None]] | None = None,
) -> Drawing:
    """One panel an axis, one curve an arm, with intervals; `overlay` adds to a panel by its name.

    Values that are no numbers stand side by side in the order in which they are given.
    """
    arms = list(dict.fromkeys(arm for curves in panels.values() for arm in curves))
    look = marks(arms)
    width = 1.0 + 3.7 * len(panels)
    told = []
    with canvas(width, 3.2 + legend_height(width, arms), 1, len(panels), sharey=False) as (
        figure,
        drawn,
    ):
        for panel, (axis, curves) in zip(drawn[0], panels.items(), strict=True):
            found = list(dict.fromkeys(p.x for c in curves.values() for p in c))
            # One value that is no number, as null, makes names of them all.
            named = any(isinstance(x, str) for x in found)
            texts = [x if isinstance(x, str) else f"{x:g}" for x in found] if named else []
            for arm, curve in curves.items():
                at = [found.index(p.x) if named else float(p.x) for p in curve]
                mark = look[arm]
                for x, point in zip(at, curve, strict=True):
                    if point.low is not None and point.high is not None:
                        panel.plot([x, x], [point.low, point.high], color=mark.colour, lw=0.8,
                                   alpha=0.55)  # fmt: skip
                panel.plot(at, [p.mean for p in curve], ls=mark.line, marker=mark.marker,
                           color=mark.colour, mfc=mark.face, lw=1.2)  # fmt: skip
                told.append(f"{axis} of {arm}: " + ", ".join(f"{p.mean:.2f}" for p in curve))
            if overlay is not None and axis in overlay:
                overlay[axis](panel)
            if texts:
                panel.set_xticks(range(len(texts)), texts)
            if logarithmic:
                panel.set_xscale("log")
            panel.set(xlabel=xlabel, ylabel=axis)
        legend(figure, handles(look.values(), line=True), arms)
    return Drawing(name=name, title=title, caption=caption, alt="; ".join(told), figure=figure)


def curves_block(anchor: str, caption: str, xlabel: str, curves: Mapping[str, Curve]) -> Block:
    """The curves as a table: one row an arm, one column a value, intervals under the means."""
    values = list(dict.fromkeys(p.x for curve in curves.values() for p in curve))
    values.sort(key=lambda v: (isinstance(v, str), 0 if isinstance(v, str) else v))
    rows: list[list[Cell | str]] = []
    for arm, curve in curves.items():
        by_x = {point.x: point for point in curve}
        rows.append([arm, *(_cell(by_x.get(value)) for value in values)])
    columns = (xlabel, *(v if isinstance(v, str) else f"{v:g}" for v in values))
    return Table(anchor=anchor, caption=caption, columns=columns, rows=rows)


def words(jobs: Sequence[Job]) -> Iterator[Block]:
    """What the numbers are made of, and what kind of evidence that is."""
    run = jobs[0].summary["run"]
    kinds = {str(job.summary["run"]["model_kind"]) for job in jobs}
    cases = sorted({int(job.summary["run"]["n_cases"]) for job in jobs})
    said = f"Measured here: domain {run['domain']}, {', '.join(map(str, cases))} cases a run."
    if kinds == {"rule-based"}:
        said += (
            " Retrieval axes of arms that ask no model are findings; whatever a rule-based model "
            "read (compliance, kappa) is an instrument check, not evidence about language models."
        )
    yield Text(said)


def _point(x: Any, entry: Mapping[str, Any] | None, job: Job) -> Point | None:
    if entry is None or entry["mean"] is None:
        return None
    return Point(
        x=x,
        mean=entry["mean"],
        low=entry["ci_low"],
        high=entry["ci_high"],
        n=entry["n"],
        job=job,
    )


def _cell(point: Point | None) -> Cell:
    if point is None:
        return Cell(text=NOTHING)
    under = ""
    if point.low is not None and point.high is not None:
        under = f"{point.low:.2f} to {point.high:.2f}"
    return Cell(text=f"{point.mean:.2f}", under=under, value=point.mean)


def setting(job: Job, key: str) -> Any:
    """The value of a configuration key in a job: a number or text, `null` for none."""
    path = job.path
    found: Any = _config(path)
    for part in key.split("."):
        if not isinstance(found, dict) or part not in found:
            raise UserError(f"{path}: its configuration has no {key}")
        found = found[part]
    if found is None:
        return "null"
    return found if isinstance(found, int | float) and not isinstance(found, bool) else str(found)


@lru_cache(maxsize=512)
def _config(path: Path) -> Any:
    return yaml.safe_load((path / "config.yaml").read_text(encoding="utf-8"))
