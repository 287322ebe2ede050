"""One comparison of a memory with its baseline, as three outcomes.

The benchmark runs in a process of its own: whatever the caller imported or patched, the run is that
of the command line, and a caller that only collects tests imports nothing heavy.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

Status = Literal["passed", "worse", "undecided"]
_DONE: Final = (0, 3)
"""Statuses of `decisionbench` after which there is a verdict: no gate failed, a gate failed."""
_HOME: Final = str(Path(__file__).resolve().parents[1])
_QUIET: Final = ("tracking=none", "report=false")


class NoVerdict(Exception):
    """The comparison could not be made: a mistake in its words, no baseline, a run that failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a gate found.

    status : `passed`; `worse`: on some axis the whole interval lies beyond the margin; `undecided`:
        neither is shown. reason : one line for people. run : the candidate's run directory.
    """

    status: Status
    reason: str
    run: Path

    @property
    def told(self) -> str:
        """The verdict in one line."""
        return f"memory gate: {self.status}. {self.reason}"


def judge(
    overrides: Sequence[str],
    *,
    baseline: str,
    axes: Sequence[str],
    margin: float,
    run: Path,
    cwd: Path | None = None,
) -> Verdict:
    """Run the candidate and compare it with its baseline.

    Args:
        overrides: what `decisionbench` is given of the candidate: domain, arch, budget, n_cases.
        baseline: an option of `arch`, run first if need be, or a finished run's directory.
        axes: the gated axes, each in [0, 1]; none for those of the gate's default.
        margin: by how much the candidate may be worse on each of them, above 0 and below 1.
        run: directory of the candidate's run; a run that is there is replaced. Runs of the
            baseline are made beside it and used again.
        cwd: where the command is started; the current directory.

    Raises:
        NoVerdict: nothing was compared; its message is what the command said.
    """
    given = [f"gate.baseline={baseline}", f"gate.margin={margin}"]
    given += [f"gate.axes=[{','.join(axes)}]"] if axes else []
    measure([*overrides, *given], run=run, cwd=cwd)
    from framework.text.reading import read_json  # nothing of it where tests are only collected

    try:
        gate = read_json((run / "summary.json").read_text(encoding="utf-8"))["gate"]
    except ValueError as error:
        raise NoVerdict(f"{run / 'summary.json'}: {error}") from None
    if gate["passed"] is None:
        raise NoVerdict(gate["reason"])
    return Verdict(status=_status(gate), reason=gate["reason"], run=run)


def measure(
    overrides: Sequence[str], *, run: Path, cwd: Path | None = None, path: str | None = None
) -> None:
    """Run `decisionbench` into a directory; a run that is there is replaced.

    It is removed once the new one has begun, and stays where that could not begin. Raises NoVerdict
    where the run fails, or where the directory is there and holds anything but a run.

    path : the run's PYTHONPATH; None for that of this process.
    """
    words = (*overrides, *_QUIET, f"hydra.run.dir={run.resolve()}")
    with _replacing(run):
        done = _called("framework", *words, cwd=cwd, path=path)
    if done.returncode not in _DONE:
        raise NoVerdict(_last(done.stderr) or f"decisionbench ended with {done.returncode}")


def check_replaceable(run: Path) -> None:
    """Raise NoVerdict where something is at `run` that is not a run of the benchmark alone."""
    if run.is_symlink() or (run.exists() and not run.is_dir()):
        raise NoVerdict(f"{run} exists already and is no directory; choose another one")
    if run.is_dir() and any(run.iterdir()):
        found = _called("decisionbench_gate.place", str(run.absolute()))
        if found.returncode:
            raise NoVerdict(_last(found.stderr))


@contextmanager
def _replacing(run: Path) -> Iterator[None]:
    """Inside, `run` is free. What was there is gone afterwards if the block made a new one."""
    aside = run.with_name(f".{run.name}.replaced")
    for place in (run, aside):  # the second is of a process that was killed inside
        check_replaceable(place)
    if run.exists():
        shutil.rmtree(aside, ignore_errors=True)
        run.rename(aside)
    try:
        yield
    finally:
        if run.exists():
            shutil.rmtree(aside, ignore_errors=True)
        elif aside.exists():
            aside.rename(run)


def _called(
    module: str, *words: str, cwd: Path | None = None, path: str | None = None
) -> subprocess.CompletedProcess[str]:
    """A module of ours as a command.

    A folder of the caller's that is called like one of our packages is not imported: neither that
    of the current directory (-P) nor one on the path.
    """
    given = os.environ.get("PYTHONPATH") if path is None else path
    path = os.pathsep.join(filter(None, (_HOME, given)))
    return subprocess.run(
        [sys.executable, "-P", "-m", module, *words],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def _status(gate: dict[str, Any]) -> Status:
    if gate["passed"]:
        return "passed"
    worse = any(finding["conclusion"] == "failed" for finding in gate["findings"])
    return "worse" if worse else "undecided"


def _last(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    mistakes = [line for line in lines if line.startswith("error: ")]
    return (mistakes or lines or [""])[-1]
