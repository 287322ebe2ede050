"""Resuming a run or sweep that was cut off; only operational overrides are accepted."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from glob import escape
from pathlib import Path

from framework.config import stored_plan
from framework.engine.compose import compose_plan, composer
from framework.engine.domains import one_domain
from framework.engine.job import Job, check_job, check_operational, run_job
from framework.engine.listener import Listener
from framework.engine.protocols.rescore import RescoreSource
from framework.engine.run import Outcome, check_same
from framework.engine.sweep import (
    SWEEP_PLAN,
    Launch,
    SweepOutcome,
    alone_in,
    check_apart,
    load_jobs,
    run_sweep,
)
from framework.engine.work import in_turn
from framework.errors import UserError
from framework.store.state import load_state
from framework.store.sweep import stored_sweep


def resume(
    path: Path,
    overrides: Sequence[str],
    listener: Listener,
    launch: Launch | None = None,
    *,
    apart: bool = False,
) -> Outcome | SweepOutcome:
    """Finish what `path` holds. Raises UserError for other than operational overrides.

    launch : runs the jobs of a sweep that are left; by default one after the other. apart : whether
        it may do so on several machines.
    """
    if not path.is_dir():
        beside = sorted(p for p in path.parent.glob(f"{escape(path.name)}.*") if p.is_dir())
        said = "".join(f"; resume={place} is begun" for place in beside[:1])
        raise UserError(f"resume={path}: no such directory{said}")
    with composer(), one_domain(), ExitStack() as inside:
        if (path / SWEEP_PLAN).is_file():
            inside.enter_context(alone_in(path))
            jobs = load_jobs(path, overrides)
            rescored = any(job.origin for job in jobs)  # a launcher elsewhere knows of no origin
            chosen = in_turn if launch is None or rescored else launch
            if apart and chosen is launch and not all(job.finished for job in jobs):
                check_apart(path, bool(stored_sweep(path).get("apart")) or len(jobs) == 1)
            return run_sweep(path, jobs, listener, chosen)
        begun = load_state(path)
        stored = stored_plan(begun)
        if compose_plan(stored.overrides).digest != stored.digest:
            raise UserError(f"resume={path}: the configuration files have changed")
        check_operational(stored, overrides)
        plan = compose_plan([*stored.overrides, *overrides])
        check_same(plan, begun)
        sweep = path.parent if (path.parent / SWEEP_PLAN).is_file() else None
        # Of stored answers that are judged the reader's model is not needed, nor is there a gate.
        job = Job(plan=plan) if RescoreSource.read(begun.started) else check_job(plan)
        return run_job(replace(job, begun=begun), path, sweep, listener)
