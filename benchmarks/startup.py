"""Seconds until a command is done: `run.py --help`, a no-op run, `decisionbench --help`.

Each is a fresh process, the first of which is not counted; the figure is the median, and a limit is
one of CPU time. The peer is `python -c 'import hydra'`, timed in turn with them: what no Hydra
program can be faster than. The no-op run is one case of the loan domain; it is timed with MLflow
(into an empty folder, the first run creating the database aside) and with tracking=none. What
Python compiles is kept in a folder of its own, whatever PYTHONDONTWRITEBYTECODE says.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks._measure import result

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 5
RUN = str(ROOT / "run.py")
NO_OP = (RUN, "domain=loan", "arch=none", "n_cases=1")


@dataclass(kw_only=True)
class Command:
    """What is run, how long it may take, and what it took."""

    name: str
    argv: tuple[str, ...]
    limit: float | None = None
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def measure(self, cwd: Path) -> None:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, *self.argv],
            cwd=cwd,
            check=True,
            stdout=subprocess.DEVNULL,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "PYTHONDONTWRITEBYTECODE": "",
                "PYTHONPYCACHEPREFIX": str(cwd / "compiled"),
            },
        )
        self.wall.append(time.perf_counter() - start)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.cpu.append(spent)


def main() -> None:
    commands = [
        Command(name="run.py --help", argv=(RUN, "--help"), limit=1.0),
        Command(name="no-op run, mlflow", argv=(*NO_OP, "tracking=mlflow"), limit=2.5),
        Command(name="no-op run, no tracking", argv=(*NO_OP, "tracking=none")),
        Command(name="framework --help", argv=("-m", "framework", "--help"), limit=0.3),
    ]
    peer = Command(name="import hydra", argv=("-c", "import hydra"))
    with tempfile.TemporaryDirectory() as scratch:
        for command in (*commands, peer):
            command.measure(Path(scratch))
            command.wall.clear()
            command.cpu.clear()
        for _ in range(ROUNDS):
            for command in (*commands, peer):
                command.measure(Path(scratch))
    print(f"median of {ROUNDS} fresh processes, seconds")
    print(f"  {'command':<26} {'wall':>7} {'CPU':>7} {'limit':>7}")
    for command in (*commands, peer):
        wall, cpu = statistics.median(command.wall), statistics.median(command.cpu)
        limit = "" if command.limit is None else f"{command.limit:7.1f}"
        verdict = "" if command.limit is None else "  met" if cpu < command.limit else "  MISSED"
        print(f"  {command.name:<26} {wall:7.2f} {cpu:7.2f} {limit}{verdict}")
    base = statistics.median(peer.cpu)
    results = []
    for command in commands:
        cpu = statistics.median(command.cpu)
        results.append(
            result(f"startup: {command.name}", round(cpu, 3), round(base, 3),
                   "python -c 'import hydra'", "s CPU", ROUNDS, ratio=round(cpu / base, 2))
        )  # fmt: skip
    print(json.dumps(results))


if __name__ == "__main__":
    main()
