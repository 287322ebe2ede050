"""Real run and sweep directories of the trivial plugins, small enough to make in a moment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from framework.config import Plan
from framework.contracts import Tracker
from framework.engine.job import Job
from framework.engine.run import execute
from framework.engine.sweep import finish_sweep
from framework.store.directory import SWEEP_PLAN
from tests.trivial import trivial_plan

N_CASES = 12


def planned(uri: str | None, arm: str = "trivial", budget: str = "tight", **more: Any) -> Plan:
    """A plan of one arm under one budget, tracked at `uri`."""
    return trivial_plan(
        n_cases=N_CASES,
        arch={"plugin": arm},
        budget={"plugin": "trivial", "limit": {"tight": 20, "loose": 200}[budget]},
        labels={"budget": budget},
        tracking={"plugin": "mlflow", "uri": uri},
        **more,
    )


def finished_run(directory: Path, uri: str | None, **more: Any) -> Plan:
    """Make a finished run directory that was not uploaded."""
    plan = planned(uri, **more)
    execute(plan, directory)
    return plan


def finished_sweep(sweep: Path, uri: str | None) -> list[Path]:
    """Make a finished sweep of two arms under two budgets that was not uploaded."""
    plans = [planned(uri, arm, budget) for arm in ("trivial", "hostile") for budget in BUDGETS]
    sweep.mkdir()
    jobs = [{"name": p.name, "identity": p.digest, "overrides": []} for p in plans]
    (sweep / SWEEP_PLAN).write_text(json.dumps({"argv": [], "jobs": jobs}))
    runs = [execute(p, sweep / p.name).directory for p in plans]
    write_results(sweep, plans)
    return runs


def write_results(sweep: Path, plans: list[Plan]) -> None:
    """Write sweep.json and comparison.csv over what is finished of some plans."""
    summary = finish_sweep(sweep, [Job(plan=p) for p in plans], ()).summary
    assert summary is not None


def tracker(plan: Plan) -> Tracker[Any]:
    """The tracker of a plan."""
    made: Tracker[Any] = plan.parts["tracking"].create()
    return made


BUDGETS = ("tight", "loose")
