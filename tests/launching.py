"""Calling the two command lines in this process, and what a place holds before and after."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import run as command
from framework import cli

QUESTIONS = Path(__file__).resolve().parent / "fixtures" / "hotpotqa" / "questions.json"
HOTPOT = (
    "domain=hotpotqa",
    f"domain.path={QUESTIONS}",
    "domain.unknown_file=true",
    "protocol=retrieve",
    "tracking=none",
    "report=false",
)
"""Six questions, no model: the shortest real run."""
LOAN = ("domain=loan", "tracking=none", "report=false")


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a command printed and its exit status."""

    status: int
    out: str
    err: str

    @property
    def directory(self) -> Path:
        """The directory named by the last line of stdout, `run: DIR` or `sweep: DIR`."""
        word, _, path = self.out.splitlines()[-1].partition(": ")
        assert word in ("run", "sweep"), self.out
        return Path(path)

    @property
    def mistake(self) -> str:
        """The message of a user's mistake: one line on stderr, nothing on stdout, status 2."""
        assert self.status == 2, (self.status, self.out, self.err)
        assert self.out == ""
        assert self.err.startswith("error: ")
        assert self.err.count("\n") == 1
        assert self.err.endswith("\n")
        return self.err.removeprefix("error: ").rstrip("\n")


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> Done:
    """`python run.py ...`, the jobs of a sweep in this process unless a launcher is chosen."""
    capsys.readouterr()
    chosen = any(word.startswith(("hydra/launcher", "hydra.launcher")) for word in argv)
    status = command.main(argv if chosen else [*argv, "hydra.launcher.workers=1"])
    out, err = capsys.readouterr()
    return Done(status=status, out=out, err=err)


def framework(capsys: pytest.CaptureFixture[str], *argv: str) -> Done:
    """`python -m framework ...`."""
    capsys.readouterr()
    status = cli.main(argv)
    out, err = capsys.readouterr()
    return Done(status=status, out=out, err=err)


def everything_in(place: Path) -> dict[str, bytes]:
    """The content of every file below a place, and its directories as empty ones."""
    return {
        str(path.relative_to(place)): path.read_bytes() if path.is_file() else b""
        for path in place.rglob("*")
    }


def read_json(path: Path) -> Any:
    """A JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def check_runs(
    capsys: pytest.CaptureFixture[str],
    domain: str,
    path: Path,
    *words: str,
    retrieved_by: str = "bm25",
) -> None:
    """That a domain retrieves by this arm, and answers from the whole history."""
    words = (f"domain={domain}", f"domain.path={path}", *words, "tracking=none", "report=false")
    assert run(capsys, *words, f"arch={retrieved_by}", "protocol=retrieve").status == 0
    assert run(capsys, *words, "arch=full_context").status == 0
