"""A sweep: every job of a grid in turn, then the comparison of its arms."""

from __future__ import annotations

import csv
import dataclasses
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from framework.canonical import digest
from framework.compose import compose_plan
from framework.config import Plan
from framework.engine.directory import load_plan, load_state, read_summary
from framework.engine.job import (
    FAILED,
    GATE_FAILED,
    OK,
    RUNS,
    Baselines,
    check_job,
    run_job,
    status_of,
)
from framework.errors import TrackingError, UserError
from framework.reporting.sweep import sweep_summary

SWEEP_PLAN: Final = "sweep_plan.json"
SWEEP: Final = "sweep.json"
COMPARISON: Final = "comparison.csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One job of a sweep: its overrides, plan, and what its gate compares with."""

    overrides: tuple[str, ...]
    plan: Plan
    baselines: Baselines


def start_sweep(
    jobs: Sequence[Sequence[str]], overrides: Sequence[str], config_name: str, directory: str | None
) -> int:
    """Validate every job, then run them all. Call inside `composer`."""
    planned = plan_jobs(jobs, config_name)
    name = planned[0].plan.top.run_name
    if name is None:
        identity = digest([job.plan.digest for job in planned])[7:19]
        name = f"{datetime.now():%Y%m%d-%H%M%S}-sweep-{identity}"
    path = Path(directory) if directory not in (None, ".") else RUNS / name
    _create(path, jobs, overrides, config_name, planned)
    return run_sweep(path, planned)


def plan_jobs(jobs: Sequence[Sequence[str]], config_name: str) -> list[Job]:
    """The validated jobs. Raises UserError naming the first job that can't be run."""
    planned: list[Job] = []
    for overrides in jobs:
        plan = compose_plan(overrides, config_name)
        planned.append(Job(overrides=tuple(overrides), plan=plan, baselines=check_job(plan)))
    names = [job.plan.name for job in planned]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise UserError(f"two jobs of the sweep are the same run: {twice}")
    return planned


def run_sweep(path: Path, jobs: Sequence[Job]) -> int:
    """Run the jobs that are not finished, write the comparison, and return the exit status."""
    from framework.reporting.tables import print_sweep

    status = OK
    for job in jobs:
        outcome = run_job(job.plan, path / job.plan.name, job.baselines, sweep=path)
        status = _worse(status, status_of(outcome))
    done = [path / job.plan.name for job in jobs]
    finished = [d for d in done if load_state(d).finished is not None]
    if finished:
        summary = sweep_summary(
            [read_summary(d) for d in finished],
            [load_state(d).rows for d in finished],
            [d.name for d in finished],
            seed=jobs[0].plan.top.seed,
            baseline=jobs[0].plan.parts["gate"].create().baseline,
        )
        write_sweep(path, summary)
        try:
            jobs[0].plan.parts["tracking"].create().upload_sweep(path)
        except TrackingError as error:
            print(f"tracking: {error}; `python -m framework sync {path}`", file=sys.stderr)
        print_sweep(summary)
    print(f"sweep: {path}")
    return status


def write_sweep(path: Path, summary: dict[str, Any]) -> None:
    """Write sweep.json and comparison.csv, each in one step."""
    text = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    draft = path / (SWEEP + ".draft")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path / SWEEP)
    rows: list[dict[str, Any]] = summary["comparisons"]
    draft = path / (COMPARISON + ".draft")
    with draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]) if rows else ["arm_a", "arm_b"])
        writer.writeheader()
        writer.writerows(rows)
    draft.replace(path / COMPARISON)


def load_jobs(path: Path, operational: Sequence[str]) -> list[Job]:
    """The jobs of a sweep directory, with operational overrides added. Call inside `composer`."""
    stored = json.loads((path / SWEEP_PLAN).read_text(encoding="utf-8"))
    jobs = plan_jobs(
        [[*job["overrides"], *operational] for job in stored["jobs"]], stored["config_name"]
    )
    for job, known in zip(jobs, stored["jobs"], strict=True):
        if job.plan.digest != known["identity"]:
            raise UserError(f"{path}: the configuration of {known['name']} is not what it was")
    return [
        dataclasses.replace(job, overrides=tuple(known["overrides"]))
        for job, known in zip(jobs, stored["jobs"], strict=True)
    ]


def job_directories(path: Path) -> list[Path]:
    """The finished jobs of a sweep directory, in its order; empty for any other directory."""
    if not (path / SWEEP_PLAN).is_file():
        return []
    stored = json.loads((path / SWEEP_PLAN).read_text(encoding="utf-8"))
    jobs = [path / job["name"] for job in stored["jobs"]]
    return [job for job in jobs if job.is_dir() and load_state(job).finished is not None]


def comparable(paths: Sequence[Path]) -> None:
    """Raise UserError when runs differ in their cases: domain, data, seed or number."""
    identities = [load_plan(path).identity for path in paths]
    data = [(load_state(path).started or {}).get("data") for path in paths]
    for path, identity, its_data in zip(paths[1:], identities[1:], data[1:], strict=True):
        differ = [
            key
            for key in ("domain", "seed", "n_cases", "repeats")
            if identity[key] != identities[0][key]
        ]
        if its_data != data[0]:
            differ.append("data")
        if differ:
            raise UserError(f"{paths[0]} and {path} differ in {', '.join(dict.fromkeys(differ))}")


def _create(
    path: Path,
    jobs: Sequence[Sequence[str]],
    overrides: Sequence[str],
    config_name: str,
    planned: Sequence[Job],
) -> None:
    draft = path.with_name(f".{path.name}.draft")
    plan = {
        "argv": list(overrides),
        "config_name": config_name,
        "jobs": [
            {"name": p.plan.name, "identity": p.plan.digest, "overrides": list(job)}
            for job, p in zip(jobs, planned, strict=True)
        ],
    }
    try:
        draft.mkdir(parents=True)
        if path.exists():
            draft.rmdir()
            raise UserError(f"{path} exists already; go on with it by resume={path}")
        (draft / SWEEP_PLAN).write_text(json.dumps(plan, indent=2) + "\n", encoding="utf-8")
        draft.rename(path)
    except OSError as error:
        raise UserError(f"cannot write the sweep directory {path}: {error.strerror}") from None


def _worse(a: int, b: int) -> int:
    order = (OK, GATE_FAILED, FAILED)
    return max(a, b, key=order.index)
