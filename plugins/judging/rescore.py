"""Judging a finished run or sweep again: a new directory, the old one is only read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from framework.config import Plan, safe_name, stored_plan
from framework.engine.account import check_prices, served_of
from framework.engine.compose import compose_plan, composer, key_of
from framework.engine.domains import one_domain, open_domain
from framework.engine.job import Job, run_job
from framework.engine.listener import Listener
from framework.engine.prepare import data_of
from framework.engine.protocols.rescore import RescoreSource
from framework.engine.run import Outcome
from framework.engine.sweep import SweepOutcome, alone_in, create_sweep, finished_jobs, run_sweep
from framework.engine.work import in_turn
from framework.errors import UserError
from framework.registry import nearest
from framework.store.directory import SWEEP_PLAN, check_new
from framework.store.state import State, data_differ, load_state
from framework.store.sweep import stored_sweep

_MAY_DIFFER = frozenset({"judge", "gate", "extra_axes"})


def rescore(
    old: Path, overrides: Sequence[str], axes: Sequence[str], new: Path | None, listener: Listener
) -> Outcome | SweepOutcome:
    """Judge a run or sweep again under `overrides` into a new directory.

    axes : the axis plugins to score; empty for all. new : the directory, by default beside the old
    one, named after it and the judge. Raises UserError for an override that would change more than
    how answers are judged, data that are not what they were, an unfinished run.
    """
    with composer(), one_domain():
        in_sweep = (old / SWEEP_PLAN).is_file()
        olds = finished_jobs(old) if in_sweep else [load_state(old)]
        if not olds:
            raise UserError(f"{old} has no finished run yet; resume it with resume={old}")
        apart = in_sweep and stored_sweep(old).get("apart")
        asked = [*overrides, *(_whole_caps(olds, overrides) if apart else ())]
        plans = [_plan(state, asked, axes) for state in olds]
        path = new or old.parent / f"{old.name}-judged-by-{safe_name(plans[0].label('judge'))[:60]}"
        check_new(path)
        _check_judge(plans[0])
        jobs = [
            Job(plan=plan, origin=RescoreSource.of(source, directory, plan, axes))
            for plan, source in zip(plans, olds, strict=True)
            for directory in [path / plan.name if in_sweep else path]
        ]
        if not in_sweep:
            return run_job(jobs[0], path, None, listener)
        runs = {
            plan.name: os.path.relpath(state.path, path)
            for plan, state in zip(plans, olds, strict=True)
        }
        create_sweep(path, overrides, jobs, rescored_from={"axes": list(axes), "runs": runs})
        with alone_in(path):
            return run_sweep(path, jobs, listener, in_turn)


def _whole_caps(olds: Sequence[State], given: Sequence[str]) -> list[str]:
    """The caps of which each job had a part, since one process judges all; none that is given."""
    tops = [stored_plan(state).top for state in olds]
    usd = [top.max_cost_usd for top in tops if top.max_cost_usd is not None]
    tokens = [top.max_tokens_total for top in tops if top.max_tokens_total is not None]
    known = {key_of(override) for override in given}
    caps = (("max_cost_usd", usd), ("max_tokens_total", tokens))
    return [f"{key}={sum(parts)}" for key, parts in caps if parts and key not in known]


def _plan(state: State, overrides: Sequence[str], axes: Sequence[str]) -> Plan:
    """The plan of a run under another judge, without its gate."""
    old, stored = state.path, stored_plan(state)
    if stored.parts["protocol"].plugin.cls.groups:
        name = stored.label("protocol")
        raise UserError(
            f"{old}: protocol={name} decides by its own judge; run it again with another"
        )
    if state.finished is None:
        raise UserError(f"{old} is not finished; resume it with resume={old}")
    if not stored.parts["protocol"].plugin.cls.answers:
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
    if changed := data_differ(state.started.get("data"), data_of(open_domain(plan))):
        raise UserError(f"{old} was made of other data than the domain now has: {changed}")
    known = plan.axes
    for name in axes:
        if name not in known:
            raise UserError(f"--axes: {old} has no axis {name!r}{nearest(name, known)}")
    return plan


def _check_judge(plan: Plan) -> None:
    """What is wrong with the judge is found before anything is written: a key, a price."""
    judge = plan.parts["judge"].create()
    if judge.model is not None:
        check_prices(plan, served_of(judge.model, None))
