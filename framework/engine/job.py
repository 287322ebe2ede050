"""One job: its gate's baseline, the run itself, its upload, and the exit status that follows."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from framework.analysis.prereg import check_locked
from framework.config import ARM_GROUPS, PREREG, Plan
from framework.contracts import Gate
from framework.engine.account import account
from framework.engine.compose import compose_plan, key_of, options
from framework.engine.progress import Progress
from framework.engine.run import (
    Outcome,
    axes_of,
    check,
    check_same,
    data_of,
    execute,
    open_domain,
)
from framework.errors import TrackingError, UserError
from framework.registry import find, nearest
from framework.store import MANIFEST
from framework.store.directory import (
    RunDirectory,
    check_new,
    load_plan,
    load_state,
    manifest,
)

RUNS: Final = Path("runs")
OK, FAILED, GATE_FAILED = 0, 1, 3
_FLOOR: Final = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Baselines:
    """The plans that a job's gate compares with: the baseline, and `arch=none` beneath it."""

    baseline: Plan | Path | None = None
    floor: Plan | None = None

    @property
    def plans(self) -> list[Plan]:
        """Those that have to be run."""
        return [plan for plan in (self.baseline, self.floor) if isinstance(plan, Plan)]


def run_single(plan: Plan, directory: Path | None) -> int:
    """Check, run and show one plan; the last line on stdout is `run: DIRECTORY`."""
    path = directory or RUNS / run_name(plan)
    check_new(path)
    baselines = check_job(plan)
    return show_run(run_job(plan, path, baselines, sweep=None))


def show_run(outcome: Outcome) -> int:
    """Print a run, with `run: DIRECTORY` as the last line on stdout; return its exit status."""
    from framework.analysis.loops import read_loop
    from framework.reporting.loops import print_loop
    from framework.reporting.tables import print_run
    from framework.store.directory import HTML

    def show() -> None:
        if outcome.summary is not None:
            print_run(outcome.summary)
            if (loop := read_loop(outcome.directory)) is not None:
                print_loop(loop)
                if (outcome.directory / HTML).is_file():
                    print(f"report: {outcome.directory / HTML}")
        print(f"run: {outcome.directory}")

    to_reader(show)
    return status_of(outcome)


def to_reader(show: Callable[[], None]) -> None:
    """Print to stdout; that its reader has left, as `head` does, is no error of anyone's."""
    try:
        show()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def check_job(plan: Plan) -> Baselines:
    """Everything that can be found wrong before anything is written. Call inside `composer`."""
    check_locked(plan.config.get(PREREG))
    check(plan)
    gate: Gate[Any] = plan.parts["gate"].create()
    if gate.baseline is None:
        return Baselines()
    path = Path(gate.baseline)
    if (path / MANIFEST).is_file():
        _check_comparable(plan, path)
        _check_axes(plan, gate)
        return Baselines(baseline=path)
    known = options("arch")
    if gate.baseline not in known:
        raise UserError(
            f"gate.baseline: {gate.baseline!r} is neither a run directory nor an arch"
            f"{nearest(gate.baseline, known)}"
        )
    _check_axes(plan, gate)
    baseline = _with_arch(plan, gate.baseline)
    if baseline.rows_digest == plan.rows_digest:
        return Baselines()
    return Baselines(baseline=baseline, floor=_with_arch(plan, _FLOOR))


def check_operational(plan: Plan, overrides: Sequence[str]) -> None:
    """Raise UserError unless each override leaves `plan`'s identity and labels as they are.

    Call inside `composer`.
    """
    labels = compose_plan(plan.overrides).labels if overrides else {}
    for override in overrides:
        changed = compose_plan([*plan.overrides, override])
        if changed.digest != plan.digest or changed.labels != labels:
            raise UserError(
                f"resume: {override} would change the run; only what can not change a measured "
                "value can be given: max_errors, tracking, operational settings"
            )


def run_job(plan: Plan, directory: Path, baselines: Baselines, sweep: Path | None) -> Outcome:
    """Run a plan, its baselines first where they are not there yet, and upload it.

    An improvement loop that is no part of a sweep ends with a report, as a sweep does. What was
    stopped or interrupted is told on stderr, with the way to go on.
    """
    resumable = sweep or directory
    try:
        with account(plan, directory, sweep):
            outcome = _run(plan, directory, baselines, sweep)
    except KeyboardInterrupt:
        print(f"interrupted; {_again(resumable)}", file=sys.stderr)
        raise
    if outcome.stopped:
        print(f"stopped: {outcome.stopped}; {_again(resumable)}", file=sys.stderr)
    else:
        if sweep is None and plan.top.report and _is_loop(directory):
            write_page(directory)
        upload(plan, directory, sweep)
    return outcome


def _is_loop(directory: Path) -> bool:
    from framework.analysis.loops import read_loop

    return read_loop(directory) is not None


def write_page(path: Path) -> None:
    """Write the report of a run or sweep; whatever goes wrong is told, and the results stand."""
    try:
        from framework.reporting.page import write_report

        write_report(path)
    except Exception as error:  # a page or picture must not take the results with it
        told = f"{type(error).__name__}: {error}"
        print(f"report: {told}; `python -m framework report {path}` tries again", file=sys.stderr)


def _again(path: Path) -> str:
    """How to go on: a run that was cut off in its gate's baseline has no directory yet."""
    return f"go on with resume={path}" if path.exists() else "start it again"


def _run(plan: Plan, directory: Path, baselines: Baselines, sweep: Path | None) -> Outcome:
    progress = Progress.auto()
    if directory.exists() and check_same(plan, directory).finished is not None:
        return execute(plan, directory)
    found: list[Path | None] = []
    for against in (baselines.baseline, baselines.floor):
        if isinstance(against, Plan):
            if against.rows_digest == plan.rows_digest:
                against = directory
            else:
                outcome = _find_or_run(against, directory.parent, sweep, progress)
                if outcome.stopped:
                    return replace(outcome, directory=directory)
                against = outcome.directory
        found.append(against)
    baseline, floor = found
    return execute(plan, directory, baseline=baseline, baseline_none=floor, progress=progress)


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
    return plan.top.run_name or _timed(plan)


def _timed(plan: Plan) -> str:
    return f"{datetime.now():%Y%m%d-%H%M%S}-{plan.name}"


def _with_arch(plan: Plan, arch: str) -> Plan:
    """The same composition with another arm and no gate."""
    kept = [o for o in plan.overrides if key_of(o).split(".")[0] not in ("arch", "gate")]
    return compose_plan([*kept, f"arch={arch}", "gate.baseline=null"])


def _find_or_run(plan: Plan, parent: Path, sweep: Path | None, progress: Progress) -> Outcome:
    """A run of these rows beside the others, made by this very code; else run it now.

    One that is unfinished is gone on with where nobody else is writing it.
    """
    wanted = manifest(plan, data_of(open_domain(plan)))
    directory = parent / (plan.name if sweep else _timed(plan))
    for path in sorted(parent.glob(f"*/{MANIFEST}")):
        found = path.parent
        manifest_ = _manifest_of(found)
        if not _same_rows(manifest_, wanted):
            continue
        try:
            state = load_state(found)
        except UserError:  # damaged: not a run to compare with
            continue
        if state.finished is not None:
            return Outcome(directory=found, summary=None)
        if manifest_["identity"] == plan.digest and not RunDirectory.is_held(found):
            directory = found
    outcome = execute(plan, directory, progress=progress)
    if outcome.stopped:
        return replace(outcome, stopped=f"gate.baseline {directory}: {outcome.stopped}")
    upload(plan, directory, sweep)
    return outcome


def _manifest_of(path: Path) -> dict[str, Any]:
    """The manifest of a directory; empty where there is none that can be read."""
    try:
        found = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _same_rows(found: dict[str, Any], wanted: dict[str, Any]) -> bool:
    same = ("rows_identity", "data", "framework", "tokenizer")
    plugins = {g: p for g, p in wanted["plugins"].items() if g != "gate"}
    return all(found.get(key) == wanted[key] for key in same) and plugins == {
        g: p for g, p in found.get("plugins", {}).items() if g != "gate"
    }


def _check_axes(plan: Plan, gate: Gate[Any]) -> None:
    """Raise UserError for a gated axis that the domain does not fill under this protocol."""
    protocol = plan.parts["protocol"].create()
    filled: list[str] = []
    for name in axes_of(plan):
        axis = find("axis", name).cls
        if protocol.answers or not axis.needs_answer:
            filled += [n for n in axis.names if axis.higher_is_better.get(n) is not None]
    for name in gate.axes:
        if name not in filled:
            raise UserError(
                f"gate.axes: domain={plan.option('domain')} protocol={plan.option('protocol')} "
                f"has no axis {name!r} to judge{nearest(name, filled)}"
            )


def _check_comparable(plan: Plan, path: Path) -> None:
    state = load_state(path)
    if state.finished is None:
        raise UserError(f"gate.baseline={path}: not finished; go on with it by resume={path}")
    mine, theirs = plan.identity, load_plan(path).identity
    own = {"arch", "gate", *ARM_GROUPS}
    differ = [k for k in mine if k not in own and mine[k] != theirs.get(k)]
    if not differ and (state.started or {}).get("data") != data_of(open_domain(plan)):
        differ = ["data"]
    if differ:
        raise UserError(f"gate.baseline={path}: it differs in {', '.join(differ)}")
