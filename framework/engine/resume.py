"""Going on with a run or sweep that was cut off; only operational overrides are accepted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from framework.config import load_plan
from framework.engine.compose import compose_plan, composer
from framework.engine.job import Baselines, check_job, check_operational, run_job
from framework.engine.listener import Listener
from framework.engine.protocols.rescore import RescoreSource
from framework.engine.rescore import go_on_with_sweep
from framework.engine.run import Outcome, check_same, one_domain
from framework.engine.sweep import SWEEP_PLAN, Launch, SweepOutcome, load_jobs, run_sweep
from framework.engine.work import in_turn
from framework.errors import UserError
from framework.store.directory import load_state


def resume(
    path: Path, overrides: Sequence[str], listener: Listener, launch: Launch | None = None
) -> Outcome | SweepOutcome:
    """Finish what `path` holds. Raises UserError for other than operational overrides.

    launch : runs the jobs of a sweep that are left; by default one after the other.
    """
    if not path.is_dir():
        raise UserError(f"resume={path}: no such directory")
    with composer(), one_domain():
        if (path / SWEEP_PLAN).is_file():
            rescored = _rescored_sweep(path)
            if rescored is not None:
                if overrides:
                    raise UserError(f"resume={path}: a rescored sweep is gone on with as it is")
                return go_on_with_sweep(path, rescored, listener)
            return run_sweep(path, load_jobs(path, overrides), listener, launch or in_turn)
        stored = load_plan(path)
        if compose_plan(stored.overrides).digest != stored.digest:
            raise UserError(f"resume={path}: the configuration files are not what they were")
        check_operational(stored, overrides)
        plan = compose_plan([*stored.overrides, *overrides])
        check_same(plan, path)
        sweep = path.parent if (path.parent / SWEEP_PLAN).is_file() else None
        if RescoreSource.read(load_state(path).started) is not None:
            # Stored answers are judged: the reader's model is not needed, nor is there a gate.
            return run_job(plan, path, Baselines(), sweep, listener)
        return run_job(plan, path, check_job(plan), sweep, listener)


def _rescored_sweep(path: Path) -> dict[str, Any] | None:
    """The plan of a rescored sweep; None for any other, a damaged one included."""
    try:
        stored = json.loads((path / SWEEP_PLAN).read_bytes())
    except ValueError:
        return None
    return stored if isinstance(stored, dict) and "rescored_from" in stored else None
