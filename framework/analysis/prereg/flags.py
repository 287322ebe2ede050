"""What lessens a pre-registration: a file that changed, a run before its lock, a late addition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from framework.store.hypotheses import Hypothesis, Preregistration, parse
from framework.store.register import Lock
from framework.text.canonical import digest


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """What of a run matters to a pre-registration.

    `began` is ``None``, and `prereg` too, for rows that no run of ours recorded.
    """

    name: str
    began: datetime | None
    prereg: Mapping[str, Any] | None
    seed: int | None
    data_digest: str | None
    n_errors: int = 0


def flags(plan: Preregistration, entries: Sequence[Lock], runs: Sequence[RunInfo]) -> list[str]:
    """Everything that is not as it should be, one line each; empty for a clean pre-registration.

    The first lock under the file's name is the pre-registration; what was locked later amends it.
    """
    own = [entry for entry in entries if entry.name == plan.name]
    if not own:
        return [
            f"{plan.name} was never locked: nothing here was predicted",
            *_runs(plan, None, runs),
        ]
    first = own[0]
    found = []
    if len(own) > 1:
        found.append(
            f"{plan.name} was locked {len(own)} times; the first, {_when(first)}, is what counts"
        )
    if plan.digest != first.digest:
        found.append(f"{plan.name} changed since it was locked, {_when(first)}")
        found += _differences(parse(first.name, first.content), plan)
    return found + list(_runs(plan, first, runs))


def _differences(locked: Preregistration, now: Preregistration) -> Iterator[str]:
    before = {h.name: h for h in locked.hypotheses}
    after = {h.name: h for h in now.hypotheses}
    axes = {h.axis for h in locked.hypotheses}
    for axis in sorted({h.axis for h in now.hypotheses} - axes):
        yield f"axis {axis} was added after the lock"
    for name in after:
        if name not in before:
            yield f"hypothesis {name} was added after the lock: exploratory, whatever it says"
        elif after[name] != before[name]:
            yield f"hypothesis {name} changed: {_changed(before[name], after[name])}"
    for name in before:
        if name not in after:
            yield f"hypothesis {name} was dropped after the lock"
    for key in ("stop", "adjust", "seed", "data_digest", "base"):
        if getattr(locked, key) != getattr(now, key):
            yield f"{key} changed: {getattr(locked, key)} -> {getattr(now, key)}"


def _changed(before: Hypothesis, after: Hypothesis) -> str:
    return ", ".join(
        f"{key} {getattr(before, key)} -> {getattr(after, key)}"
        for key in Hypothesis.__dataclass_fields__
        if getattr(before, key) != getattr(after, key)
    )


def _runs(plan: Preregistration, first: Lock | None, runs: Sequence[RunInfo]) -> Iterator[str]:
    for run in runs:
        if run.began is None:
            yield f"{run.name}: recorded rows: when they were measured can't be checked"
            continue
        if first is not None and run.began < first.time:
            yield f"{run.name} began {run.began:%Y-%m-%d %H:%M:%S}, before the lock, {_when(first)}"
        if not run.prereg:
            yield f"{run.name} does not name the pre-registration"
        elif first is not None and digest(run.prereg) != first.digest:
            yield f"{run.name} names another content than was locked"
        if plan.seed is not None and run.seed != plan.seed:
            yield f"{run.name} has seed {run.seed}, registered was {plan.seed}"
        if plan.data_digest is not None and run.data_digest != plan.data_digest:
            yield f"{run.name} ran on other data than was registered"


def _when(entry: Lock) -> str:
    return f"{entry.time:%Y-%m-%d %H:%M:%S} UTC"
