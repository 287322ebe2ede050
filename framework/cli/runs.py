"""Commands on run directories: compare, verify, replay, sync."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framework.errors import UserError
from framework.registry import nearest, plugins
from framework.text.counting import counted

if TYPE_CHECKING:
    from framework.contracts import RowKey
    from framework.records import Row
    from framework.store.directory import FinishedRun


def compare(args: argparse.Namespace) -> int:
    """Print paired comparisons of runs made at any time, on the cases that they share."""
    from framework.analysis.compare_runs import compare_across
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
    if axes:
        notes.append("note: Holm's family is of --axes alone; chosen after a look it is too small")
    if not args.json and args.out is None:
        print_sweep(found.summary)
        print(*notes, sep="\n", end="\n" if notes else "")
        return 0
    text = "\n\n".join([sweep_markdown(found.summary), *notes]) + "\n"
    if args.json:
        text = as_json({**found.summary, "notes": list(found.notes)})
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
    from framework.engine.sweep import all_directories, problems_of
    from framework.store import verify_run
    from framework.store.directory import SWEEP_PLAN
    from framework.store.seal import sweep_head
    from framework.store.shards import problems_of as problems_of_shards

    path = Path(args.run)
    if not path.is_dir():
        raise UserError(f"{path}: no such directory")
    sweep = (path / SWEEP_PLAN).is_file()
    heads, sound = dict[str, str](), True
    for run in all_directories(path) if sweep else [path]:
        named = f"{run}: " if sweep else ""
        problems: tuple[str, ...] = ("not run yet",)
        if run.is_dir():
            verdict = verify_run(run, None if sweep else args.head)
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
        head = sweep_head(heads)
        if not problems and args.head not in (None, head):
            problems = (f"head {head}, not {args.head}",)
        print("\n".join(problems) or f"{path}: ok: {counted(len(heads), 'run')}, head {head}")
        sound = not problems
    return 0 if sound else 1


def replay(args: argparse.Namespace) -> int:
    """Run a finished run again from its stored configuration and compare the measured rows."""
    from framework.cli.progress import Progress
    from framework.config import stored_plan, with_operational
    from framework.engine.domains import one_domain
    from framework.engine.loops import keeps_events, replay_events
    from framework.engine.manifest import changed_since
    from framework.engine.run import check_same, execute
    from framework.store.directory import load_finished, load_state

    path = Path(args.run)
    before = load_finished(path)
    # As many errors as there were: the repetition is to be compared, not judged.
    plan = with_operational(stored_plan(before), {"max_errors": float(len(before.rows))})
    if keeps_events(plan):
        with one_domain():
            events = replay_events(path, before)
        print(f"same: {counted(events, 'event')}, nothing asked or measured")
        return 0
    with tempfile.TemporaryDirectory() as scratch, one_domain():
        check_same(plan, before)
        changed = changed_since(path, plan)
        if changed:
            print(f"changed since the run: {', '.join(changed)}", file=sys.stderr)
        again = Path(scratch) / "replay"
        execute(plan, again, listener=Progress())
        after = load_state(again)
        others = _not_of_its_rows(path, again)
    old = {row.key: line for row, line in _keyed(before.rows)}
    new = {row.key: dict(line) for row, line in _keyed(after.rows)}
    # An axis may have got a column since: it says nothing about the run.
    added = {name for line in new.values() for name in line}
    added -= {name for line in old.values() for name in line}
    if added:
        print(f"columns that the run does not have: {', '.join(sorted(added))}", file=sys.stderr)
    new = {k: {n: v for n, v in line.items() if n not in added} for k, line in new.items()}
    if old == new and not others:
        print(f"same: {counted(len(old), 'row')}, every measured column equal")
        return 0
    for name in others if old == new else ():
        print(f"{name}: not what the rows give, which are the same")
    for key in sorted(old.keys() | new.keys()):
        a, b = old.get(key), new.get(key)
        if a is None or b is None:
            print(f"{_named(key)}: only in the {'run' if b is None else 'replay'}")
        elif a != b:
            differ = sorted(k for k in a.keys() | b.keys() if a.get(k) != b.get(k))
            print(f"{_named(key)}: differs in {', '.join(differ)}")
    return 1


def _not_of_its_rows(path: Path, again: Path) -> list[str]:
    """Which files that are made of rows say another thing than those of the repetition."""
    import pyarrow.parquet as pq

    from framework.store.directory import ROWS, read_summary
    from framework.store.parquet import MEASURED

    one, other = (read_summary(p)["axes"] for p in (path, again))
    shared = one.keys() & other.keys()
    keys = ("mean", "n", "ci_low", "ci_high")
    differ = any(one[n].get(key) != other[n].get(key) for n in shared for key in keys)
    said = ["summary.json"] if differ else []
    try:
        files = [pq.ParquetFile(p / ROWS) for p in (path, again)]
    except (OSError, ValueError):  # none, or not Parquet
        return [*said, ROWS]
    told = [(file.schema_arrow.metadata or {}).get(MEASURED) for file in files]
    if told[0] is None or told[1] is None:  # written by another program
        return [*said, ROWS]
    named = set(told[0].decode().split(",")) & set(told[1].decode().split(","))
    columns = ([file.read([name]).to_pylist() for file in files] for name in sorted(named))
    return [*said, ROWS] if any(ours != theirs for ours, theirs in columns) else said


def table(args: argparse.Namespace) -> int:
    """Print a sweep's result table in Markdown, or put it into a file between its markers."""
    from framework.analysis.evidence import of_sweep
    from framework.reporting.markdown import blocks_markdown, print_or_put
    from framework.reporting.sections.overview import main_tables
    from framework.store.directory import SWEEP
    from framework.store.former import read_json

    path = Path(args.sweep) / SWEEP
    if not path.is_file():
        raise UserError(f"{args.sweep} has no {SWEEP}: not a finished sweep")
    own = [t for section in plugins("section") for t in section.cls().result_tables(path.parent)]
    tables = own or list(main_tables(of_sweep(read_json(path.read_bytes())), args.budget))
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


def _keyed(rows: Sequence[Row]) -> Iterator[tuple[Row, dict[str, Any]]]:
    from framework.rows import in_order, measured

    return zip(in_order(rows), measured(rows), strict=True)


def _named(key: RowKey) -> str:
    case, arm, trial, repeat, turn = key
    return f"{case} {arm} trial {trial} repeat {repeat} turn {turn}"


def _check_known(option: str, given: Sequence[str], known: Collection[str]) -> None:
    for name in given:
        if name not in known:
            raise UserError(f"{option}: the runs have no {name!r}{nearest(name, known)}")


def finished_runs(paths: list[Path]) -> list[FinishedRun]:
    """The finished runs of `paths`, a sweep standing for its jobs, each read once."""
    from framework.engine.sweep import finished_jobs
    from framework.store.directory import read_run

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
