"""A sweep of tuned arms: trials on the one half of the cases, then the comparison on the other.

All of it is in one directory. The plan of the sweep says under `tuning` what is searched and, at
the end, what was tried and chosen; its jobs are those of the comparison: each arm as it is and,
where other settings did better on the tuning half, with these. A trial is an ordinary run beside
them, named by its identity, so that one that is there is not made again.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from framework.analysis.axes import axis_meta
from framework.cli.ending import FAILED, Ending, show, to_reader
from framework.config import Plan
from framework.engine.compose import compose_plan, directory_of, grid, key_of
from framework.engine.job import RUNS, Job, timed
from framework.engine.run import begun_in
from framework.engine.sweep import (
    SWEEP_PLAN,
    Launch,
    alone_in,
    create_sweep,
    load_jobs,
    plan_jobs,
    run_sweep,
)
from framework.engine.work import SweepWork
from framework.errors import UserError
from framework.registry import find, nearest
from framework.reporting.terminal import print_blocks
from framework.store.atomic import write_json
from framework.store.sweep import stored_sweep
from framework.text.canonical import digest
from plugins.tuning import checks
from plugins.tuning.parts import COMPARISON, TUNING
from plugins.tuning.section import tuning_blocks
from plugins.tuning.study import Study

_log = logging.getLogger("framework.sweep")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a user asks for: the settings of `+experiment=tune`.

    trials : for every arm, the first of them the arm as it is; at least 2. objective : the axis
    whose mean is to be best; None for the domain's. space : by arm, then by setting, the lowest and
    highest number or the values to choose among.
    """

    trials: Any
    objective: Any
    space: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not isinstance(self.trials, int) or isinstance(self.trials, bool) or self.trials < 2:
            raise UserError(f"hydra.sweeper.trials: {self.trials!r} given, at least 2 expected")
        for arm, given in self.space.items():
            if not isinstance(given, Mapping):
                raise UserError(f"hydra.sweeper.space.{arm}: {given!r} given, settings expected")


def start(config: Any, arguments: Sequence[str], launch: Launch, asked: Asked) -> int:
    """Check everything, tune and compare; return the exit status."""
    _check_optuna()
    if config.get("part") is not None:
        raise UserError("part: a tuned sweep divides the cases itself; leave it out")
    _check_arms(asked)
    given = grid(arguments, config)
    jobs = plan_jobs([[*job, f"part={COMPARISON}"] for job in given])
    bare = [[o for o in job.plan.overrides if key_of(o) != "part"] for job in jobs]
    objective, higher = _objective(jobs, asked.objective)
    arms: list[dict[str, Any]] = [
        {"overrides": overrides, "space": dict(asked.space.get(job.plan.option("arch"), {}))}
        for job, overrides in zip(jobs, bare, strict=True)
    ]
    if not any(arm["space"] for arm in arms):
        options = sorted({job.plan.option("arch") for job in jobs})
        raise UserError(f"hydra.sweeper.space: nothing to search of {', '.join(options)}")
    tuning = {
        "trials": asked.trials,
        "objective": objective,
        "higher_is_better": higher,
        "done": False,
        "arms": arms,
    }
    for arm, job in zip(arms, jobs, strict=True):
        Study(job.plan, arm["space"], higher_is_better=higher)  # raises for what can't be searched
    plan_jobs([_trial(arms[0]["overrides"], {}, ())])
    identity = digest([tuning, [job.plan.digest for job in jobs]])[7:19]
    name = jobs[0].plan.top.run_name or timed(f"tune-{identity}")
    path = directory_of(config.hydra, "sweep") or RUNS / name
    create_sweep(path, arguments, jobs, tuning=tuning)
    with alone_in(path):
        return _go_on(path, jobs, (), launch)


def is_unfinished(path: Path) -> bool:
    """Whether a directory is of a sweep whose tuning has not ended."""
    if not (path / SWEEP_PLAN).is_file():
        return False
    return (stored_sweep(path).get("tuning") or {"done": True})["done"] is False


def resume(path: Path, overrides: Sequence[str], launch: Launch) -> int:
    """Go on with a tuning that was cut off; nothing that is finished runs again."""
    _check_optuna()
    operational = [o for o in overrides if key_of(o) != "resume"]
    with alone_in(path):
        jobs = load_jobs(path, operational)  # raises where the configuration is not what it was
        return _go_on(path, jobs, operational, launch)


def _go_on(path: Path, before: Sequence[Job], operational: Sequence[str], launch: Launch) -> int:
    stored = stored_sweep(path)
    tuning = stored["tuning"]
    studies = [
        Study(job.plan, arm["space"], higher_is_better=tuning["higher_is_better"])
        for job, arm in zip(before, tuning["arms"], strict=True)
    ]
    searched = [i for i, arm in enumerate(tuning["arms"]) if arm["space"]]
    runs: dict[int, list[str]] = {i: [] for i in searched}
    for number in range(tuning["trials"]):
        asked = {i: studies[i].ask() for i in searched}
        jobs = plan_jobs(
            [_trial(tuning["arms"][i]["overrides"], asked[i], operational) for i in searched]
        )
        _log.info("tuning: trial %d of %d", number + 1, tuning["trials"])
        if not _run(path, jobs, launch):
            print(f"sweep: {path}")
            return FAILED
        for i, job in zip(searched, jobs, strict=True):
            objective, higher = tuning["objective"], tuning["higher_is_better"]
            studies[i].tell(asked[i], checks.value_of(path / job.name, objective, higher=higher))
            runs[i].append(job.name)
    tuned = _tuned(tuning["arms"], studies)
    plans = {i: compose_plan(given) for i, given in tuned.items()}
    # Two arms may end with the same settings, or one with those that another has: measured once.
    known = {job.plan.digest: -1 for job in before}
    new = [i for i, plan in plans.items() if known.setdefault(plan.digest, i) == i]
    jobs = plan_jobs([[*job.plan.overrides] for job in before]
                     + [[*tuned[i], *operational] for i in new])  # fmt: skip
    stored["jobs"] += [
        {"name": job.name, "identity": job.plan.digest, "overrides": tuned[i]}
        for i, job in zip(new, jobs[len(before) :], strict=True)
    ]
    after = {**stored, "tuning": _ended(path, tuning, before, plans, studies, runs)}
    write_json(path / SWEEP_PLAN, after)
    with alone_in(path):  # its plan is another file by now, which nobody holds yet
        outcome = run_sweep(path, jobs, Ending(), launch)
    to_reader(lambda: print_blocks([*tuning_blocks(after)], folded=False))
    return show(outcome)


def _tuned(arms: Sequence[Mapping[str, Any]], studies: Sequence[Study]) -> dict[int, list[str]]:
    """By the number of an arm that other settings did better for, the overrides of its job."""
    return {
        i: [*_with(arm["overrides"], study.chosen.settings), f"part={COMPARISON}"]
        for i, (arm, study) in enumerate(zip(arms, studies, strict=True))
        if arm["space"] and study.chosen.settings
    }


def _run(path: Path, jobs: Sequence[Job], launch: Launch) -> bool:
    """Run the trials that are not there yet; False where one did not finish."""
    known = [replace(job, begun=begun_in(job.plan, path / job.name)) for job in jobs]
    left = [job for job in known if not job.finished]
    if not left:
        return True
    work = SweepWork(path, left, Ending())
    try:
        launch(work)
    except KeyboardInterrupt:
        _log.warning("interrupted; resume it with resume=%s", path)
        raise
    return len(work.outcomes) == len(left) and all(o.summary is not None for o in work.outcomes)


def _ended(
    path: Path,
    tuning: Mapping[str, Any],
    before: Sequence[Job],
    tuned: Mapping[int, Plan],
    studies: Sequence[Study],
    runs: Mapping[int, Sequence[str]],
) -> dict[str, Any]:
    """What was tried and chosen, by arm. before : the jobs of the arms as they are."""
    arms = []
    for i, (arm, job, study) in enumerate(zip(tuning["arms"], before, studies, strict=True)):
        labels = {"arm": job.plan.label("arch"), "budget": job.plan.label("budget")}
        told: dict[str, Any] = {**arm, **labels}
        if arm["space"]:
            told["tried"] = [
                {"settings": dict(trial.settings), "value": trial.value, "directory": name}
                for trial, name in zip(study.trials, runs[i], strict=True)
            ]
            told["chosen"] = dict(study.chosen.settings)
            told |= checks.spent_by([path / name for name in dict.fromkeys(runs[i])])
        if i in tuned:
            told["tuned"] = tuned[i].label("arch")
        arms.append(told)
    return {**tuning, "done": True, "arms": arms}


def _trial(
    overrides: Sequence[str], settings: Mapping[str, Any], operational: Sequence[str]
) -> list[str]:
    """The overrides of a trial: nothing is compared there, and nothing of it is uploaded."""
    quiet = ["baseline=null", "gate.baseline=null", "tracking=none", "report=false"]
    given = [*_with(overrides, settings), *operational]
    kept = [o for o in given if key_of(o).split(".")[0] not in ("gate", "baseline", "tracking")]
    return [*kept, *quiet, f"part={TUNING}"]


def _with(overrides: Sequence[str], settings: Mapping[str, Any]) -> list[str]:
    keys = {f"arch.{name}" for name in settings}
    kept = [o for o in overrides if key_of(o) not in keys]
    return [*kept, *(f"arch.{name}={json.dumps(value)}" for name, value in settings.items())]


def _objective(jobs: Sequence[Job], asked: str | None) -> tuple[str, bool]:
    """The axis to make best, and whether higher is better.

    By default the domain's success axis and, where nobody answers, the first of its headline that
    needs no answer. Raises UserError for an axis that the jobs do not have.
    """
    plan: Plan = jobs[0].plan
    answers = plan.parts["protocol"].plugin.cls.answers
    meta = axis_meta()
    filled = [
        name
        for axis in plan.axes
        if answers or not find("axis", axis).cls.needs_answer
        for name in find("axis", axis).cls.names
        if meta[name]["higher_is_better"] is not None
    ]
    domain = plan.parts["domain"].plugin.cls
    wanted = [asked] if asked else [domain.success_axis, *domain.headline]
    found = next((name for name in wanted if name in filled), None)
    if found is None:
        given = asked or "no axis of the domain's own"
        raise UserError(f"hydra.sweeper.objective: {given!r}{nearest(str(given), filled)}")
    return found, bool(meta[found]["higher_is_better"])


def _check_arms(asked: Asked) -> None:
    """Raise UserError for a space of an arm that there is not."""
    from framework.engine.compose import options

    known = options("arch")
    for arm in asked.space:
        if arm not in known:
            raise UserError(f"hydra.sweeper.space: no arm {arm!r}{nearest(arm, known)}")


def _check_optuna() -> None:
    try:
        import optuna  # noqa: F401
    except ImportError:
        raise UserError(
            "+experiment=tune: optuna is not installed; pip install 'decisionbench[tune]'"
        ) from None
