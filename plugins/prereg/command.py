"""`prereg lock`, `prereg list` and `prereg judge`."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from framework.contracts.command import Command
from framework.errors import DataError, UserError
from framework.registry import register

if TYPE_CHECKING:
    from framework.analysis.prereg.verdicts import Measured
    from framework.store.hypotheses import Preregistration


@register("command", "prereg")
class Prereg(Command):
    """Lock predictions before a run, and judge them after it."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        actions = parser.add_subparsers(required=True, metavar="ACTION")
        add = actions.add_parser("lock", help="record a file's digest and the time in the register")
        add.add_argument("file", metavar="FILE", help="the pre-registration")
        _add_register(add, lock)
        add = actions.add_parser("list", help="show what was locked, and when")
        add.add_argument("file", nargs="?", metavar="FILE", help="show the register of this file")
        _add_register(add, list_locks)
        add = actions.add_parser(
            "judge",
            help="judge the locked predictions by runs; exit status 1 if anything is flagged",
        )
        add.add_argument("file", metavar="FILE", help="the pre-registration")
        add.add_argument("runs", nargs="+", metavar="SWEEP|RUN|CSV", help="the results")
        add.add_argument("--json", action="store_true", help="print JSON")
        _add_register(add, judge)

    def run(self, args: argparse.Namespace) -> int:
        status: int = args.action(args)
        return status


def _add_register(
    parser: argparse.ArgumentParser, action: Callable[[argparse.Namespace], int]
) -> None:
    parser.add_argument(
        "--register",
        metavar="REGISTER",
        help="default: register.jsonl beside FILE if it exists, else runs/prereg.jsonl",
    )
    parser.set_defaults(action=action)


def lock(args: argparse.Namespace) -> int:
    """Write a file's digest, content and the time into the register."""
    from framework.store import register as registers
    from framework.store.hypotheses import read_file

    plan, content = read_file(Path(args.file))
    register = _register(args)
    entry = registers.lock(plan, content, register)
    print(f"locked {plan.name}: {plan.digest}, {entry.time:%Y-%m-%d %H:%M:%S} UTC")
    print(f"register: {register}, head: {entry.hash}")
    if plan.data_digest is None:
        print("data_digest is null: the data of the cases are not locked")
    print("keep the head elsewhere too: it is what shows that the register was not rewritten")
    return 0


def list_locks(args: argparse.Namespace) -> int:
    """Print the register; given a pre-registration's file, that file's register."""
    from framework.store.register import locks

    for entry in locks(_register(args)):
        print(f"{entry.time:%Y-%m-%d %H:%M:%S} UTC  {entry.name}  {entry.digest}")
    return 0


def judge(args: argparse.Namespace) -> int:
    """Judge a pre-registration on runs, sweeps, or a paper's recorded rows; 1 when flagged."""
    from framework.analysis.prereg import verdicts
    from framework.analysis.prereg.results import as_plain
    from framework.reporting.terminal import print_blocks
    from framework.store.hypotheses import read_file
    from framework.store.register import locks
    from plugins.prereg.section import judgement

    plan, _ = read_file(Path(args.file))
    try:
        entries, damage = locks(_register(args)), []
    except DataError as error:
        entries, damage = [], [f"the register is damaged: {error}"]
    measured = _measured([Path(p) for p in args.runs], plan)
    found = verdicts.judge(plan, measured, entries)
    found = dataclasses.replace(found, flags=(*damage, *found.flags))
    plain = as_plain(found)
    if args.json:
        print(json.dumps(plain, indent=2))
    else:
        print_blocks(judgement(plain))
    return 1 if found.flags else 0


def _register(args: argparse.Namespace) -> Path:
    """The register that was asked for, else that of the file."""
    from framework.store.register import register_of

    if args.register is not None:
        return Path(args.register)
    return register_of(None if args.file is None else Path(args.file))


def _measured(paths: Sequence[Path], plan: Preregistration) -> Measured:
    from framework.analysis.compare_runs import comparable
    from framework.analysis.prereg.results import measured_in
    from framework.cli.runs import finished_runs

    recorded = [path for path in paths if path.suffix == ".csv"]
    if recorded:
        if len(paths) > 1:
            raise UserError("recorded rows are judged alone: give one file")
        return _recorded(recorded[0])
    runs = finished_runs(list(paths))
    if len(runs) > 1 and not plan.base:
        comparable(runs)
    return measured_in(runs, plan)


def _recorded(path: Path) -> Measured:
    """Rows that a paper's authors recorded, by the first reanalysis that reads them."""
    from framework.analysis.prereg.flags import RunInfo
    from framework.analysis.prereg.verdicts import Measured
    from framework.registry import plugins

    found = (plugin.cls().rows(path) for plugin in plugins("reanalysis"))
    rows = next((list(rows) for rows in found if rows is not None), None)
    if rows is None:
        raise UserError(f"{path}: no reanalysis reads it")
    info = RunInfo(name=path.name, began=None, prereg=None, seed=None, data_digest=None)
    return Measured(rows=rows, runs=[info], common_cases=True)
