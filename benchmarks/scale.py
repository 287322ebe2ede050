"""What a long run takes: time, memory and disk, at sizes tenfold apart.

    python -m benchmarks.scale [--again] [--into PAGE#TABLE] [--set WORD ...] [--in FOLDER] [CASES ...]

Each size is a fresh process, `decisionbench domain=loan protocol=retrieve arch=bm25 n_cases=CASES`: generated cases,
one history each, no model. CPU time and peak memory are that process's; disk is all of its run directory. Then
`decisionbench verify` reads the whole run again. 1,000 and 10,000 cases where none are named. It ends
with status 1 where a run takes more than 1.5 GB, from 10,000 cases on more than 10 KB a case on disk,
or 100,000 cases more than 1.1 times the memory of 10,000, or a case of them 1.5 times the CPU time,
or, with `--set shards=2`, more than 25 minutes (minutes of a busy machine are not those of the run).
--set adds words of the command line, `domain.tokens=2000` for short histories. --in keeps the runs
in a folder: one that was cut off goes on there, and what its processes took is added up.

--again measures what `resume` reads of a run that was cut off before it goes on: its state, then,
with the journal held, its files and what is open as a check, and going past the cases that are
there, by their ids. It ends with status 1 where more bytes of closed segments are read than a segment has. Such runs are made of 1,000 cases that are measured, written again under
other names until there are as many as are asked for: 10,000 and 100,000. In what is written, and so
in what is read, they are as long runs are. Beside it stands what it takes to go through the lines
of the journal alone.
"""  # noqa: E501

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Final

from framework.config import stored_plan
from framework.engine.compose import composer
from framework.engine.domains import open_domain
from framework.errors import UserError
from framework.reporting.markdown import put_between_markers
from framework.rows import KEY
from framework.store import JOURNAL, read
from framework.store.answers import answer_records
from framework.store.directory import RunDirectory
from framework.store.segments import ROWS, SEGMENT_BYTES, closed_bytes, n_closed, segment
from framework.store.state import load_finished, load_state
from framework.text.canonical import files_below
from framework.text.counting import counted

UNCOUNTED: Final = -1_000
"""The status of a process that was begun and whose end nobody saw."""
RUN: Final = ("domain=loan", "protocol=retrieve", "arch=bm25", "tracking=none", "report=false")
SIZES: Final = (1_000, 10_000)
MOST_MIB: Final = 1_430
"""Peak memory of a run of any size: 1.5 GB."""
MOST_KB: Final = 10.0
"""On disk a case, from `FROM` cases on: of fewer, what is written once a run counts too much."""
MOST_MINUTES: Final = 25
"""From the command to the figures of 100,000 cases in two shards, on two cores."""
SHARDED: Final = "shards=2"
MOST_GROWTH: Final = 1.1
"""Peak memory of 100,000 cases to that of `FROM`."""
MOST_SLOWER: Final = 1.5
"""CPU time a case of 100,000 to that of `FROM`, on one machine: seconds alone are the machine's."""
FROM: Final = 10_000
SIZES_AGAIN: Final = (10_000, 100_000)
_OWN: Final = ("key", "error")
"""What a run writes into each record by itself."""
_MEASURED: Final = """
import json, os, signal, subprocess, sys, time
signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C ends the process, which is then counted
begin = time.monotonic()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
took = {"cpu": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss / 1024}
took["wall"] = time.monotonic() - begin
print(json.dumps({**took, "status": os.waitstatus_to_exitcode(status)}))
"""
"""Starts a process and prints what it took. The kernel counts what the starter held as its child's
peak memory too, so a small one starts it."""
_ROOT: Final = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """What a process took: seconds of CPU, and its most memory in MiB; the status it ended with.

    wall : seconds from its begin to its end.
    """

    cpu: float
    peak: float
    wall: float = 0.0
    status: int = 0

    def check(self) -> None:
        """Raise RuntimeError where it failed."""
        if self.status:
            raise RuntimeError(f"ended with status {self.status} after {self.cpu:.0f} s of CPU")


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """A run of so many cases and what it took, in how many processes; disk in bytes.

    uncounted : processes that ended together with what was to count their seconds.
    """

    cases: int
    run: Took
    processes: int = 1
    uncounted: int = 0
    verify: Took
    disk: int
    segments: int


@dataclass(slots=True)
class Kept:
    """What the processes of a run took that is kept in a folder, and with which words it began."""

    file: Path
    words: list[str]
    parts: list[Took]

    @classmethod
    def read(cls, file: Path, words: Sequence[str]) -> Kept:
        """What is there. Raises UserError where the run was begun with other words."""
        if not file.exists():
            return cls(file, list(words), [])
        found = json.loads(file.read_text())
        if found["words"] != list(words):
            raise UserError(f"{file} is of --set {found['words']}: remove it and its run first")
        return cls(file, found["words"], [Took(**part) for part in found["parts"]])

    def add(self, part: Took) -> None:
        """Keep what a process took; it takes the place of one that was begun and not counted."""
        if self.parts and self.parts[-1].status == UNCOUNTED and part.status != UNCOUNTED:
            self.parts.pop()
        self.parts.append(part)
        plain = {"words": self.words, "parts": [asdict(one) for one in self.parts]}
        self.file.write_text(json.dumps(plain))


def measure(cases: int, words: Sequence[str] = (), folder: Path | None = None) -> Size:
    """Run so many cases and verify them. Raises RuntimeError where either fails.

    words : of the command line, besides `RUN`. folder : where the run is kept, and goes on.
    """
    with tempfile.TemporaryDirectory() as scratch:
        place = (Path(scratch) if folder is None else folder).resolve()
        place.mkdir(parents=True, exist_ok=True)
        directory = place / "runs" / f"scale-{cases}"
        new = (*RUN, *words, f"n_cases={cases}", f"run_name={directory.name}")
        kept = Kept.read(place / f"scale-{cases}.json", words)
        if not kept.parts or kept.parts[-1].status:
            # Written before: who dies together with the run leaves a part that nobody counted.
            kept.add(Took(cpu=0, peak=0, status=UNCOUNTED))
            on = (f"resume={directory}",) if directory.exists() else new
            kept.add(ran(str(place), *on))
            kept.parts[-1].check()
        parts = [part for part in kept.parts if part.status != UNCOUNTED]
        verify = took(str(place), "verify", str(directory))
        assert len(load_finished(directory).rows) == cases
        files = dict(files_below(directory))
        disk = sum(path.stat().st_size for path in files.values())
        return Size(
            cases=cases,
            run=Took(
                cpu=sum(part.cpu for part in parts),
                peak=max(part.peak for part in parts),
                wall=sum(part.wall for part in parts),
            ),
            processes=len(parts),
            uncounted=len(kept.parts) - len(parts),
            verify=verify,
            disk=disk,
            segments=sum(name.startswith("segments/journal-") for name in files),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """What reading a run of so many cases takes when it is resumed, and its closed segments.

    state, check : seconds of CPU of the two parts. passed : of going past its cases, which are not
    made again. lines : of going through its journal alone. closed, read : MB of the files of closed
    segments, and of them those that hold the keys of rows.
    """

    cases: int
    segments: int
    closed: float
    read: float
    state: float
    check: float
    passed: float
    lines: float
    peak: float

    @property
    def whole(self) -> float:
        """Seconds of CPU before the first new case."""
        return self.state + self.check + self.passed


def measure_again(cases: int, first: int = 1_000) -> Again:
    """Make a run of so many cases that was cut off, and read it as `resume` does.

    first : cases that are measured. Raises RuntimeError where a process fails.
    """
    with tempfile.TemporaryDirectory() as scratch:
        runs = Path(scratch) / "runs"
        took(scratch, *RUN, f"n_cases={first}", "run_name=first")
        grown(runs / "first", runs / "long", cases)
        code = "import sys; from benchmarks.scale import read_again; read_again(*sys.argv[1:])"
        used = took(scratch, "-c", code, str(runs / "long"), f"{scratch}/seconds.json")
        seconds = json.loads(Path(scratch, "seconds.json").read_text())
        number = n_closed(runs / "long" / JOURNAL)
        closed = closed_bytes(runs / "long" / JOURNAL, number) / 1e6
        read = sum(keys_bytes(segment(runs / "long" / ROWS, n)) for n in range(1, number + 1)) / 1e6
        return Again(
            cases=cases, segments=number, closed=closed, read=read, peak=used.peak, **seconds
        )


def keys_bytes(path: Path) -> int:
    """How many bytes of a Parquet file hold its footer and the keys and errors of its rows."""
    import pyarrow.parquet as pq

    found = pq.ParquetFile(path).metadata
    groups = [found.row_group(n) for n in range(found.num_row_groups)]
    columns = [group.column(n) for group in groups for n in range(group.num_columns)]
    own = [column for column in columns if column.path_in_schema in (*KEY, "error")]
    return int(found.serialized_size + sum(column.total_compressed_size for column in own))


def grown(first: Path, path: Path, cases: int) -> None:
    """Write a run of so many cases that is not finished, from the rows and records of another."""
    state = load_finished(first)
    rows, records = list(state.rows), list(answer_records(first))
    run = RunDirectory.create(path, state.started, {})
    for number in range(cases):
        turn, at = divmod(number, len(rows))
        row = replace(rows[at], case_id=f"{rows[at].case_id}-{turn}")
        record = {name: value for name, value in records[at].items() if name not in _OWN}
        run.add(row, record)
    run.close()


def read_again(path: str, told: str) -> None:
    """Read a run as `resume` does before it goes on; write its seconds of CPU into a JSON file."""
    run = Path(path)
    marks = [time.process_time()]
    state = load_state(run)
    marks.append(time.process_time())
    opened = RunDirectory.reopen(run, known=state)
    opened.close()
    marks.append(time.process_time())
    with composer():
        plan = stored_plan(state)
        cases = open_domain(plan).cases(opened.n_rows, plan.top.seed)
    marks.append(time.process_time())
    assert all(case.id for case in cases)
    marks.append(time.process_time())
    assert sum(event.type == "case.finished" for event in read(run / JOURNAL)) == opened.n_rows
    marks.append(time.process_time())
    parts = [end - begin for begin, end in pairwise(marks)]
    named = dict(zip(("state", "check", "opened", "passed", "lines"), parts, strict=True))
    del named["opened"]  # the domain, as at every start
    Path(told).write_text(json.dumps(named))


def took(place: str, *argv: str) -> Took:
    """What `decisionbench` took with these words, or Python with `-c`. Raises RuntimeError."""
    found = ran(place, *argv)
    found.check()
    return found


def ran(place: str, *argv: str) -> Took:
    """The same, with the status for whoever asks; Ctrl-C ends what is measured, not its caller."""
    command = [sys.executable, str(_ROOT / "run.py"), *argv]
    if argv[0] == "verify":
        command[1:2] = ["-m", "framework"]
    elif argv[0] == "-c":
        del command[1]
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        done = subprocess.run(
            [sys.executable, "-S", "-c", _MEASURED, *command],
            cwd=place,
            env={**os.environ, "PYTHONPATH": str(_ROOT)},
            stdout=subprocess.PIPE,
            check=True,
        )
    finally:
        signal.signal(signal.SIGINT, before)
    return Took(**json.loads(done.stdout))


def table(sizes: Sequence[Size], words: Sequence[str] = ()) -> str:
    """The sizes as a Markdown table, with the words that were set above it.

    In shards with minutes from begin to end: they are the machine's, and what shards are for.
    """
    said = [f"With `{' '.join(words)}`:", ""] if words else []
    lines = [
        *said,
        f"| cases |{' minutes |' * (SHARDED in words)} CPU, minutes | CPU, ms a case "
        "| peak memory, MiB | disk, KB a case | segments | verify: CPU, s | verify: peak, MiB |",
        "|" + "---|" * (8 + (SHARDED in words)),
    ]
    for s in sizes:
        more = "> " * bool(s.uncounted)
        minutes = f"| {more}{s.run.wall / 60:.1f} " * (SHARDED in words)
        lines.append(
            f"| {s.cases:,} {minutes}| {more}{s.run.cpu / 60:.1f}{_in(s)} "
            f"| {1000 * s.run.cpu / s.cases:.1f} "
            f"| {s.run.peak:.0f} | {s.disk / s.cases / 1000:.2f} | {s.segments} "
            f"| {s.verify.cpu:.1f} | {s.verify.peak:.0f} |"
        )
    return "\n".join(lines) + "\n"


def beyond(sizes: Sequence[Size], words: Sequence[str] = ()) -> list[str]:
    """In what the sizes are beyond the limits, a line each."""
    said = []
    for size in sizes:
        sharded = SHARDED in words and size.cases == 10 * FROM
        if sharded and (minutes := size.run.wall / 60) > MOST_MINUTES:
            said.append(f"{size.cases:,} cases: {minutes:.1f} minutes, {MOST_MINUTES} at most")
        if size.run.peak > MOST_MIB:
            said.append(f"{size.cases:,} cases: {size.run.peak:.0f} MiB, {MOST_MIB:,} at most")
        if size.cases >= FROM and (each := size.disk / size.cases / 1000) > MOST_KB:
            said.append(f"{size.cases:,} cases: {each:.2f} KB a case, {MOST_KB:g} at most")
    by = {size.cases: size for size in sizes}
    if {FROM, 10 * FROM} <= by.keys():
        few, many = by[FROM], by[10 * FROM]
        if (factor := many.run.peak / few.run.peak) > MOST_GROWTH:
            told = f"{factor:.2f} times the memory of {FROM:,}, {MOST_GROWTH:g} at most"
            said.append(f"{10 * FROM:,} cases: {told}")
        if (factor := many.run.cpu / few.run.cpu / 10) > MOST_SLOWER:
            told = f"{factor:.2f} times the CPU time a case of {FROM:,}, {MOST_SLOWER:g} at most"
            said.append(f"{10 * FROM:,} cases: {told}")
    return said


def read_too_much(found: Sequence[Again]) -> list[str]:
    """Of which resumed runs more of closed segments is read than one segment has, a line each."""
    most = SEGMENT_BYTES / 1e6
    much = [again for again in found if again.read > most]
    return [f"{a.cases:,} cases: {a.read:.1f} MB of segments, {most:.1f} at most" for a in much]


def _in(size: Size) -> str:
    n = size.processes + size.uncounted
    return f", cut off and resumed {counted(n - 1, 'time')}" if n > 1 else ""


def table_again(found: Sequence[Again]) -> str:
    """What resuming reads as a Markdown table."""
    lines = [
        "| cases | segments | their MB | read of them, MB | CPU, s | of it: state | check "
        "| past the cases | CPU, ms a case | peak memory, MiB "
        "| the journal's lines alone: CPU, s |",
        "|" + "---|" * 11,
    ]
    lines += [
        f"| {f.cases:,} | {f.segments} | {f.closed:.1f} | {f.read:.2f} "
        f"| {f.whole:.1f} | {f.state:.1f} | {f.check:.1f} "
        f"| {f.passed:.1f} | {1000 * f.whole / f.cases:.2f} | {f.peak:.0f} | {f.lines:.1f} |"
        for f in found
    ]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print the table, and put it into a page. 1 where a size is beyond a limit."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale")
    parser.add_argument("--into", help="PAGE#TABLE to write")
    parser.add_argument("--again", action="store_true", help="measure what a resume reads")
    parser.add_argument("--set", action="append", default=[], metavar="WORD", help="of the command")
    parser.add_argument("--in", dest="folder", type=Path, help="keep the runs there, and go on")
    parser.add_argument("cases", nargs="*", type=int, default=[])
    given = parser.parse_args(argv)
    try:
        text, said = _measured(given)
    except UserError as error:
        parser.error(str(error))
    except RuntimeError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    print(text)
    if given.into:
        put_between_markers(given.into, text)
    for line in said:
        print(f"beyond a limit: {line}", file=sys.stderr)
    return 1 if said else 0


def _measured(given: argparse.Namespace) -> tuple[str, list[str]]:
    """The table that is asked for, and what is beyond a limit."""
    if given.again:
        resumed = [measure_again(n) for n in given.cases or SIZES_AGAIN]
        return table_again(resumed), read_too_much(resumed)
    found = []
    for cases in given.cases or SIZES:
        found.append(measure(cases, given.set, given.folder))
        print(f"{cases:,} cases: {found[-1].run.cpu:.0f} s of CPU", file=sys.stderr, flush=True)
    return table(found, given.set), beyond(found, given.set)


if __name__ == "__main__":
    raise SystemExit(main())
