"""A sweep: every job of a grid in turn, then the comparison of its arms."""

from __future__ import annotations

import json
import logging
import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from framework.analysis.compare_runs import check_distinct, check_one_part
from framework.analysis.doubts import doubts_of_state
from framework.analysis.prereg.results import judged_runs
from framework.analysis.sheets import all_comparisons, write_comparisons
from framework.analysis.sweep import sweep_summary
from framework.config import Plan
from framework.engine.account import dealt_caps, new_account, own_caches, tell_spent
from framework.engine.compose import compose_plan, key_of
from framework.engine.job import RUNS, Job, check_job, check_operational, timed
from framework.engine.listener import Listener
from framework.engine.protocols.rescore import RescoreSource
from framework.engine.run import Outcome, check_same, reads_the_same
from framework.engine.work import SweepWork, with_baselines
from framework.errors import UserError
from framework.registry import find, nearest
from framework.store import JOURNAL
from framework.store.atomic import held, replacing, write_json
from framework.store.directory import COMPARISON, SWEEP, drafted
from framework.store.directory import SWEEP_PLAN as SWEEP_PLAN
from framework.store.state import (
    FinishedRun,
    State,
    load_finished,
    load_state,
    read_report,
    read_run,
    read_summary,
)
from framework.store.sweep import PLAN, sealed_plan, stored_sweep
from framework.text.canonical import digest


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepOutcome:
    """What came of a sweep: its directory, the first job's plan, and the runs made now.

    finished : the runs that it has, as they were read. summary : the content of sweep.json; None
    where there is none.
    """

    directory: Path
    plan: Plan
    runs: tuple[Outcome, ...]
    finished: Sequence[FinishedRun]
    summary: Mapping[str, Any] | None


_log = logging.getLogger(__name__)

_FREED_S = 5.0
"""Seconds in which the workers of a sweep end once its first process was killed."""
Launch = Callable[[SweepWork], None]
"""Runs the jobs of a sweep that are left, and tells it of each that ended."""


def start_sweep(
    jobs: Sequence[Sequence[str]],
    overrides: Sequence[str],
    directory: Path | None,
    listener: Listener,
    launch: Launch,
    *,
    apart: bool = False,
) -> SweepOutcome:
    """Validate every job, then run them all. Call inside `composer`.

    `overrides` are those of the command line, for the record. apart : whether jobs may run on
    several machines, so that no file is written by two of them: each has its part of the caps and
    caches of its own.
    """
    planned = plan_jobs(jobs)
    check_one_part(job.plan for job in planned)
    apart = apart and len(planned) > 1
    identity = digest([job.plan.digest for job in planned])[7:19]
    name = planned[0].plan.top.run_name or timed(f"sweep-{identity}")
    path = directory or RUNS / name
    alone: dict[str, Any] = {}
    if apart:  # what a file is named by is known once the jobs are
        alone = {"account": None, "apart": len(with_baselines(planned))}
        planned = plan_jobs(each_apart(path, planned, alone["apart"]))
    create_sweep(path, overrides, planned, **alone)
    with alone_in(path):
        return run_sweep(path, planned, listener, launch)


def each_apart(path: Path, jobs: Sequence[Job], n: int) -> list[list[str]]:
    """The overrides of jobs in a directory that share no file, each with its part of n of caps."""
    plans = [(job.plan, path / job.name) for job in jobs]
    return [[*p.overrides, *dealt_caps(p, n), *own_caches(p, place)] for p, place in plans]


def alone_in(path: Path) -> AbstractContextManager[None]:
    """Hold a sweep while it runs, by its plan, as tracking holds its directory.

    Who writes the plan again holds it again, as it is another file then. Raises UserError where
    another process has it.
    """
    return held(path / SWEEP_PLAN, _FREED_S, f"the sweep {path}")


def check_apart(path: Path, apart: bool) -> None:
    """Raise UserError for jobs that share files, which may not go on on several machines."""
    if not apart:
        raise UserError(
            f"resume={path}: its jobs share one account and cache, so they go on under "
            "hydra/launcher=processes, basic or joblib"
        )


def plan_jobs(jobs: Sequence[Sequence[str]]) -> list[Job]:
    """The validated jobs. Raises UserError for the first that can't be run, or is there twice.

    Jobs that differ only in a part that their arm does not use are one, as the two of
    `arch=bm25 embedder=hashing,minilm`.
    """
    planned: list[Job] = []
    known: dict[tuple[str, ...], Sequence[str]] = {}
    for overrides in jobs:
        plan = compose_plan(overrides)
        unused = plan.parts.keys() - plan.used.keys()
        effective = tuple(o for o in overrides if key_of(o).split(".")[0] not in unused)
        if known.setdefault(effective, overrides) != overrides:
            continue
        # Most jobs run in another process, and domains may be large: each builds its own parts.
        planned.append(replace(check_job(plan), prepared=None))
    check_distinct([job.plan for job in planned])
    arms = {job.plan.label("arch") for job in planned}
    for job in planned:
        baseline = job.plan.top.baseline
        if baseline is not None and baseline not in arms:
            raise UserError(
                f"baseline: {baseline!r} is not an arm of the sweep{nearest(baseline, arms)}"
            )
    return planned


def run_sweep(path: Path, jobs: Sequence[Job], listener: Listener, launch: Launch) -> SweepOutcome:
    """Run the jobs that are not finished and write the comparison."""
    left = [job for job in jobs if not job.finished]
    finished = [job for job in jobs if job.finished]
    runs = [_read(path / job.name) for job in finished]
    for state in (job.begun for job in finished if job.begun is not None):
        for doubt in doubts_of_state(state):
            _log.warning("warning: %s", doubt)
    if left:
        apart = bool(stored_sweep(path).get("apart"))
        there = [job.plan.rows_digest for job in finished]
        work = SweepWork(path, left, listener, apart=apart, finished=there)
        try:
            launch(work)
        except KeyboardInterrupt:
            _log.warning("interrupted; resume it with resume=%s", path)
            raise
        finally:
            tell_spent(jobs[0].plan, path)
        runs += work.outcomes
    for job in finished:  # last, as an upload loads what is better not there when workers fork
        listener.run_ended(job.plan, path / job.name, path)
    return finish_sweep(path, jobs, runs)


def _read(directory: Path) -> Outcome:
    return Outcome(directory=directory, summary=read_summary(directory))


def finish_sweep(path: Path, jobs: Sequence[Job], runs: Sequence[Outcome]) -> SweepOutcome:
    """Write what a sweep's finished jobs give: the one ending of every sweep, run or rescored."""
    known = {path / job.name: job.begun for job in jobs if job.finished}
    states = finished_among([path / job.name for job in jobs], known)
    finished = [read_run(state.path, state) for state in states]
    summary = compare_jobs(finished, jobs)
    if summary is not None:
        summary = {**summary, PLAN: sealed_plan(path)}
        write_sweep(path, summary)
        for name, report in reports_of(path, {job.name: job.plan for job in jobs}).items():
            write_json(path / f"{name}.json", report)
    return SweepOutcome(
        directory=path,
        plan=jobs[0].plan,
        runs=tuple(runs),
        finished=finished,
        summary=summary,
    )


def reports_of(path: Path, plans: Mapping[str, Plan]) -> dict[str, Mapping[str, Any]]:
    """By protocol what the finished jobs report side by side, where it says so (`of_sweep`).

    plans : of every job, by its name.
    """
    groups = dict.fromkeys(group for plan in plans.values() for group in plan.labels)
    varied = [g for g in groups if len({plan.labels.get(g) for plan in plans.values()}) > 1]
    reports: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for name, plan in plans.items():
        protocol = plan.parts["protocol"].plugin.name
        if (results := read_report(path / name, protocol)) is not None:
            arm = " ".join(f"{g}={plan.labels[g]}" for g in varied if g in plan.labels)
            reports[protocol].append({"arm": arm, "directory": name, "results": results})
    said = {name: find("protocol", name).cls.of_sweep(of) for name, of in reports.items()}
    return {name: of_all for name, of_all in said.items() if of_all is not None}


def compare_jobs(finished: Sequence[FinishedRun], jobs: Sequence[Job]) -> dict[str, Any] | None:
    """The content of sweep.json from the finished ones of some jobs; None when there is none."""
    baselines = {job.plan.top.baseline or job.plan.parts["gate"].create().baseline for job in jobs}
    baseline = baselines.pop() if len(baselines) == 1 else None
    if baseline not in {job.plan.label("arch") for job in jobs}:
        baseline = None  # a gate's may be measured beside the sweep, or be a run's directory
    top = jobs[0].plan.top
    return compared(
        finished,
        [job.name for job in jobs],
        baseline,
        judged_runs,
        smallest_effect=top.smallest_effect,
        published_convention=top.convention,
    )


def compared(
    finished: Sequence[FinishedRun],
    names: Sequence[str],
    baseline: str | None,
    prereg_results: Callable[[Sequence[FinishedRun]], dict[str, Any] | None],
    *,
    smallest_effect: float | None,
    published_convention: str | None,
) -> dict[str, Any] | None:
    """The content of sweep.json; None where no run is finished.

    names : those of all jobs, finished or not.
    """
    if not finished:
        return None
    done = [run.path.name for run in finished]
    summary = sweep_summary(
        [run.summary for run in finished],
        [run.rows for run in finished],
        done,
        baseline=baseline,
        smallest_effect=smallest_effect,
        published_convention=published_convention,
    )
    return {
        **summary,
        "prereg": prereg_results(finished),
        "baseline": baseline,
        "unfinished": [name for name in names if name not in done],
    }


def write_sweep(path: Path, summary: dict[str, Any]) -> None:
    """Write sweep.json and comparison.csv, each in one step."""
    write_json(path / SWEEP, summary)
    with (
        replacing(path / COMPARISON) as draft,
        draft.open("w", encoding="utf-8", newline="") as file,
    ):
        write_comparisons(file, all_comparisons(summary))


def load_jobs(path: Path, operational: Sequence[str]) -> list[Job]:
    """The jobs of a sweep directory, with operational overrides added. Call inside `composer`.

    Raises UserError when a job's configuration is not what it was or an override changes it, or
    where a job was begun on other data.
    """
    stored = stored_sweep(path)
    begun = [load_state(job) if job.is_dir() else None for job in jobs_of(path)]
    plans = [compose_plan(known["overrides"]) for known in stored["jobs"]]
    _check_unchanged(path, stored["jobs"], plans, begun)
    for plan in plans:
        check_operational(plan, operational)
    overrides = [[*known["overrides"], *operational] for known in stored["jobs"]]
    if stored.get("apart"):
        overrides = [[*o, *_dealt(o, operational, stored["apart"])] for o in overrides]
    names = [known["name"] for known in stored["jobs"]]
    if (origin := stored.get("rescored_from")) is None:
        jobs = plan_jobs(overrides)
    else:
        jobs = []
        for name, given in zip(names, overrides, strict=True):
            plan = compose_plan(given)
            old = load_finished(Path(os.path.normpath(path / origin["runs"][name])))
            source = RescoreSource.of(old, path / name, plan, origin["axes"])
            jobs.append(Job(plan=plan, origin=source))
    return [
        replace(job, stored_as=name, begun=state and check_same(job.plan, state))
        for job, name, state in zip(jobs, names, begun, strict=True)
    ]


def _dealt(overrides: Sequence[str], operational: Sequence[str], n: int) -> list[str]:
    """One job's part of the caps that `operational` gives for all n."""
    given = {key_of(one) for one in operational}
    return [one for one in dealt_caps(compose_plan(overrides), n) if key_of(one) in given]


def _check_unchanged(
    path: Path,
    jobs: Sequence[Mapping[str, Any]],
    plans: Sequence[Plan],
    begun: Sequence[State | None],
) -> None:
    """Raise UserError where a job's plan is not what the sweep's was.

    Of a sweep begun when settings had other names every digest is another one. What was begun tells
    whether they mean the same; a job of which there is nothing yet goes by the others.
    """
    changed: list[str] = []
    unbegun: list[str] = []
    renamed: list[str] = []
    for known, plan, state in zip(jobs, plans, begun, strict=True):
        if plan.digest != known["identity"]:
            same = state is not None and reads_the_same(plan, state)
            (unbegun if state is None else renamed if same else changed).append(known["name"])
    for name in changed or ([] if renamed else unbegun):
        raise UserError(f"resume={path}: the configuration of {name} has changed")


def finished_jobs(path: Path) -> list[State]:
    """The finished jobs of a sweep directory, in its order; empty for any other directory."""
    return finished_among(jobs_of(path)) if (path / SWEEP_PLAN).is_file() else []


def finished_among(
    directories: Sequence[Path], known: Mapping[Path, State | None] | None = None
) -> list[State]:
    """The finished runs among directories, some of which may not be there or be read already."""
    states = ((known or {}).get(path) or load_state(path) for path in directories if path.is_dir())
    return [state for state in states if state.finished is not None]


def job_directories(path: Path) -> list[Path]:
    """The directories of a sweep's finished jobs; empty for any other directory."""
    return [state.path for state in finished_jobs(path)]


def all_directories(path: Path) -> list[Path]:
    """The directories of a sweep's jobs, run or not, then of the baselines beside them."""
    jobs = jobs_of(path)
    beside = sorted(found.parent for found in path.glob(f"*/{JOURNAL}"))
    return list(dict.fromkeys([*jobs, *beside]))


def jobs_of(path: Path) -> list[Path]:
    """The directories of a sweep's jobs, run or not; a gate's baselines beside them are none."""
    return [path / known["name"] for known in stored_sweep(path)["jobs"]]


def create_sweep(path: Path, overrides: Sequence[str], jobs: Sequence[Job], **origin: Any) -> None:
    """Make the directory of a sweep. `origin`: under `rescored_from`, where its answers are."""
    plan = {
        "argv": list(overrides),
        "account": new_account(),
        **origin,
        "jobs": [
            {"name": job.name, "identity": job.plan.digest, "overrides": list(job.plan.overrides)}
            for job in jobs
        ],
    }
    with drafted(path) as draft:
        (draft / SWEEP_PLAN).write_text(json.dumps(plan, indent=2) + "\n", encoding="utf-8")
