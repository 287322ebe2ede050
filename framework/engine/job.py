"""One job: its gate's baseline, the run itself, its upload, and the exit status that follows."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from framework.compose import compose_plan
from framework.config import Plan
from framework.engine.directory import load_state, manifest
from framework.engine.progress import Progress
from framework.engine.run import Outcome, check, data_of, execute
from framework.errors import TrackingError, UserError
from framework.journal import MANIFEST

RUNS: Final = Path("runs")
OK, FAILED, GATE_FAILED = 0, 1, 3
_FLOOR: Final = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Baselines:
    """The plans that a job's gate compares with: the baseline, and `arch=none` beneath it."""

    baseline: Plan | Path | None = None
    floor: Plan | None = None


def run_single(plan: Plan, directory: str | None) -> int:
    """Check, run and show one plan; the last line on stdout is `run: DIRECTORY`."""
    from framework.reporting.tables import print_run

    baselines = check_job(plan)
    path = Path(directory) if directory not in (None, ".") else RUNS / run_name(plan)
    outcome = run_job(plan, path, baselines, sweep=None)
    if outcome.summary is not None:
        print_run(outcome.summary)
    print(f"run: {outcome.directory}")
    return status_of(outcome)


def check_job(plan: Plan) -> Baselines:
    """Everything that can be found wrong before anything is written. Call inside `composer`."""
    check(plan)
    baseline = plan.parts["gate"].create().baseline
    if baseline is None or baseline in (plan.label("arch"), plan.parts["arch"].plugin.name):
        return Baselines()
    path = Path(baseline)
    if (path / MANIFEST).is_file():
        _check_comparable(plan, path)
        return Baselines(baseline=path)
    return Baselines(baseline=_with_arch(plan, baseline), floor=_with_arch(plan, _FLOOR))


def run_job(plan: Plan, directory: Path, baselines: Baselines, sweep: Path | None) -> Outcome:
    """Run a plan, its baselines first where they are not there yet, and upload it."""
    progress = Progress.auto()
    parent = directory.parent
    against = baselines.baseline
    if isinstance(against, Plan):
        against = _find_or_run(against, parent, sweep, progress)
    floor = _find_or_run(baselines.floor, parent, sweep, progress) if baselines.floor else None
    outcome = execute(plan, directory, baseline=against, baseline_none=floor, progress=progress)
    if outcome.stopped:
        print(f"stopped: {outcome.stopped}; go on with resume={directory}", file=sys.stderr)
    else:
        upload(plan, directory, sweep)
    return outcome


def upload(plan: Plan, directory: Path, sweep: Path | None) -> None:
    """Upload a finished run; when the server is away, say so and leave it for `sync`."""
    tracker = plan.parts["tracking"].create()
    try:
        tracker.upload_run(directory, sweep)
    except TrackingError as error:
        print(
            f"tracking: {error}; the run is on disk, `python -m framework sync {directory}` "
            "uploads it later",
            file=sys.stderr,
        )


def status_of(outcome: Outcome) -> int:
    """The exit status of one job."""
    if outcome.summary is None:
        return FAILED
    return GATE_FAILED if outcome.summary["gate"]["passed"] is False else OK


def run_name(plan: Plan) -> str:
    """`run_name`, or the time and what was composed."""
    if plan.top.run_name is not None:
        return plan.top.run_name
    return f"{datetime.now():%Y%m%d-%H%M%S}-{plan.name}"


def _with_arch(plan: Plan, arch: str) -> Plan:
    """The same composition with another arm and no gate."""
    kept = [o for o in plan.overrides if not _is_about(o, ("arch", "gate", "run_name"))]
    return compose_plan([*kept, f"arch={arch}", "gate.baseline=null"])


def _is_about(override: str, groups: Sequence[str]) -> bool:
    key = override.lstrip("+~").split("=", 1)[0]
    return any(key == g or key.startswith(f"{g}.") for g in groups)


def _find_or_run(plan: Plan, parent: Path, sweep: Path | None, progress: Progress) -> Path:
    """A finished run of these rows beside the others, made by this very code; else run it now."""
    wanted = manifest(plan, data_of(plan.parts["domain"].create()))
    for path in sorted(parent.glob(f"*/{MANIFEST}")):
        if _same_rows(json.loads(path.read_text(encoding="utf-8")), wanted):
            found = path.parent
            if load_state(found).finished is not None:
                return found
    directory = parent / (plan.name if sweep else run_name(plan))
    outcome = execute(plan, directory, progress=progress)
    if outcome.stopped:
        raise UserError(f"the gate's baseline {plan.label('arch')} stopped: {outcome.stopped}")
    upload(plan, directory, sweep)
    return directory


def _same_rows(found: dict[str, Any], wanted: dict[str, Any]) -> bool:
    same = ("rows_identity", "data", "framework", "tokenizer")
    plugins = {g: p for g, p in wanted["plugins"].items() if g != "gate"}
    return all(found.get(key) == wanted[key] for key in same) and plugins == {
        g: p for g, p in found.get("plugins", {}).items() if g != "gate"
    }


def _check_comparable(plan: Plan, path: Path) -> None:
    from framework.engine.directory import load_plan

    mine, theirs = plan.identity, load_plan(path).identity
    differ = [k for k in mine if k not in ("arch", "gate") and mine[k] != theirs.get(k)]
    if differ:
        raise UserError(f"gate.baseline={path}: it differs in {', '.join(differ)}")
