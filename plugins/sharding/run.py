"""One long run in shards: jobs of the launcher, then one run directory with all their rows.

Until the merge all of it is in `RUN.shards`, a directory as a sweep's whose plan says under
`shards` what the whole is. Its jobs are ordinary runs of `part=shard:I/N`. The whole is an ordinary
run too: the merge writes all its rows, and going on with it gives its summary, gate and seal.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from framework.cli.ending import FAILED, Ending, show
from framework.config import Plan
from framework.engine.account import dealt_caps, joint_account, tell_spent
from framework.engine.compose import compose_plan, directory_of, grid, key_of
from framework.engine.domains import open_domain
from framework.engine.job import (
    RUNS,
    Job,
    check_alone,
    check_job,
    check_operational,
    run_job,
    run_name,
)
from framework.engine.manifest import manifest
from framework.engine.prepare import data_of
from framework.engine.probed import PROBED, found_before
from framework.engine.run import begun_in
from framework.engine.sweep import (
    Launch,
    alone_in,
    check_apart,
    create_sweep,
    each_apart,
    load_jobs,
    plan_jobs,
)
from framework.engine.work import SweepWork
from framework.errors import UserError
from framework.records import Row
from framework.store.directory import SWEEP_PLAN, check_new
from framework.store.state import first_event, load_finished
from framework.store.sweep import stored_sweep
from plugins.sharding.merging import merge
from plugins.sharding.part import SHARD, dealt


def start(config: Any, arguments: Sequence[str], launch: Launch, *, apart: bool) -> int:
    """Check the whole and every shard, run the shards, merge them; return the exit status.

    apart : whether shards may run on several machines, so that no file is written by two of them:
    each has its part of the caps and caches of its own.
    """
    given = grid(arguments, config)
    if len(given) > 1:
        raise UserError(
            f"shards: for one run only; these are {len(given)}, because keys have several values"
        )
    overrides = [o for o in given[0] if key_of(o) != "shards"]
    whole = check_alone(compose_plan(overrides))
    n = _shards(config, whole.plan)
    path = directory_of(config.hydra, "run") or directory_of(config.hydra, "sweep")
    path = path or RUNS / run_name(whole.plan)
    check_new(path)
    work = path.with_name(f"{path.name}.{SHARD}s")
    check_new(work)
    jobs = plan_jobs([_shard(overrides, number, n) for number in range(1, n + 1)])
    if apart:  # what a file is named by is known once the jobs are
        jobs = plan_jobs(each_apart(work, jobs, n))
    told = {
        "of": n,
        "run": path.name,
        "identity": whole.plan.digest,
        "overrides": list(whole.plan.overrides),
        "apart": apart,
    }
    create_sweep(work, arguments, jobs, shards=told, **({"account": None} if apart else {}))
    with alone_in(work):
        return _go_on(_Whole(work, path, replace(whole, prepared=None), apart), jobs, launch)


def is_work(path: Path) -> bool:
    """Whether a directory is of the shards of a run."""
    return (path / SWEEP_PLAN).is_file() and "shards" in stored_sweep(path)


def resume(path: Path, arguments: Sequence[str], launch: Launch, *, apart: bool) -> int:
    """Go on with the shards of a run, its merge or its end; what is finished is not run again."""
    stored = stored_sweep(path)["shards"]
    operational = [o for o in arguments if key_of(o) not in ("resume", "shards")]
    plan = compose_plan(stored["overrides"])
    if plan.digest != stored["identity"]:
        raise UserError(f"resume={path}: the configuration files have changed")
    check_operational(plan, operational)
    plan = compose_plan([*stored["overrides"], *operational])
    if apart:
        check_apart(path, stored["apart"])
    caps = dealt_caps(plan, stored["of"]) if stored["apart"] else []
    with alone_in(path):
        jobs = load_jobs(path, [*_of_shards(operational), *caps])
        target = path.with_name(stored["run"])
        return _go_on(_Whole(path, target, Job(plan=plan), stored["apart"]), jobs, launch)


_log = logging.getLogger("framework.sweep")


@dataclass(frozen=True, slots=True)
class _Whole:
    """The run that the shards in `work` are of, at `path` when they are merged."""

    work: Path
    path: Path
    job: Job
    apart: bool


def _go_on(whole: _Whole, jobs: Sequence[Job], launch: Launch) -> int:
    if not whole.path.exists():
        left = [job for job in jobs if not job.finished]
        if left and not _run(whole, left, launch):
            print(f"shards: {whole.work}")
            return FAILED
        _merge(whole, jobs)
    job = check_job(whole.job.plan)
    begun = begun_in(job.plan, whole.path)
    outcome = run_job(replace(job, begun=begun), whole.path, None, Ending())
    if outcome.summary is None:
        return show(outcome)
    _remove(whole.work)
    return show(outcome)


def _remove(work: Path) -> None:
    """Remove a directory, which is there whole or not at all until it is gone."""
    gone = work.with_name(f".{work.name}.merged")
    shutil.rmtree(gone, ignore_errors=True)
    work.rename(gone)
    shutil.rmtree(gone)


def _run(whole: _Whole, left: Sequence[Job], launch: Launch) -> bool:
    """Run the shards that are left; False where one did not finish."""
    work = SweepWork(whole.work, left, Ending())
    try:
        launch(work)
    except KeyboardInterrupt:
        _log.warning("interrupted; resume it with resume=%s", whole.work)
        raise
    finally:
        if not whole.apart:
            tell_spent(left[0].plan, whole.work)
    return len(work.outcomes) == len(left) and all(o.summary is not None for o in work.outcomes)


def _merge(whole: _Whole, jobs: Sequence[Job]) -> None:
    plan = whole.job.plan
    domain = open_domain(plan)
    shards = [whole.work / job.name for job in jobs]
    account = stored_sweep(whole.work)["account"]
    if whole.apart:
        account = joint_account(plan, whole.path, [load_finished(shard) for shard in shards])
    data = data_of(domain)
    started = {
        "config": plan.config,
        "overrides": list(plan.overrides),
        "identity": plan.digest,
        "data": data,
        "account": account,
    }
    found = [found_before(first_event(shard).payload) for shard in shards]
    if asked := max(found, key=lambda each: sum(one["passed"] is False for one in each)):
        started[PROBED] = asked
    # As `Pipeline.rows` goes: trial by trial through the cases of one history.
    places: dict[str, tuple[int, int]] = {}
    history, group = None, 0
    for position, case in enumerate(domain.cases(plan.top.n_cases, plan.top.seed)):
        group += case.history_id != history
        history = case.history_id
        places[case.id] = group, position

    def place(row: Row) -> tuple[int, int, int, int, int]:
        group, position = places[row.case_id]
        return group, row.trial, row.repeat, position, row.turn

    merge(whole.path, started, manifest(plan, data), shards, place)


def _shards(config: Any, plan: Plan) -> int:
    """How many shards were asked for. Raises UserError where the run can't be dealt into them."""
    n = config.shards
    if not isinstance(n, int) or isinstance(n, bool) or n < 2:
        raise UserError(f"shards: {n!r} given, at least 2 expected")
    if plan.top.part is not None:
        raise UserError(f"shards: of a whole run, and part={plan.top.part} is not; leave it out")
    protocol = plan.parts["protocol"].plugin
    if protocol.cls.groups or protocol.cls.in_turns:
        raise UserError(f"shards: protocol={protocol.name} does not measure each case by itself")
    cases = open_domain(plan).cases(plan.top.n_cases, plan.top.seed)
    found = set()
    for _, number in dealt(cases, n):
        found.add(number)
        if len(found) == n:
            return n
    there = "is 1 history" if len(found) == 1 else f"are {len(found)} histories"
    raise UserError(f"shards={n}: there {there}, and a history can't be split")


def _shard(overrides: Sequence[str], number: int, n: int) -> list[str]:
    """The overrides of a shard: nothing is compared there, and nothing of it is uploaded."""
    quiet = ["baseline=null", "gate.baseline=null", "tracking=none", "report=false"]
    return [*_of_shards(overrides), *quiet, f"part={SHARD}:{number}/{n}"]


def _of_shards(overrides: Sequence[str]) -> list[str]:
    """Without what is said of the whole alone."""
    return [o for o in overrides if key_of(o).split(".")[0] not in ("gate", "baseline", "tracking")]
