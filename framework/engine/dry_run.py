"""Dry runs: the same path with rule-based answers where a language model would be asked.

Nothing is sent or written. What comes of it is an estimate of what the runs would ask and cost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from framework.config import Plan
from framework.engine.compose import compose_raw, composer, grid, is_sweep, plan_of, without_sweeps
from framework.engine.domains import one_domain
from framework.engine.job import check_alone
from framework.engine.prepare import prepare
from framework.errors import StopRun, UserError
from framework.models.dry_run import DryRun, as_dry_run
from framework.records import Row


def plans_of(overrides: Sequence[str]) -> list[Plan]:
    """Every run that these overrides would make, the gates' baselines included, once.

    Call inside `composer`. Raises UserError for what a run would refuse.
    """
    given = [o for o in overrides if o not in ("-m", "--multirun")]
    multirun = len(given) < len(overrides)
    config = compose_raw(without_sweeps(given) if multirun else given)
    if multirun or is_sweep(config):
        from hydra.utils import get_class

        from framework.analysis.compare_runs import check_one_part
        from framework.engine.sweep import plan_jobs

        if refused := getattr(get_class(config.hydra.sweeper._target_), "no_estimate", ""):
            raise UserError(f"estimate: {refused}")
        jobs = plan_jobs(grid(given, config))
        check_one_part(job.plan for job in jobs)
        plans = [p for job in jobs for p in (job.plan, *job.baselines.plans)]
    else:
        plan = plan_of(config)
        plans = [plan, *check_alone(plan).baselines.plans]
    return list({plan.rows_digest: plan for plan in plans}.values())


def dry_run_rows(plan: Plan) -> list[Row]:
    """The rows of a run whose language models answer by the rules. Call inside `as_dry_run`.

    Raises UserError where an operation has no rule.
    """
    prepared = prepare(plan)  # its protocol's events go nowhere
    driven = prepared.protocol.drive(prepared.pipeline, prepared.cases, frozenset())

    async def rows() -> list[Row]:
        try:
            return [row async for row, _ in driven]
        finally:
            await prepared.close()

    try:
        return asyncio.run(rows())
    except StopRun as stop:  # no rule tells what the answer might be
        raise UserError(f"nothing can be estimated: {stop}") from None


def dry_run_of(overrides: Sequence[str]) -> DryRun:
    """What every run of these overrides would ask, with the rule-based answers."""
    with composer(), one_domain(), as_dry_run(DryRun()) as dry_run:
        for plan in plans_of(overrides):
            dry_run_rows(plan)
    return dry_run
