"""Ratios to peers in the same process, their growth over 10x steps, and where a run's time goes.

    python -m benchmarks.performance [--into PAGE#TABLE ...] [--record FILE [--renew]] [NAME ...]

Ours and the peer do the same work in turn, round by round; which begins changes with each round.
A figure is CPU time of the process (all threads, of BLAS one), so that who else uses the machine
counts little; the ratio of a round is the peer's to ours, above 1 where ours is faster, and the
median of the rounds is reported with their range. A peer that is not installed has no row.

--record keeps, of each processor, the highest ratio that was ever measured on it, so that a loss in
small steps adds up; --renew replaces this processor's ratios by those measured now.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

import numpy as np
from threadpoolctl import threadpool_limits

import run as command
from benchmarks._peers import COMPARISONS, Comparison
from framework.reporting.markdown import put_between_markers
from framework.store.state import load_finished

RECORD: Final = Path(__file__).resolve().parent / "recorded" / "performance.json"
PHASES: Final = {
    "ingest_s": "memory takes the history in",
    "recall_s": "recall, packing",
    "answer_s": "reader and model",
    "control_and_score_s": "axes and judge",
}


@dataclass(frozen=True)
class Measured:
    """One size: median CPU milliseconds a unit, the median ratio and the range of the rounds'."""

    name: str
    ours: float
    peer: float
    peer_name: str
    ratio: float
    least: float
    most: float
    unit: str
    n: int


def measure(comparison: Comparison, n: int) -> Measured:
    """Measure one size, round by round; the first round is not counted."""
    mine, theirs = [], []
    # Threads of BLAS that wait for work count as CPU time: more of it the busier the machine is.
    with threadpool_limits(1, user_api="blas"), tempfile.TemporaryDirectory() as scratch:
        sides = comparison.make(n, Path(scratch))
        for number in range(comparison.rounds + 1):
            taken = {}
            for side in (0, 1) if number % 2 else (1, 0):
                start = time.process_time()
                units = sides[side]()
                taken[side] = 1000 * (time.process_time() - start) / units
            if number:
                mine.append(taken[0])
                theirs.append(taken[1])
    ratios = [theirs[i] / mine[i] for i in range(len(mine))]
    return Measured(
        name=comparison.name,
        ours=statistics.median(mine),
        peer=statistics.median(theirs),
        peer_name=comparison.peer_named,
        ratio=statistics.median(ratios),
        least=min(ratios),
        most=max(ratios),
        unit=comparison.unit,
        n=n,
    )


def phases(arch: str, cases: int) -> Mapping[str, float]:
    """Milliseconds a case of a run on loans, by what they went to."""
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch) / "run"
        words_ = ["domain=loan", f"arch={arch}", "budget=moderate", f"n_cases={cases}"]
        start = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            status = command.main(
                [*words_, "tracking=none", "report=false", f"hydra.run.dir={place}"]
            )
        whole = time.perf_counter() - start
        assert status == 0
        rows = load_finished(place).rows
    found = {said: sum(row.timing[name] for row in rows) for name, said in PHASES.items()}
    rest = whole - sum(found.values())
    found["the rest: composing, generating cases, what was retained, rows, journal, summary"] = rest
    return {said: 1000 * seconds / cases for said, seconds in found.items()}


def ratios_table(measured: Sequence[Measured]) -> str:
    """The ratios as a Markdown table."""
    said = {one.name: one for one in COMPARISONS}
    lines = [
        "| work | peer | n | ours, CPU ms | peer, CPU ms | ratio | of the rounds | growth |",
        "|---|---|---|---|---|---|---|---|",
    ]
    before: Measured | None = None
    for m in measured:
        grown = f"{m.ours / before.ours:.2f}" if before and before.name == m.name else "–"
        unit = f"{'an' if m.unit == 'event' else 'a'} {m.unit}"
        lines.append(
            f"| {said[m.name].work} | {m.peer_name} | {m.n:,} | {m.ours:.3g} {unit} "
            f"| {m.peer:.3g} | {m.ratio:.3g} | {m.least:.3g} to {m.most:.3g} | {grown} |"
        )
        before = m
    return "\n".join(lines)


def phases_table(cases: int = 200) -> str:
    """Where the time of a run goes, as a Markdown table."""
    archs = ("bm25", "typed_graph", "summ_only")
    found = {arch: phases(arch, cases) for arch in archs}
    lines = [f"| ms a case of {cases} | {' | '.join(archs)} |", "|---|---|---|---|"]
    for said in found[archs[0]]:
        figures = " | ".join(
            f"{found[a][said]:.2f} ({found[a][said] / sum(found[a].values()):.0%})" for a in archs
        )
        lines.append(f"| {said} | {figures} |")
    return "\n".join(lines)


def recorded(path: Path = RECORD) -> Mapping[str, float]:
    """The ratio of each comparison at its smaller size: this processor's own, else the lowest.

    A ratio of array code to a plain loop is no property of the code alone: bm25's is 396 on one
    processor and 229 on another.
    """
    kept: dict[str, dict[str, float]] = json.loads(path.read_text(encoding="utf-8"))
    found: dict[str, float] = {}
    for ratios in kept.values():
        for name, ratio in ratios.items():
            found[name] = min(ratio, found.get(name, ratio))
    return found | kept.get(processor(), {})


def record(measured: Sequence[Measured], path: Path, *, renew: bool = False) -> None:
    """Put the ratios of the smaller sizes on record for this processor; others' stay.

    A higher one that is there stays too, or slow steps down would never be a fall; unless `renew`.
    """
    small = {one.name: one.sizes[0] for one in COMPARISONS}
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    own = kept.setdefault(processor(), {})
    for m in measured:
        if m.n == small[m.name]:
            ratio = round(m.ratio, 3)
            own[m.name] = ratio if renew else max(ratio, own.get(m.name, ratio))
    path.write_text(json.dumps(kept, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def processor() -> str:
    """The processor's name for itself."""
    place = Path("/proc/cpuinfo")
    lines = place.read_text().splitlines() if place.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.machine()


def machine() -> str:
    """The machine and the versions that figures are of."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return (
        f"{os.cpu_count()} cores ({processor()}), Linux, Python {platform.python_version()}, numpy "
        f"{np.__version__}, scipy {version('scipy')}; load averages when it ended: {load}."
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what is named, or all; write the tables and record the ratios where asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    known = [one.name for one in COMPARISONS]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}")
    parser.add_argument(
        "--into", action="append", default=[], help="PAGE#ratios, PAGE#phases: tables to write"
    )
    parser.add_argument("--record", type=Path, help="the file for this machine's ratios")
    parser.add_argument("--renew", action="store_true", help="put lower ratios on record, too")
    given = parser.parse_args(argv)
    if unknown := set(given.names) - set(known):
        parser.error(f"no comparison {min(unknown)}; there are {', '.join(known)}")
    measured = []
    for one in COMPARISONS:
        if one.name not in (given.names or known):
            continue
        if one.absent:
            print(f"{one.name}: {one.peer} is not installed", flush=True)
            continue
        for n in one.sizes:
            measured.append(measure(one, n))
            m = measured[-1]
            figures = f"ours {m.ours:.4g} ms, peer {m.peer:.4g} ms, ratio {m.ratio:.3g}"
            print(f"{m.name} {n:,}: {figures} ({m.least:.3g} to {m.most:.3g})", flush=True)
    if given.record is not None:
        record(measured, given.record, renew=given.renew)
    for place in given.into:
        ratios = place.endswith("#ratios")
        table = f"{machine()}\n\n{ratios_table(measured)}" if ratios else phases_table()
        put_between_markers(place, table)
    print(json.dumps([asdict(m) for m in measured]))


if __name__ == "__main__":
    main()
