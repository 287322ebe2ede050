"""What a long run takes: time, memory and disk, at sizes tenfold apart.

    python -m benchmarks.scale [--into PAGE#TABLE] [CASES ...]

Each size is a fresh process, `decisionbench domain=loan protocol=retrieve arch=bm25 n_cases=CASES`: generated cases,
one history each, no model. CPU time and peak memory are that process's; disk is all of its run directory. Then
`decisionbench verify` reads the whole run again. 1,000 and 10,000 cases where none are named.
"""  # noqa: E501

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from framework.reporting.markdown import put_between_markers
from framework.store.directory import load_finished
from framework.text.canonical import files_below

RUN: Final = ("domain=loan", "protocol=retrieve", "arch=bm25", "tracking=none", "report=false")
SIZES: Final = (1_000, 10_000)
_ROOT: Final = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """What a process took: seconds of CPU, and its most memory in MiB."""

    cpu: float
    peak: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """A run of so many cases and what it took; disk in bytes."""

    cases: int
    run: Took
    verify: Took
    disk: int
    segments: int


def measure(cases: int) -> Size:
    """Run so many cases and verify them. Raises CalledProcessError where either fails."""
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch) / "runs" / "scale"
        run = _took(scratch, *RUN, f"n_cases={cases}", "run_name=scale")
        verify = _took(scratch, "verify", str(directory))
        assert len(load_finished(directory).rows) == cases
        files = dict(files_below(directory))
        disk = sum(path.stat().st_size for path in files.values())
        return Size(
            cases=cases,
            run=run,
            verify=verify,
            disk=disk,
            segments=sum(name.startswith("segments/journal-") for name in files),
        )


def _took(place: str, *argv: str) -> Took:
    command = [sys.executable, str(_ROOT / "run.py"), *argv]
    if argv[0] == "verify":
        command[1:2] = ["-m", "framework"]
    process = subprocess.Popen(
        command, cwd=place, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(_ROOT)}
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Took(cpu=usage.ru_utime + usage.ru_stime, peak=usage.ru_maxrss / 1024)


def table(sizes: Sequence[Size]) -> str:
    """The sizes as a Markdown table."""
    lines = [
        "| cases | CPU, minutes | CPU, ms a case | peak memory, MiB | disk, KB a case | segments "
        "| verify: CPU, s | verify: peak, MiB |",
        "|" + "---|" * 8,
    ]
    lines += [
        f"| {s.cases:,} | {s.run.cpu / 60:.1f} | {1000 * s.run.cpu / s.cases:.1f} "
        f"| {s.run.peak:.0f} | {s.disk / s.cases / 1000:.2f} | {s.segments} "
        f"| {s.verify.cpu:.1f} | {s.verify.peak:.0f} |"
        for s in sizes
    ]
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print the table, and put it into a page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale")
    parser.add_argument("--into", help="PAGE#TABLE to write")
    parser.add_argument("cases", nargs="*", type=int, default=[])
    given = parser.parse_args(argv)
    found = []
    for cases in given.cases or SIZES:
        found.append(measure(cases))
        print(f"{cases:,} cases: {found[-1].run.cpu:.0f} s of CPU", file=sys.stderr, flush=True)
    text = table(found)
    print(text, end="")
    if given.into:
        put_between_markers(given.into, text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
