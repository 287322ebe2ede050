"""Commands on run directories: compare, verify, table, sync."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from framework.errors import DataError, UserError
from framework.registry import nearest, plugins
from framework.text.counting import counted

if TYPE_CHECKING:
    from framework.store.state import FinishedRun


def compare(args: argparse.Namespace) -> int:
    """Print paired comparisons of runs made at any time, on the cases that they share."""
    from framework.analysis.compare_runs import compare_across
    from framework.analysis.doubts import doubts_of_state
    from framework.reporting.page import print_sweep, sweep_markdown
    from framework.store.atomic import as_json, write_text

    runs = finished_runs([Path(p) for p in args.runs])
    axes = args.axes.split(",") if args.axes else None
    _check_known("--axes", axes or (), {a for run in runs for a in run.summary["axes"]})
    if args.baseline is not None:
        _check_known("--baseline", [args.baseline], {r.summary["run"]["arch"] for r in runs})
    effect = args.smallest_effect
    if effect is not None and not 0 < effect < 1:
        raise UserError(f"--smallest-effect: {effect:g} given, between 0 and 1 expected")
    found = compare_across(
        runs,
        baseline=args.baseline,
        axes=axes,
        smallest_effect=effect,
        published_convention=args.published_convention,
    )
    if not found.summary["comparisons"]:
        why = "; ".join(found.notes) or "no two runs that differ in the arm alone have an axis"
        raise UserError(f"nothing to compare: {why}")
    notes = [f"note: {note}" for note in found.notes]
    doubts = [said for run in runs for said in doubts_of_state(run.state)]
    notes += [f"warning: {said}" for said in doubts]
    if axes:
        notes.append("note: Holm's family is of --axes alone; chosen after a look it is too small")
    if not args.json and args.out is None:
        print_sweep(found.summary)
        print(*notes, sep="\n", end="\n" if notes else "")
        return 0
    text = "\n\n".join([sweep_markdown(found.summary), *notes]) + "\n"
    if args.json:
        text = as_json({**found.summary, "notes": [*found.notes, *doubts]})
    if args.out is None:
        print(text, end="")
        return 0
    try:
        write_text(Path(args.out), text)
    except OSError as error:
        raise UserError(f"--out: {args.out} can't be written: {error.strerror}") from None
    print(args.out)
    return 0


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


def table(args: argparse.Namespace) -> int:
    """Print a sweep's result table in Markdown, or put it into a file between its markers."""
    from framework.analysis.doubts import doubts_of
    from framework.analysis.evidence import of_sweep
    from framework.reporting.markdown import blocks_markdown, print_or_put
    from framework.reporting.sections.overview import main_tables
    from framework.store.directory import SWEEP
    from framework.store.sweep import read_sweep

    path = Path(args.sweep)
    if not (path / SWEEP).is_file():
        raise UserError(f"{args.sweep} has no {SWEEP}: not a finished sweep")
    sweep = read_sweep(path)
    for doubt in doubts_of(path, sweep):
        print(f"warning: {doubt}", file=sys.stderr)
    own = [t for section in plugins("section") for t in section.cls().result_tables(path)]
    tables = own or list(main_tables(of_sweep(sweep), args.budget))
    if not tables:
        raise UserError(f"no budget {args.budget!r} in the sweep")
    text = blocks_markdown(tables, brief=True)
    print_or_put(text, args.into)
    return 0


def sync(args: argparse.Namespace) -> int:
    """Upload a run or sweep to its tracking server, finishing what was cut off."""
    from framework.engine.sync import sync as upload
    from framework.errors import TrackingError

    try:
        print(upload(Path(args.run)))
    except TrackingError as error:
        print(f"tracking: {error}", file=sys.stderr)
        return 1
    return 0


def _check_known(option: str, given: Sequence[str], known: Collection[str]) -> None:
    for name in given:
        if name not in known:
            raise UserError(f"{option}: the runs have no {name!r}{nearest(name, known)}")


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


def run_directories(paths: list[Path]) -> list[Path]:
    """Run directories of `paths`, a sweep standing for its jobs."""
    from framework.engine.sweep import job_directories

    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            raise UserError(f"{path}: no such directory")
        found += job_directories(path) or [path]
    return found
