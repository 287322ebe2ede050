"""Going on with a run or sweep that was cut off; only operational overrides are accepted."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from framework.compose import compose_plan, composer
from framework.config import OPERATIONAL_GROUPS, TopLevel
from framework.engine.directory import load_plan
from framework.engine.job import check_job, run_job, status_of
from framework.engine.sweep import SWEEP_PLAN, load_jobs, run_sweep
from framework.errors import UserError


def resume(path: Path, overrides: Sequence[str]) -> int:
    """Finish what `path` holds and return the exit status. Raises UserError for other changes."""
    from framework.reporting.tables import print_run

    _check_operational(overrides)
    if not path.is_dir():
        raise UserError(f"resume={path}: no such directory")
    with composer():
        if (path / SWEEP_PLAN).is_file():
            return run_sweep(path, load_jobs(path, overrides))
        stored = load_plan(path)
        plan = compose_plan([*stored.overrides, *overrides])
        if plan.digest != stored.digest:
            raise UserError(f"resume={path}: the configuration files are not what they were")
        sweep = path.parent if (path.parent / SWEEP_PLAN).is_file() else None
        outcome = run_job(plan, path, check_job(plan), sweep)
    if outcome.summary is not None:
        print_run(outcome.summary)
    print(f"run: {path}")
    return status_of(outcome)


def _check_operational(overrides: Sequence[str]) -> None:
    allowed = {f.name for f in dataclasses.fields(TopLevel) if f.metadata.get("operational")}
    for override in overrides:
        key = override.lstrip("+~").split("=", 1)[0]
        if key.split(".")[0] not in allowed | OPERATIONAL_GROUPS:
            raise UserError(
                f"resume: {key} may change a measured value; only operational keys can be given: "
                f"{', '.join(sorted(allowed | OPERATIONAL_GROUPS))}"
            )
