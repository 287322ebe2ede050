"""One trial: the command in a process of its own, bounded in time and memory, and what it left."""

from __future__ import annotations

import ctypes
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
QUESTIONS: Final = ROOT / "tests" / "fixtures" / "hotpotqa" / "questions.json"
MARKER: Final = "sk-chaos-marker-0123456789abcdef"
"""The value of every key in a trial: it may stand in no file, message or page."""
SECONDS: Final = 60.0
"""After which a command hangs, on a machine that is busy."""
BYTES: Final = 3 * 2**30
"""Of memory that a command may map; its libraries alone map about one."""
RUN: Final = (
    "domain=hotpotqa",
    f"domain.path={QUESTIONS}",
    "domain.unknown_file=true",
    "tracking=none",
    "hydra.run.dir=r",
)
_MAIN: Final = "\nimport sys\nfrom framework.cli import main\nsys.exit(main(sys.argv[1:]))"
_PLACES: Final = (
    (re.compile(r"https?://[\w.:\[\]-]+"), "URL"),
    (re.compile(r"(?<![\w.])/[\w./-]+"), "PATH"),
    (re.compile(r"\b[0-9a-f]{16,}\b|(?<=-)(?=\d*[a-f])[0-9a-f]{8,}\b"), "DIGEST"),
    # Which job of a sweep comes first varies.
    (re.compile(r"(?<=file_true-)\w+(?=-tight-)"), "ARM"),
    (re.compile(r"\d[\d,.]*\d|\d"), "N"),
    (re.compile(r"\bN (case|call|token|row|event|run|job)\b"), r"N \1s"),  # of any number
)
_LONGEST: Final = 200


@dataclass(slots=True)
class Place:
    """An empty directory that one trial has to itself. `said`: all that its commands printed."""

    path: Path
    said: list[str] = field(default_factory=list)

    def start(
        self,
        *argv: str,
        env: Mapping[str, str] | None = None,
        file_bytes: int | None = None,
        first: str = "",
        may_write: bool = True,
    ) -> subprocess.Popen[str]:
        """Begin a command of `decisionbench`: a run, or what stands beside it.

        file_bytes : the most that any file may grow to, as on a disk that is full. first : code
            that runs before it. may_write : False holds root, too, to what files' modes allow.
        """
        kept = {k: v for k, v in os.environ.items() if not k.endswith(("_API_KEY", "_URI"))}
        keys = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY"), MARKER)
        return subprocess.Popen(
            [sys.executable, "-c", f"{first}{_MAIN}", *argv],
            cwd=self.path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env={**kept, **keys, "PYTHONPATH": str(ROOT), **(env or {})},
            preexec_fn=lambda: _bound(file_bytes, may_write),
            start_new_session=True,
        )

    def ended(self, process: subprocess.Popen[str], seconds: float = SECONDS) -> str:
        """The outcome of a command: its status and what it said last, without what varies."""
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            self.said += process.communicate()
            return "HANGS"
        self.said += (out, err)
        if "Traceback (most recent call last)" in err:
            return f"TRACEBACK, {_plain(err.splitlines()[-1])}"
        lines = [line for line in err.splitlines() if line.strip()]
        return f"{process.returncode}" + (f": {_plain(lines[-1])}" if lines else "")

    def run(self, *argv: str, env: Mapping[str, str] | None = None) -> str:
        """The outcome of a command."""
        return self.ended(self.start(*argv, env=env))

    def ask(self, url: str, *argv: str, provider: str = "openai") -> str:
        """The outcome of a run over two questions that asks a server."""
        return self.run(*asking(url, provider), *argv)

    def waits(self, process: subprocess.Popen[str], true: Callable[[], bool]) -> None:
        """Wait until something is so, or the process has ended."""
        until = time.monotonic() + SECONDS
        while not true() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.05)

    def leaks(self) -> list[str]:
        """The files, names and messages that hold the marker."""
        found = [str(p.relative_to(self.path)) for p in self.path.rglob("*") if _holds(p)]
        return found + ["what was printed"] * any(MARKER in text for text in self.said)


def asking(url: str, provider: str = "openai") -> Sequence[str]:
    """The words of a run over two questions that asks a server, each once."""
    path = "/v1" if provider == "openai" else ""
    return (
        *RUN, f"model={provider}", f"model.base_url={url}{path}", "model.retries=1", "n_cases=2",
        "model.backoff_s=0.01", "model.timeout_s=2", "arch=bm25", "gate=open",
    )  # fmt: skip


def _holds(path: Path) -> bool:
    return MARKER in path.name or (path.is_file() and MARKER.encode() in path.read_bytes())


_DROP: Final = 24
"""`PR_CAPBSET_DROP` of Linux's prctl."""
_OVERRIDES: Final = (1, 2)
"""`CAP_DAC_OVERRIDE` and `CAP_DAC_READ_SEARCH`: what lets root write where modes forbid it."""


def _bound(file_bytes: int | None, may_write: bool) -> None:
    if not may_write:
        for capability in _OVERRIDES:
            ctypes.CDLL(None).prctl(_DROP, capability, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    if file_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))


def _plain(line: str) -> str:
    for pattern, name in _PLACES:
        line = pattern.sub(name, line)
    return line.strip()[:_LONGEST]
