"""`prereg lock`, `prereg list` and `prereg judge`."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framework.errors import DataError, UserError

if TYPE_CHECKING:
    from framework.prereg import Judgement, Measured, RunInfo


def lock(args: argparse.Namespace) -> int:
    """Write a file's digest, content and the time into the register."""
    from framework import prereg

    path = Path(args.file)
    plan, content = prereg.read_file(path)
    entry = prereg.lock(plan, content, Path(args.register))
    print(f"locked {plan.name}: {plan.digest}, {entry.time:%Y-%m-%d %H:%M:%S} UTC")
    print(f"register head: {entry.hash}")
    print("keep the head elsewhere too: it is what shows that the register was not rewritten")
    return 0


def list_locks(args: argparse.Namespace) -> int:
    """Print the register."""
    from framework import prereg

    for entry in prereg.locks(Path(args.register)):
        print(f"{entry.time:%Y-%m-%d %H:%M:%S} UTC  {entry.name}  {entry.digest}")
    return 0


def judge(args: argparse.Namespace) -> int:
    """Judge a pre-registration on runs, sweeps, or LongHorizon's recorded rows; 1 when flagged."""
    from framework import prereg

    plan, _ = prereg.read_file(Path(args.file))
    try:
        entries, damage = prereg.locks(Path(args.register)), []
    except DataError as error:
        entries, damage = [], [f"the register is damaged: {error}"]
    measured = _measured([Path(p) for p in args.runs])
    found = prereg.judge(plan, measured, entries)
    found = dataclasses.replace(found, flags=(*damage, *found.flags))
    if args.json:
        print(json.dumps(_plain(found), indent=2))
    else:
        _show(found)
    return 1 if found.flags else 0


def _measured(paths: Sequence[Path]) -> Measured:
    from framework import prereg
    from framework.cli.runs import run_directories
    from framework.engine.sweep import comparable

    recorded = [path for path in paths if path.suffix == ".csv"]
    if recorded:
        if len(paths) > 1:
            raise UserError("recorded rows are judged alone: give one file")
        return _recorded(recorded[0])
    directories = run_directories(list(paths))
    if len(directories) > 1:
        comparable(directories)
    _check_one_setting(directories)
    rows: list[dict[str, Any]] = []
    runs: list[RunInfo] = []
    for path in directories:
        own, info = _run(path)
        rows += own
        runs.append(info)
    return prereg.Measured(rows=rows, runs=runs)


def _check_one_setting(directories: Sequence[Path]) -> None:
    """Raise UserError unless the runs differ in nothing but arm and budget, each pair once."""
    from framework.engine.directory import read_summary
    from framework.reporting.summary import SETTING

    first: dict[str, Any] | None = None
    seen: dict[tuple[str, str], Path] = {}
    for path in directories:
        run = read_summary(path)["run"]
        first = first or run
        differ = [key for key in SETTING if run[key] != first[key]]
        if differ:
            raise UserError(
                f"{directories[0]} and {path} differ in {', '.join(differ)}: judge them apart"
            )
        same = seen.setdefault((run["arch"], run["budget"]), path)
        if same is not path:
            raise UserError(f"{same} and {path} are both {run['arch']} at {run['budget']}")


def _run(path: Path) -> tuple[list[dict[str, Any]], RunInfo]:
    from framework import prereg
    from framework.engine.directory import load_state, read_summary
    from framework.journal import JOURNAL, read

    state, summary = load_state(path), read_summary(path)
    first = next(iter(read(path / JOURNAL)))
    started = state.started or {}
    rows = [
        {
            "case_id": row.case_id,
            "arm": row.arm,
            "budget": summary["run"]["budget"],
            "cluster": row.cluster or row.case_id,
            "axes": row.axes,
            "error": row.error,
        }
        for row in state.rows
    ]
    info = prereg.RunInfo(
        name=path.name,
        began=datetime.fromisoformat(first.time),
        prereg=started.get("config", {}).get("prereg") or None,
        seed=summary["run"]["seed"],
        data_digest=started.get("data", {}).get("digest"),
        n_errors=sum(1 for row in state.rows if row.error),
    )
    return rows, info


def _recorded(path: Path) -> Measured:
    from framework import prereg
    from framework.reanalysis.rows import read_rows

    found = read_rows(path)
    rows = [
        {
            "case_id": row.case_id,
            "arm": row.arm,
            "budget": row.budget,
            "cluster": None,
            "axes": {axis.lower(): value for axis, value in row.axes.items()},
        }
        for row in found
    ]
    info = prereg.RunInfo(name=path.name, began=None, prereg=None, seed=None, data_digest=None)
    return prereg.Measured(rows=rows, runs=[info], common_cases=True)


def _show(found: Judgement) -> None:
    print(f"{found.plan.name}: {found.plan.title}")
    for v in found.verdicts:
        h = v.hypothesis
        print(f"\n{h.name} ({h.role}): {h.claim}")
        asked = f"{h.direction} by {h.margin:g}"
        if h.test == "noninferiority":
            asked = f"not worse by {h.margin:g}"
        print(f"  {h.arm} against {', '.join(h.against)}: {h.axis} at {h.budget} {asked}")
        print(f"  {v.outcome.upper()}: {v.reason}")
        print(
            f"  in the predicted direction {_number(v.estimate)} [{_number(v.low)}, "
            f"{_number(v.high)}] at {v.level:.4g}, permutation p "
            f"{'-' if v.p is None else f'{v.p:.4f}'}, n = {v.n}"
        )
        published = f", published as {h.published}" if h.published else ""
        print(f"  by the estimates alone: {v.by_point}{published}")
    print()
    for flag in found.flags:
        print(f"FLAG {flag}")
    if not found.flags:
        print("no flags: locked before every run, and unchanged since")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:+.3f}"


def _plain(found: Judgement) -> dict[str, Any]:
    plain: dict[str, Any] = dataclasses.asdict(found)
    return plain
