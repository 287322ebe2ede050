"""`verify`, and the runs that commands are asked about."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from framework.errors import DataError, UserError
from framework.text.counting import counted

if TYPE_CHECKING:
    from framework.store.state import FinishedRun


def verify(args: argparse.Namespace) -> int:
    """Check journal, files and manifest; exit status 1 when anything is not as it was sealed."""
    path = Path(args.run)
    if not path.is_dir():
        raise UserError(f"{path}: no such directory")
    try:
        return _verify(path, args.head)
    except DataError as error:  # a file that can't be read is a finding too
        print(error)
        return 1


def _verify(path: Path, expected: str | None) -> int:
    from framework.engine.soundness import problems_of
    from framework.engine.sweep import all_directories
    from framework.store import verify_run
    from framework.store.directory import SWEEP_PLAN
    from framework.store.seal import sweep_head
    from framework.store.shards import problems_of as problems_of_shards
    from framework.store.sweep import plan_digest

    sweep = (path / SWEEP_PLAN).is_file()
    heads, sound = dict[str, str](), True
    for run in all_directories(path) if sweep else [path]:
        named = f"{run}: " if sweep else ""
        problems: tuple[str, ...] = ("not run yet",)
        if run.is_dir():
            verdict = verify_run(run, None if sweep else expected)
            problems = verdict.problems or tuple(problems_of_shards(run))
            heads[run.name] = verdict.journal.head_hash
        for problem in problems:
            print(f"{named}{problem}")
        if not problems:
            events = counted(verdict.journal.n_events, "event")
            print(f"{named}ok: {events}, head {heads[run.name]}")
        sound = sound and not problems
    if sound and sweep:
        problems = tuple(problems_of(path))
        head, of_runs = sweep_head(heads, plan_digest(path)), sweep_head(heads, None)
        if not problems and expected not in (None, head, of_runs):
            problems = (f"head {head}, not {expected}",)
        least = "; the head given covers the runs and not the plan" if expected == of_runs else ""
        said = f"{path}: ok: {counted(len(heads), 'run')}, head {head}{least}"
        print("\n".join(problems) or said)
        sound = not problems
    return 0 if sound else 1


def finished_runs(paths: list[Path]) -> list[FinishedRun]:
    """The finished runs of `paths`, a sweep standing for its jobs, each read once."""
    from framework.engine.sweep import finished_jobs
    from framework.store.state import read_run

    found: list[FinishedRun] = []
    for path in paths:
        if not path.is_dir():
            raise UserError(f"{path}: no such directory")
        jobs = [read_run(state.path, state) for state in finished_jobs(path)]
        found += jobs or [read_run(path)]
    return found
