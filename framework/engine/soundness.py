"""Whether a sweep's own files are what its runs give or say."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from framework.analysis.prereg.results import judged_runs
from framework.config import is_operational, stored_plan
from framework.engine.account import OWN
from framework.engine.compose import key_of
from framework.engine.sweep import (
    all_directories,
    compared,
    finished_jobs,
    jobs_of,
    reports_of,
    write_sweep,
)
from framework.errors import UserError
from framework.registry import plugins
from framework.store.atomic import as_json
from framework.store.directory import COMPARISON, FIGURES, SWEEP, SWEEP_PLAN, unsealed
from framework.store.former import as_of_then, read_json, renamed_table
from framework.store.register import as_lock
from framework.store.state import FinishedRun, load_state, read_report, read_run
from framework.store.sweep import PLAN, plan_digest, read_sweep, stored_sweep
from framework.text.reading import read_json as bounded

_NAMES: Final = frozenset({SWEEP, SWEEP_PLAN, COMPARISON, FIGURES, OWN, ".submitit"})
"""Names in a sweep's directory beside its runs; a launcher on a cluster has a folder of its own."""


def problems_of(path: Path) -> list[str]:
    """Where a sweep's own files are not what its runs give or say; empty when sound."""
    try:
        text, stored = (path / SWEEP).read_text(encoding="utf-8"), read_sweep(path)
    except UserError as error:
        return [str(error)]
    except (OSError, ValueError):
        return [f"{path / SWEEP}: missing or not JSON"]
    if text != as_json(bounded(text)):
        return [f"{path / SWEEP}: not the text that was written"]
    reports = [f"{protocol.name}.json" for protocol in plugins("protocol")]
    runs = [run.name for run in all_directories(path)]
    named = {*_NAMES, *unsealed(), *reports, *runs}
    if extra := sorted(entry.name for entry in path.iterdir() if entry.name not in named):
        return [f"{path / extra[0]}: extra"]

    def prereg_results(runs: Sequence[FinishedRun]) -> dict[str, Any] | None:
        # By the register as it was: it has a chain of its own, and may have grown since.
        known = stored.get("prereg") or {"register": []}
        if known["register"] is None:
            return dict(known)
        return judged_runs(runs, [as_lock(entry) for entry in known["register"]])

    finished = [read_run(state.path, state) for state in finished_jobs(path)]
    plan = stored_sweep(path)
    planned = {job["name"]: job.get("overrides") for job in plan["jobs"]}
    for run in finished:
        argv, given = run.manifest["argv"], planned[run.path.name] or []
        config = run.state.started["config"]
        of_a_resume = argv[len(given) :]
        later = all(o in given or is_operational(key_of(o), config) for o in of_a_resume)
        if argv[: len(given)] != given or not later:
            return [f"{path / SWEEP_PLAN}: {run.path.name} was not run from these overrides"]
    for section in plugins("section"):
        if said := section.cls().problems(path, plan):
            return [f"{path / SWEEP_PLAN}: {problem}" for problem in said]
    if stored.get(PLAN, now := plan_digest(path)) != now:
        return [f"{path / SWEEP_PLAN}: not the plan that the sweep ended with"]
    beside = set(runs) - planned.keys()
    if extra := sorted(name for name in beside if not _belongs(name, finished, plan)):
        return [f"{path / extra[0]}: extra"]
    places = (path, *(run.path for run in finished))
    if any((place / name).exists() for place in places for name in reports):
        states = map(load_state, jobs_of(path))
        given = reports_of(path, {state.path.name: stored_plan(state) for state in states})
        for name in reports:
            of_all = given.get(Path(name).stem)
            if read_report(path, Path(name).stem) != (of_all and read_json(as_json(of_all))):
                return [f"{path / name}: not what the runs give"]
    with tempfile.TemporaryDirectory() as scratch:
        expected = compared(
            finished,
            [job.name for job in jobs_of(path)],
            stored.get("baseline"),
            prereg_results,
            smallest_effect=stored.get("smallest_effect"),
            published_convention=(stored.get("published_convention") or {}).get("convention"),
        )
        if expected is None:
            return [f"{path / SWEEP}: none of its runs is finished"]
        write_sweep(Path(scratch), as_of_then({**expected, PLAN: now}, stored))
        made = read_json((Path(scratch) / SWEEP).read_text(encoding="utf-8"))
        table, known = (folder / COMPARISON for folder in (Path(scratch), path))
        same = {
            SWEEP: made == stored,
            COMPARISON: known.is_file()
            and renamed_table(known.read_text(encoding="utf-8"))
            == table.read_text(encoding="utf-8"),
        }
        return [f"{path / name}: not what the runs give" for name, ok in same.items() if not ok]


def _belongs(name: str, finished: Sequence[FinishedRun], plan: Mapping[str, Any]) -> bool:
    """Whether a run beside a sweep's jobs is one that a gate or the plan names."""
    for run in finished:
        gate = run.summary["gate"]
        # One of before it was recorded does not say which runs it compared with.
        if name in gate.get("against", () if gate["passed"] is None else [name]):
            return True
    return any(name in s.cls().runs_beside(plan) for s in plugins("section"))
