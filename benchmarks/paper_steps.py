"""What is known of each command behind the papers' rows: whether it ran, when, where, how long.

`runs/papers/steps.json` keeps it between calls of `make papers`. A step is a sweep, or a recipe's
page; its seconds are of all the calls that it took.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, get_args

from framework.errors import UserError
from framework.store.atomic import write_text

CHANGED: Final = "+"
"""Behind a commit: files that are tracked differed from it."""

State = Literal["ran", "failed", "not run"]


@dataclass(slots=True, kw_only=True)
class Step:
    """A command.

    commits : at which it ran until it was complete, in order. seconds : of CPU. made : when it was
    complete, in UTC to the second; "" before. problem : why it failed, "" where it did not.
    open : a call of it is not at its end. cut : how many calls never came to theirs; nobody counted
    their seconds. cases : of a quick test; None for the command as it is.
    """

    commits: list[str] = field(default_factory=list)
    seconds: float = 0.0
    made: str = ""
    problem: str = ""
    open: bool = False
    cut: int = 0
    cases: int | None = None

    @property
    def state(self) -> State:
        """A quick test of fewer cases has not run the command."""
        if self.problem:
            return "failed"
        return "ran" if self.made and self.cases is None else "not run"

    @property
    def at(self) -> str:
        """The commits."""
        return ", ".join(self.commits)

    @property
    def minute(self) -> str:
        """When it was complete, as a table says it; "" where it is not."""
        return self.made[: len("YYYY-MM-DD HH:MM")] if self.state == "ran" else ""

    @property
    def took(self) -> str:
        """Seconds of CPU; behind `>` where a call was cut off, whose seconds nobody counted."""
        return f"{'>' if self.cut else ''}{self.seconds:,.1f}"

    def begin(self, commit: str, cases: int | None) -> None:
        """Before a call. What is complete keeps its commits."""
        self.cut += self.open
        self.open, self.cases, self.problem = True, cases, ""
        if not self.made and commit not in self.commits:
            self.commits.append(commit)

    def end(self, seconds: float, problem: str, now: datetime | None = None) -> None:
        """After it. What was complete before keeps its time, and its seconds."""
        self.open, self.problem = False, problem
        if not self.made:
            self.seconds += seconds
            if not problem:
                self.made = (now or datetime.now(UTC)).strftime("%Y-%m-%d %H:%M:%S")


@dataclass(slots=True)
class Steps:
    """All steps, by name; the file is written at every change."""

    path: Path
    known: dict[str, Step] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path) -> Steps:
        """Those of a file; none without it. Raises UserError for another kind of file."""
        if not path.exists():
            return cls(path)
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            return cls(path, {name: Step(**found) for name, found in raw.items()})
        except (ValueError, TypeError, AttributeError) as error:
            raise UserError(f"{path}: not a record of steps: {error}") from None

    def begin(self, name: str, commit: str, cases: int | None = None) -> Step:
        """The step, with a call of it begun."""
        step = self.known.setdefault(name, Step())
        step.begin(commit, cases)
        self.save()
        return step

    def end(self, name: str, seconds: float, problem: str) -> None:
        """The end of that call."""
        self.known[name].end(seconds, problem)
        self.save()

    def save(self) -> None:
        """Write the file whole, or not at all."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_text(self.path, text_of(self.known))

    def of_names(self, names: Iterable[str]) -> list[Step]:
        """The steps of these names; an empty one for what never began."""
        return [self.known.get(name, Step()) for name in names]


def text_of(known: Mapping[str, Step]) -> str:
    """As JSON, by name; seconds to a tenth."""
    rows = {n: {**asdict(s), "seconds": round(s.seconds, 1)} for n, s in sorted(known.items())}
    return json.dumps(rows, indent=1) + "\n"


def commit_of(root: Path) -> str:
    """The commit of a checkout, with `CHANGED` behind it where tracked files differ from it."""

    def asked(*words: str) -> str:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True)
        return done.stdout.strip()

    commit = asked("rev-parse", "--short=8", "HEAD") or "no commit"
    return commit + (CHANGED if asked("status", "--porcelain", "--untracked-files=no") else "")


def together(steps: Iterable[Step]) -> str:
    """How a row's steps stand: `ran`, `failed`, `not run`, or how many of each; – without steps."""
    states = [step.state for step in steps]
    if not states:
        return "–"
    if len(set(states)) == 1:
        return states[0]
    counts = {state: states.count(state) for state in get_args(State)}
    return ", ".join(f"{count} {state}" for state, count in counts.items() if count)
