"""Commands on run directories: compare, verify, replay, sync."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from framework.errors import UserError


def compare(args: argparse.Namespace) -> int:
    """Print paired comparisons of runs made at any time, on the same cases."""
    from framework.engine.directory import load_state, read_summary
    from framework.engine.sweep import comparable
    from framework.reporting.sweep import sweep_summary
    from framework.reporting.tables import print_sweep

    paths = run_directories([Path(p) for p in args.runs])
    if len(paths) < 2:
        raise UserError("compare needs two runs or a sweep")
    comparable(paths)
    summaries = [read_summary(p) for p in paths]
    axes = args.axes.split(",") if args.axes else None
    summary = sweep_summary(
        summaries,
        [load_state(p).rows for p in paths],
        [p.name for p in paths],
        seed=summaries[0]["run"]["seed"],
        baseline=args.baseline,
        axes=axes,
    )
    print_sweep(summary)
    return 0


def verify(args: argparse.Namespace) -> int:
    """Check journal, files and manifest; exit status 1 when anything is not as it was sealed."""
    from framework.journal import verify_run

    verdict = verify_run(args.run, args.head)
    for problem in verdict.problems:
        print(problem)
    if verdict.ok:
        print(f"ok: {verdict.journal.n_events} events, head {verdict.journal.head_hash}")
    return 0 if verdict.ok else 1


def replay(args: argparse.Namespace) -> int:
    """Run a finished run again from its stored configuration and compare the measured rows."""
    from framework.engine.directory import load_plan, load_state
    from framework.engine.progress import Progress
    from framework.engine.run import execute
    from framework.rows import in_order, measured

    path = Path(args.run)
    before = load_state(path)
    if before.finished is None:
        raise UserError(f"{path} is not finished; go on with it by resume={path}")
    with tempfile.TemporaryDirectory() as scratch:
        again = Path(scratch) / "replay"
        execute(load_plan(path), again, progress=Progress.auto())
        after = load_state(again)
    old, new = measured(before.rows), measured(after.rows)
    if old == new:
        print(f"same: {len(old)} rows, every measured column equal")
        return 0
    for row, a, b in zip(in_order(before.rows), old, new, strict=False):
        differ = sorted(k for k in a.keys() | b.keys() if a.get(k) != b.get(k))
        if differ:
            print(f"{row.case_id} {row.arm}: differs in {', '.join(differ)}")
    if len(old) != len(new):
        print(f"{len(old)} rows before, {len(new)} now")
    return 1


def sync(args: argparse.Namespace) -> int:
    """Upload a run or sweep to its tracking server, finishing what was cut off."""
    from framework.engine.sync import sync as upload
    from framework.errors import TrackingError

    try:
        print(upload(Path(args.run)))
    except TrackingError as error:
        print(f"tracking: {error}")
        return 1
    return 0


def run_directories(paths: list[Path]) -> list[Path]:
    """Run directories of `paths`, a sweep standing for its jobs."""
    from framework.engine.sweep import job_directories

    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            raise UserError(f"{path}: no such directory")
        found += job_directories(path) or [path]
    return found
