"""Pages of a sweep: an axis against a setting that it varies, or against the depth of the case."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Final

from framework.analysis.evidence import Evidence, Job, load
from framework.contracts.recipe import AddFigure, Recipe
from framework.errors import UserError
from framework.reporting.blocks import NOTHING, Block, Cell, Table, Text
from framework.text.reading import read_yaml
from plugins.recipes._cells import Measured, as_printed, shown
from plugins.recipes._paper_values import printed

_VARIED: Final = ("domain", "budget", "protocol")
"""Groups whose settings are told one by one where they vary."""
_NAMED: Final = ("reader", "model", "judge")
"""Groups that are told by name where they vary; what an arm is made of is in its name."""
_SMALL: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """An axis at one value of the knob, with its 95% interval where one is claimed."""

    x: float | str
    mean: float
    low: float | None
    high: float | None
    n: int
    job: Job

    @property
    def measured(self) -> Measured:
        """The number alone."""
        return Measured(value=self.mean, low=self.low, high=self.high)


Curve = Sequence[Point]


def needs(experiment: str) -> str:
    """What a recipe needs, with the command that makes it."""
    return f"its sweep: decisionbench +experiment=depth/{experiment}"


class Sweeps(Recipe):
    """A page of sweeps: what their jobs are made of, and then what they say.

    beside : tables of the paper that stand below as they are printed.
    """

    beside: ClassVar[Sequence[str]] = ()

    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        evidence = [load(source) for source in sources]
        yield from words([job for one in evidence for job in one.jobs])
        yield from self.of(evidence, add_figure)
        yield from (as_printed(printed("depth")[name]) for name in self.beside)

    @abstractmethod
    def of(self, sources: Sequence[Evidence], add_figure: AddFigure) -> Iterator[Block]:
        """The blocks that follow. Raises UserError where the sources lack what is needed."""

    @property
    def title(self) -> str:
        """The first line of the class's docstring."""
        return (type(self).__doc__ or "").partition("\n")[0].rstrip(".")

    @property
    def file(self) -> str:
        """The recipe's name as that of a file."""
        return self.name.replace("/", "-")


class Sweep(Sweeps):
    """The same for a page of jobs alone, whichever sweeps they are of."""

    def of(self, sources: Sequence[Evidence], add_figure: AddFigure) -> Iterator[Block]:
        yield from self.content([job for one in sources for job in one.jobs], add_figure)

    @abstractmethod
    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        """The blocks that follow. Raises UserError where the jobs lack what is needed."""


def placed(jobs: Sequence[Job], *keys: str) -> dict[tuple[Any, ...], Job]:
    """The jobs by arm and settings. Raises UserError where these do not tell them apart."""
    found = {(job.arm, *(setting(job, key) for key in keys)): job for job in jobs}
    if len(found) < len(jobs):
        raise UserError(f"the runs vary something else than {' and '.join([*keys, 'the arm'])}")
    return found


def by_depth(job: Job, axis: str) -> Curve:
    """The axis of one job by depth, ascending."""
    found = []
    for name, depth in job.summary["depths"].items():
        if point := _point(float(depth), job.summary["strata"][name].get(axis), job):
            found.append(point)
    return sorted(found, key=lambda point: float(point.x))


def curves_by_depth(jobs: Iterable[Job], axis: str) -> dict[str, Curve]:
    """By arm, the axis by depth. Raises UserError where no job has it."""
    if curves := {job.arm: curve for job in jobs if (curve := by_depth(job, axis))}:
        return curves
    raise UserError(f"the runs have no {axis} by depth")


def by_setting(jobs: Iterable[Job], key: str, axis: str) -> dict[str, Curve]:
    """By arm, the axis at each value of a configuration key (`domain.rho`): numbers, then texts.

    Raises UserError where no job has the axis, or where two jobs of an arm share a value: then the
    sweep varies something else too.
    """
    found: dict[str, dict[Any, Point]] = {}
    for job in jobs:
        value = setting(job, key)
        point = _point(value, job.summary["axes"].get(axis), job)
        if point is None:
            continue
        # A setting of the arm is in its label: without it, one curve is one arch.
        arm = job.arm.partition("(")[0] if key.startswith("arch.") else job.arm
        own = found.setdefault(arm, {})
        if value in own:
            raise UserError(f"{key}={value} of {arm} was measured twice: {job.path}")
        own[value] = point
    if not found:
        raise UserError(f"no job has the axis {axis}")
    return {arm: [own[value] for value in sorted(own, key=_place)] for arm, own in found.items()}


def _place(value: float | str) -> tuple[bool, float]:
    """Sorts numbers ascending, then texts as they came."""
    return (True, 0.0) if isinstance(value, str) else (False, value)


def curves_block(anchor: str, caption: str, xlabel: str, curves: Mapping[str, Curve]) -> Block:
    """The curves as a table: one row an arm, one column a value, intervals under the means."""
    values = list(dict.fromkeys(p.x for curve in curves.values() for p in curve))
    values.sort(key=_place)
    # Shares of a view are small: what two decimals would show of them is not much.
    digits = 2 if any(abs(p.mean) >= _SMALL for curve in curves.values() for p in curve) else 3
    rows: list[list[Cell | str]] = []
    for arm, curve in curves.items():
        by_x = {point.x: shown(point.measured, digits) for point in curve}
        rows.append([arm, *(by_x.get(value, Cell(text=NOTHING)) for value in values)])
    columns = (xlabel, *(v if isinstance(v, str) else f"{v:g}" for v in values))
    return Table(anchor=anchor, caption=caption, columns=columns, rows=rows)


def words(jobs: Sequence[Job]) -> Iterator[Block]:
    """What the numbers are made of, what was varied, and what kind of evidence that is."""
    kinds = {str(job.summary["run"]["model_kind"]) for job in jobs}
    domains = dict.fromkeys(str(job.summary["run"]["domain"]).partition("(")[0] for job in jobs)
    cases = sorted({int(job.summary["run"]["n_cases"]) for job in jobs})
    varied = "".join(f"; {key} {', '.join(texts)}" for key, texts in _varied(jobs).items())
    said = (
        f"Measured here: domain {', '.join(domains)}{varied}; "
        f"{', '.join(map(str, cases))} cases a run."
    )
    if kinds == {"rule-based"}:
        said += (
            " Retrieval axes of arms that ask no model are model-free; what a rule-based model "
            "read (compliance, kappa) is no evidence about language models."
        )
    yield Text(said)


def _varied(jobs: Sequence[Job]) -> dict[str, list[str]]:
    """By configuration key, its values in order where the jobs differ in it."""
    seen: dict[str, dict[str, Any]] = {}
    for job in jobs:
        config = _config(job.path)
        for group in _VARIED:
            for name, value in (config.get(group) or {}).items():
                text = f"{value:g}" if _is_number(value) else _text(value)
                seen.setdefault(f"{group}.{name}", {})[text] = value
        for group in _NAMED:
            name = str(job.summary["run"][group])
            seen.setdefault(group, {})[name] = name

    def order(value: object) -> float:
        return float(value) if isinstance(value, int | float) else math.inf

    return {
        key.removesuffix(".plugin"): sorted(texts, key=lambda text: order(texts[text]))
        for key, texts in seen.items()
        if len(texts) > 1
    }


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


def setting(job: Job, key: str) -> Any:
    """The value of a configuration key in a job: a number or text, `null` for none."""
    path = job.path
    found: Any = _config(path)
    for part in key.split("."):
        if not isinstance(found, dict) or part not in found:
            raise UserError(f"{path}: its configuration has no {key}")
        found = found[part]
    return found if _is_number(found) else _text(found)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: object) -> str:
    return "null" if value is None else str(value)


@lru_cache(maxsize=512)
def _config(path: Path) -> Any:
    return read_yaml((path / "config.yaml").read_text(encoding="utf-8"))
