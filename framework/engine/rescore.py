"""Judging a finished run or sweep anew: a new directory, the old one is only read."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from framework.config import Plan, load_plan
from framework.engine.account import account, check_prices, new_account, served_of, tell_spent
from framework.engine.compose import compose_plan, composer, key_of
from framework.engine.job import Baselines
from framework.engine.listener import Listener
from framework.engine.protocols.rescore import RescoreSource
from framework.engine.run import Outcome, axes_of, data_of, execute, one_domain, open_domain
from framework.engine.sweep import SweepOutcome, finish_sweep, job_directories
from framework.engine.work import Job
from framework.errors import UserError
from framework.registry import nearest
from framework.store.directory import SWEEP_PLAN, check_new, drafted, load_state

_MAY_DIFFER = frozenset({"judge", "gate", "extra_axes"})


def rescore(
    old: Path, overrides: Sequence[str], axes: Sequence[str], new: Path | None, listener: Listener
) -> Outcome | SweepOutcome:
    """Judge a run or sweep anew under `overrides` into a new directory.

    axes : the axis plugins to score; empty for all. new : the directory, by default beside the old
    one, named after it and the judge. Raises UserError for an override that would change more than
    how answers are judged, data that are not what they were, an unfinished run.
    """
    with composer(), one_domain():
        olds = job_directories(old) if (old / SWEEP_PLAN).is_file() else [old]
        if not olds:
            raise UserError(f"{old} has no finished run yet; go on with it by resume={old}")
        plans = [_plan(path, overrides, axes) for path in olds]
        path = new or old.parent / f"{old.name}-judged-by-{_safe(plans[0].label('judge'))}"
        check_new(path)
        _check_judge(plans[0])
        if olds == [old]:
            return _run(plans[0], old, path, axes, None, listener)
        jobs = [Job(overrides=p.overrides, plan=p, baselines=Baselines()) for p in plans]
        origin: dict[str, Any] = {
            "axes": list(axes),
            "runs": {
                plan.name: os.path.relpath(source, path)
                for plan, source in zip(plans, olds, strict=True)
            },
        }
        stored = {
            "argv": list(overrides),
            "account": new_account(),
            "rescored_from": origin,
            "jobs": [
                {"name": j.name, "identity": j.plan.digest, "overrides": list(j.overrides)}
                for j in jobs
            ],
        }
        with drafted(path) as draft:
            (draft / SWEEP_PLAN).write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")
        return _sweep(path, jobs, origin, listener)


def go_on_with_sweep(path: Path, stored: Mapping[str, Any], listener: Listener) -> SweepOutcome:
    """Finish a rescored sweep that was cut off. Call inside `composer`."""
    jobs = []
    for known in stored["jobs"]:
        plan = compose_plan(known["overrides"])
        if plan.digest != known["identity"]:
            raise UserError(f"resume={path}: the configuration of {known['name']} has changed")
        jobs.append(Job(overrides=plan.overrides, plan=plan, baselines=Baselines()))
    return _sweep(path, jobs, stored["rescored_from"], listener)


def _plan(old: Path, overrides: Sequence[str], axes: Sequence[str]) -> Plan:
    """The plan of a run under another judge, without its gate."""
    state, stored = load_state(old), load_plan(old)
    if stored.parts["protocol"].plugin.cls.groups:
        name = stored.label("protocol")
        raise UserError(
            f"{old}: protocol={name} decides by its own judge; run it anew with another"
        )
    if state.finished is None:
        raise UserError(f"{old} is not finished; go on with it by resume={old}")
    if not stored.parts["protocol"].create().answers:
        raise UserError(f"{old}: its protocol stops before an answer: there is nothing to judge")
    dropped = {"gate", "run_name", "resume"}
    given = {key_of(o) for o in overrides}
    if "judge" in given:  # another judge has settings of its own
        dropped.add("judge")
    kept = [
        o
        for o in stored.overrides
        if key_of(o).split(".")[0] not in dropped and key_of(o) not in given
    ]
    plan = compose_plan([*kept, *overrides, "gate.baseline=null"])
    before, after = stored.identity, plan.identity
    added = {"embedder"} - before.keys()  # of an axis: the arm had none
    differ = [k for k in after if k not in _MAY_DIFFER | added and after[k] != before.get(k)]
    if differ:
        raise UserError(
            f"rescore: {', '.join(differ)} would differ from {old}; only how answers are judged "
            "can change: judge, extra_axes"
        )
    if (state.started or {}).get("data") != data_of(open_domain(plan)):
        raise UserError(f"{old} was made of other data than the domain now has")
    known = axes_of(plan)
    for name in axes:
        if name not in known:
            raise UserError(f"--axes: {old} has no axis {name!r}{nearest(name, known)}")
    return plan


def _check_judge(plan: Plan) -> None:
    """What is wrong with the judge is found before anything is written: a key, a price."""
    judge = plan.parts["judge"].create()
    if judge.model is not None:
        check_prices(plan, served_of(judge.model, None))


def _run(
    plan: Plan,
    old: Path,
    new: Path,
    axes: Sequence[str],
    sweep: Path | None,
    listener: Listener,
) -> Outcome:
    origin = RescoreSource.of(old, new, axes or axes_of(plan))
    with account(plan, new, sweep):
        outcome = execute(plan, new, origin=origin, listener=listener)
    if outcome.summary is not None:
        listener.run_ended(plan, new, sweep)
    return outcome


def _sweep(
    path: Path, jobs: Sequence[Job], origin: Mapping[str, Any], listener: Listener
) -> SweepOutcome:
    runs: list[Outcome] = []
    try:
        for job in jobs:
            old = Path(os.path.normpath(path / origin["runs"][job.name]))
            runs.append(_run(job.plan, old, path / job.name, origin["axes"], path, listener))
            if runs[-1].ends_sweep:
                break
    finally:
        tell_spent(jobs[0].plan, path)
    return finish_sweep(path, jobs, runs)


def _safe(label: str) -> str:
    return "".join(c if c.isalnum() or c in "_=.,-" else "_" for c in label)[:60]
