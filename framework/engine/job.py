"""One job: what can be found wrong with it, its gate's baseline, and the run itself."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from framework.analysis.axes import axis_meta
from framework.config import ARM_GROUPS, PREREG, Plan, stored_plan
from framework.contracts import Gate
from framework.engine.account import account
from framework.engine.compose import compose_plan, key_of, options
from framework.engine.domains import open_domain
from framework.engine.job_log import job_log
from framework.engine.listener import Listener
from framework.engine.manifest import manifest, read_manifest
from framework.engine.prepare import Prepared, check, data_of
from framework.engine.protocols.rescore import RescoreSource
from framework.engine.run import Outcome, execute
from framework.errors import UserError
from framework.registry import find, nearest
from framework.store import MANIFEST
from framework.store.atomic import one_at_a_time
from framework.store.directory import SWEEP_PLAN, RunDirectory, check_new
from framework.store.register import check_locked
from framework.store.state import State, data_differ, load_state

RUNS: Final = Path("runs")
FLOOR: Final = "none"
"""The arm beneath the baseline of a gate."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Baselines:
    """What a job's gate compares with: the baseline (a plan or a run), and `arch=none` beneath."""

    baseline: Plan | State | None = None
    floor: Plan | None = None

    @property
    def plans(self) -> list[Plan]:
        """Those that have to be run."""
        return [plan for plan in (self.baseline, self.floor) if isinstance(plan, Plan)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run to be made: its plan, and what its gate compares with.

    prepared : its parts, where its check built them for the run. begun : the state of its
    directory, where it was there already. origin : whose stored answers are judged again.
    only_baseline : it was not asked for; others are compared with it. stored_as : its name in a
    sweep that was begun when the same settings had another label.
    """

    plan: Plan
    baselines: Baselines = Baselines()
    prepared: Prepared | None = None
    begun: State | None = None
    origin: RescoreSource | None = None
    only_baseline: bool = False
    stored_as: str = ""

    @property
    def name(self) -> str:
        """The name of its directory in a sweep's."""
        return self.stored_as or self.plan.name

    @property
    def finished(self) -> bool:
        """Whether its directory held the finished run already."""
        return self.begun is not None and self.begun.finished is not None


def run_single(plan: Plan, directory: Path | None, listener: Listener) -> Outcome:
    """Check and run one plan, by default into a directory named by `run_name` or the time."""
    path = directory or RUNS / run_name(plan)
    check_new(path)
    return run_job(check_alone(plan), path, None, listener)


def check_alone(plan: Plan) -> Job:
    """A job that is no part of a sweep, checked: it must not be the baseline of its own gate.

    In a sweep the baseline is one of the arms, and the others are judged.
    """
    job = check_job(plan)
    known = job.prepared.gate.baseline if job.prepared is not None else None
    if known is not None and job.baselines.baseline is None:
        raise UserError(
            f"gate.baseline: this run is {known} itself, so there is nothing to judge; another "
            "arch or a run directory expected"
        )
    return job


def check_job(plan: Plan) -> Job:
    """Everything that can be found wrong before anything is written. Call inside `composer`."""
    check_locked(plan.config.get(PREREG))
    prepared = check(plan)
    _check_judge(plan, prepared)
    return Job(plan=plan, baselines=_baselines(plan, prepared.gate), prepared=prepared)


def _check_judge(plan: Plan, prepared: Prepared) -> None:
    """Raise UserError where a gate rests on a judge that is known to be no better than chance."""
    gate, judge = prepared.gate, prepared.pipeline.judge
    known = judge.error_rates.values() if judge is not None else ()
    rates = next((one for one in known if one.discrimination <= 0), None)
    if rates is None:
        return
    # A protocol with groups of its own asks the gate in its loop, by success.
    in_loop = plan.parts["protocol"].plugin.cls.groups and prepared.pipeline.domain.success_axis
    gated = [in_loop] if in_loop else gate.axes if gate.baseline is not None else ()
    meta = axis_meta(prepared.pipeline.domain.success_axis)
    rested = [axis for axis in gated if axis in meta and meta[axis]["judged"]]
    if rested:
        raise UserError(
            f"gate={gate.name}: judge={plan.label('judge')} is no better than chance, so no gate "
            f"can rest on its {', '.join(rested)}: of the set {rates.set} it {rates.told}"
        )


def _baselines(plan: Plan, gate: Gate[Any]) -> Baselines:
    if gate.baseline is None:
        keys = {key_of(override) for override in plan.overrides}
        asked = sorted(key for key in keys if key.partition(".")[0] == "gate")
        if asked and not gate.in_loops and "gate.baseline" not in keys:
            raise UserError(
                f"{asked[0]} is given and gate.baseline is not: gate={gate.name} has nothing to "
                "compare with; give an arch or a run directory"
            )
        return Baselines()
    path = Path(gate.baseline)
    if (path / MANIFEST).is_file():
        against = _check_comparable(plan, path)
        _check_axes(plan, gate)
        return Baselines(baseline=against)
    if (path / SWEEP_PLAN).is_file():
        raise UserError(f"gate.baseline: {path} is a sweep; give the directory of one of its runs")
    known = options("arch")
    if gate.baseline not in known:
        raise UserError(
            f"gate.baseline: {gate.baseline!r} is neither a run directory nor an arch"
            f"{nearest(gate.baseline, known)}"
        )
    _check_axes(plan, gate)
    baseline = with_arch(plan, gate.baseline)
    if baseline.rows_digest == plan.rows_digest:
        return Baselines()
    return Baselines(baseline=baseline, floor=with_arch(plan, FLOOR))


def check_operational(plan: Plan, overrides: Sequence[str]) -> None:
    """Raise UserError unless each override leaves `plan`'s identity and labels as they are.

    Call inside `composer`.
    """
    labels = compose_plan(plan.overrides).labels if overrides else {}
    for override in overrides:
        # A setting is of the option that is given with it: tracking=mlflow tracking.uri=...
        group = key_of(override).partition(".")[0]
        option = [o for o in overrides if o != override and key_of(o) == group]
        changed = compose_plan([*plan.overrides, *option, override])
        if changed.digest != plan.digest or changed.labels != labels:
            raise UserError(
                f"resume: {override} would change the run; only settings that can't change a "
                "measured value can be given: max_errors, tracking, operational settings"
            )


def run_job(job: Job, directory: Path, sweep: Path | None, listener: Listener) -> Outcome:
    """Run a job, its baselines first where they are not there yet.

    What was stopped or interrupted is logged, with the way to go on.
    """
    resumable = sweep or directory
    with job_log(directory):
        try:
            with account(job.plan, directory, sweep, job.begun):
                outcome = _run(job, directory, sweep, listener)
        except KeyboardInterrupt:
            if sweep is None:  # of a sweep it is told once, by whoever runs it
                _log.warning("interrupted; %s", _again(resumable))
            raise
        if outcome.stopped:
            role = f"gate.baseline {directory}: " if job.only_baseline else ""
            _log.warning("stopped: %s%s; %s", role, outcome.stopped, _again(resumable))
        else:
            listener.run_ended(job.plan, directory, sweep)
        return outcome


def _again(path: Path) -> str:
    """How to go on: a run that was cut off in its gate's baseline has no directory yet."""
    return f"resume it with resume={path}" if path.exists() else "start it again"


def _run(job: Job, directory: Path, sweep: Path | None, listener: Listener) -> Outcome:
    found: list[Path | State | None] = []
    for against in () if job.finished else (job.baselines.baseline, job.baselines.floor):
        if not isinstance(against, Plan):
            found.append(against)
        elif against.rows_digest == job.plan.rows_digest:
            found.append(directory)
        else:
            run = _find_or_run(against, directory.parent, sweep, listener)
            if isinstance(run, Outcome) and run.stopped:
                return replace(run, directory=directory)
            found.append(run.directory if isinstance(run, Outcome) else run)
    baseline, floor = found or (None, None)
    outcome = execute(
        job.plan,
        directory,
        prepared=job.prepared,
        begun=job.begun,
        baseline=baseline,
        baseline_none=floor,
        origin=job.origin,
        listener=listener,
    )
    if not job.finished:
        _log.debug("ended: %s", outcome.stopped or "finished")
    return outcome


def run_name(plan: Plan) -> str:
    """`run_name`, or the time and what was composed."""
    return plan.top.run_name or timed(plan.name)


def timed(name: str, parent: Path = RUNS) -> str:
    """`name` behind the time, with a number where another run began in this very second."""
    first = f"{datetime.now():%Y%m%d-%H%M%S}-{name}"
    names = (first, *(f"{first}-{number}" for number in range(2, 100)))
    return next((one for one in names if not (parent / one).exists()), first)


def with_arch(plan: Plan, arch: str) -> Plan:
    """The same composition with another arm and no gate. Call inside `composer`."""
    kept = [o for o in plan.overrides if key_of(o).split(".")[0] not in ("arch", "gate")]
    return compose_plan([*kept, f"arch={arch}", "gate.baseline=null"])


def _find_or_run(
    plan: Plan, parent: Path, sweep: Path | None, listener: Listener
) -> Outcome | State:
    """A run of these rows beside the others, made by this very code; else run it now.

    One that is unfinished is resumed where nobody else is writing it. Of several processes at once
    the first runs it, and the others wait for it.
    """

    def waiting() -> None:
        _log.warning("waiting for the process that measures gate.baseline %s", plan.label("arch"))

    wanted = manifest(plan, data_of(open_domain(plan)))
    finished, _ = _beside(plan, parent, wanted)
    if finished is not None:
        return finished
    with one_at_a_time(parent / f".{plan.rows_digest[7:19]}.baseline", waiting):
        finished, begun = _beside(plan, parent, wanted)
        if finished is not None:
            return finished
        directory = begun or parent / (plan.name if sweep else timed(plan.name, parent))
        outcome = execute(plan, directory, listener=listener)
    if outcome.stopped:
        return replace(outcome, stopped=f"gate.baseline {directory}: {outcome.stopped}")
    listener.run_ended(plan, directory, sweep)
    return outcome


def _beside(plan: Plan, parent: Path, wanted: dict[str, Any]) -> tuple[State | None, Path | None]:
    """A finished run of these rows in a directory, else one that is begun and nobody is writing."""
    begun: Path | None = None
    for path in sorted(parent.glob(f"*/{MANIFEST}")):
        found = path.parent
        manifest_ = read_manifest(found)
        if not _same_rows(manifest_, wanted):
            continue
        try:
            state = load_state(found)
        except UserError:  # damaged: not a run to compare with
            continue
        if state.finished is not None:
            return state, None
        if manifest_["identity"] == plan.digest and not RunDirectory.is_held(found):
            begun = found
    return None, begun


def _same_rows(found: dict[str, Any], wanted: dict[str, Any]) -> bool:
    same = ("rows_identity", "data", "framework", "tokenizer")
    plugins = {g: p for g, p in wanted["plugins"].items() if g != "gate"}
    packages = found.get("packages", {})  # a plugin's own file is not all that it runs, nor an axis
    return (
        all(found.get(key) == wanted[key] for key in same)
        and plugins == {g: p for g, p in found.get("plugins", {}).items() if g != "gate"}
        and all(packages.get(name) == code for name, code in wanted["packages"].items())
    )


def _check_axes(plan: Plan, gate: Gate[Any]) -> None:
    """Raise UserError for a gated axis that the domain does not fill under this protocol."""
    answers = plan.parts["protocol"].plugin.cls.answers
    filled: list[str] = []
    for name in plan.axes:
        axis = find("axis", name).cls
        if answers or not axis.needs_answer:
            filled += [n for n in axis.names if axis.higher_is_better.get(n) is not None]
    for name in gate.axes:
        if name not in filled:
            raise UserError(
                f"gate.axes: domain={plan.option('domain')} protocol={plan.option('protocol')} "
                f"has no axis {name!r} to judge{nearest(name, filled)}"
            )


def _check_comparable(plan: Plan, path: Path) -> State:
    state = load_state(path)
    if state.finished is None:
        raise UserError(f"gate.baseline={path}: not finished; resume it with resume={path}")
    mine, theirs = plan.identity, stored_plan(state).identity
    own = {"arch", "gate", *ARM_GROUPS}
    differ = [k for k in mine if k not in own and mine[k] != theirs.get(k)]
    if not differ:
        data = data_differ(state.started.get("data"), data_of(open_domain(plan)))
        differ = [data] if data else []
    if differ:
        raise UserError(f"gate.baseline={path}: it differs in {', '.join(differ)}")
    return state
