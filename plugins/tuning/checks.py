"""Whether what a plan says under `tuning` is what its trials give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from framework.errors import UserError
from framework.store.directory import load_finished, read_summary
from plugins.tuning.parts import TUNING


def value_of(run: Path, objective: str) -> float:
    """The mean of the objective in a trial. Raises UserError where it has none."""
    mean = read_summary(run)["axes"].get(objective, {}).get("mean")
    if mean is None:
        raise UserError(f"hydra.sweeper.objective: {objective} is undefined in {run}")
    return float(mean)


def problems_of(path: Path, plan: Mapping[str, Any]) -> list[str]:
    """What the runs in a sweep's directory do not bear out, a line each."""
    tuning = plan.get("tuning")
    if not tuning or not tuning["done"]:
        return []
    jobs = [_arch(path / job["name"]) for job in plan["jobs"]]
    return [
        f"{arm['arm']}: {said}"
        for arm in tuning["arms"]
        if arm["space"]
        for said in _of_arm(path, tuning, arm, jobs)
    ]


def _of_arm(
    path: Path,
    tuning: Mapping[str, Any],
    arm: Mapping[str, Any],
    jobs: Sequence[Mapping[str, Any]],
) -> Iterator[str]:
    tried = arm["tried"]
    if len(tried) != tuning["trials"]:
        yield f"{len(tried)} trials of {tuning['trials']}"
    for number, trial in enumerate(tried, 1):
        run = path / Path(trial["directory"]).name
        used = _arch(run)
        part = load_finished(run).started["config"].get("part")
        if part != TUNING or not trial["settings"].items() <= used.items():
            yield f"trial {number} was not run with these settings"
        if value_of(run, tuning["objective"]) != trial["value"]:
            yield f"trial {number} gave another value"
    best = (max if tuning["higher_is_better"] else min)(trial["value"] for trial in tried)
    first = next(trial for trial in tried if trial["value"] == best)
    if first["settings"] != arm["chosen"]:
        yield "what was chosen is not the first of the best trials"
    wanted = {"plugin": _arch(path / tried[0]["directory"])["plugin"], **arm["chosen"]}
    if not any(wanted.items() <= job.items() for job in jobs):
        yield "no job of the comparison has the settings that were chosen"


def _arch(run: Path) -> Mapping[str, Any]:
    """Option and settings of a run's memory."""
    found: Mapping[str, Any] = load_finished(run).started["config"]["arch"]
    return found
