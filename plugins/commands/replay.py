"""`replay`: a finished run again, from its stored configuration, and what differs."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framework.contracts import RowKey
from framework.contracts.command import Command
from framework.errors import DataError, UserError
from framework.records import Row
from framework.registry import register
from framework.rows import in_order, measured
from framework.store.directory import ROWS
from framework.store.parquet import MEASURED
from framework.store.state import SUMMARY, State, load_finished, load_state, read_summary
from framework.text.counting import counted

if TYPE_CHECKING:
    from framework.config import Plan


@register("command", "replay")
class Replay(Command):
    """Run a finished run again and compare its rows and everything computed from them."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.description = (
            "Run a finished run again from its stored configuration, with the stored answers of "
            "models if they were kept, and compare every measured column, the summary and the "
            "gate. Exit status: 0 all are the same, 1 something differs, 2 it can't be run."
        )
        parser.add_argument("run", metavar="RUN", help="directory of a finished run")

    def run(self, args: argparse.Namespace) -> int:
        path = Path(args.run)
        try:
            return replay(path)
        except DataError as error:
            file = Path(error.file)
            if not (file.is_absolute() or file.exists() or path in file.parents):
                told = f"{path} names it from where the run was begun; replay it there"
                raise UserError(f"{file}: no such file here: {told}") from None
            if path not in file.parents:
                raise
            print(error)  # it is the run that is not as it was: a finding, and no mistake
            return 1


def replay(path: Path) -> int:
    """Run a finished run again from its stored configuration and compare the measured rows."""
    from framework.cli.progress import Progress
    from framework.config import stored_plan
    from framework.engine.domains import one_domain
    from framework.engine.manifest import changed_since
    from framework.engine.run import check_same, execute
    from plugins.commands._loops import keeps_events, replay_events
    from plugins.commands.show import refuse_sweep

    refuse_sweep(path)
    before = load_finished(path)
    # As many errors as there were: the repetition is to be compared, not judged.
    plan = stored_plan(before)
    plan = replace(plan, top=replace(plan.top, max_errors=float(len(before.rows))))
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
        known = _compared_with(plan, path, again)
        against, floor = known.baseline, known.floor
        execute(
            plan, again, baseline=against, baseline_none=floor, repeated=before, listener=Progress()
        )
        after = load_state(again)
        others = _not_of_its_rows(path, again, gate=not known.missing)
    if known.missing:
        print(f"the gate is not judged again: {known.missing}", file=sys.stderr)
    if differ := _differences(before.rows, after.rows):
        print(*differ, sep="\n")
    elif others:
        print(*(f"{name}: not what the rows give, which are the same" for name in others), sep="\n")
    else:
        print(f"same: {counted(len(before.rows), 'row')}, every measured column equal")
    return 1 if differ or others else 0


def _differences(before: Sequence[Row], after: Sequence[Row]) -> list[str]:
    """In what rows of the run and the repetition differ, a line for each row that does."""
    old = {row.key: line for row, line in _keyed(before)}
    new = {row.key: dict(line) for row, line in _keyed(after)}
    # An axis may have got a column since: it says nothing about the run.
    added = {name for line in new.values() for name in line}
    added -= {name for line in old.values() for name in line}
    if added:
        print(f"columns that the run does not have: {', '.join(sorted(added))}", file=sys.stderr)
    new = {k: {n: v for n, v in line.items() if n not in added} for k, line in new.items()}
    said = []
    for key in sorted(old.keys() | new.keys()):
        a, b = old.get(key), new.get(key)
        if a is None or b is None:
            said.append(f"{_named(key)}: only in the {'run' if b is None else 'replay'}")
        elif a != b:
            differ = sorted(k for k in a.keys() | b.keys() if a.get(k) != b.get(k))
            said.append(f"{_named(key)}: differs in {', '.join(differ)}")
    return said


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    """What a run's gate compared it with; `missing` says in words what of it is not here.

    A baseline that is neither here nor missing is another than the gate asks for.
    """

    baseline: State | Path | None = None
    floor: State | Path | None = None
    missing: str = ""


def _compared_with(plan: Plan, path: Path, again: Path) -> _Compared:
    """What the gate of a run compared it with, looked for beside it; `again` is its repetition."""
    from framework.config import stored_plan
    from framework.engine.compose import composer, options
    from framework.engine.job import FLOOR, with_arch

    gate = read_summary(path)["gate"]
    named = plan.parts["gate"].create().baseline
    heads = gate.get("against") or {}
    if named is None or gate["passed"] is None:
        return _Compared()
    if not isinstance(heads, dict) or not heads:
        return _Compared(missing="it does not say which run it was compared with")
    found: dict[str, State] = {}
    for name, head in heads.items():
        places = [place for place in (path.parent / name, Path(named)) if place.name == name]
        try:
            states = [load_state(place) for place in places if place.is_dir()]
        except UserError as error:
            return _Compared(missing=str(error))
        if not states:
            return _Compared(missing=f"{name}, which it was compared with, is not beside the run")
        same = [state for state in states if state.head == head]
        if not same:
            told = f"{states[0].path} is not as it was when the run was compared with it"
            return _Compared(missing=told)
        found[name] = same[0]
    with composer():
        if named not in options("arch"):  # a directory, which has no floor
            return _Compared(baseline=found.get(Path(named).name))
        asked = [with_arch(plan, arm).rows_digest for arm in (named, FLOOR)]
        try:
            held = {stored_plan(state).rows_digest: state for state in found.values()}
        except UserError as error:
            return _Compared(missing=str(error))
    baseline, floor = (again if d == plan.rows_digest else held.get(d) for d in asked)
    return _Compared(baseline=baseline, floor=floor)


def _not_of_its_rows(path: Path, again: Path, *, gate: bool) -> list[str]:
    """What is made of rows and says another thing than the same of the repetition."""
    import pyarrow.parquet as pq

    summaries = [read_summary(place) for place in (path, again)]
    one, other = (summary["axes"] for summary in summaries)
    shared = one.keys() & other.keys()
    keys = ("mean", "n", "ci_low", "ci_high")
    differ = any(one[n].get(key) != other[n].get(key) for n in shared for key in keys)
    said = [SUMMARY] if differ else []
    if gate and summaries[0]["gate"] != summaries[1]["gate"]:
        said.append(f"{SUMMARY}, gate")
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


def _keyed(rows: Sequence[Row]) -> Iterator[tuple[Row, dict[str, Any]]]:
    return zip(in_order(rows), measured(rows), strict=True)


def _named(key: RowKey) -> str:
    case, arm, trial, repeat, turn = key
    return f"{case} {arm} trial {trial} repeat {repeat} turn {turn}"
