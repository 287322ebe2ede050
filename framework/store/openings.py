"""The register of held-out cases opened: append-only and hash-chained, beside the runs.

Held-out cases judge what was chosen without them, once. Whoever opens them writes so here first,
whatever forks or runs again; and keeps the register's last hash in the run's own journal, so that
a register that was taken away, shortened or rewritten is found out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from framework.store import JOURNAL, Clock, JournalEvent, read, utc_now
from framework.store.directory import SWEEP_PLAN
from framework.store.register import alone, journal_at

OPENINGS: Final = "openings.jsonl"
"""Lies where the run directories lie, those of sweeps among them."""
OPENED: Final = "heldout.opened"


def register(opened: str, run: Path, *, clock: Clock = utc_now) -> dict[str, Any]:
    """Write that a run opens the held-out cases of this digest; once a run, however often resumed.

    Returns `digest`, `number` (1 for the first run that opens them), `before` (names of the runs
    that had opened them) and `head`, the hash of the entry.

    Raises UserError where the register can't be written, DataError (file, line) where it is
    damaged.
    """
    began, path = next(read(run / JOURNAL)).hash, register_of(run)
    with alone(path):
        known = entries(path)
        same = [entry for entry in known if entry.payload["digest"] == opened]
        own = next((entry for entry in same if entry.payload["began"] == began), None)
        if own is None:
            with journal_at(path, clock) as journal:
                own = journal.append(OPENED, {"digest": opened, "run": run.name, "began": began})
        before = [entry.payload["run"] for entry in same if entry.seq < own.seq]
    return {"digest": opened, "number": len(before) + 1, "before": before, "head": own.hash}


def register_of(run: Path) -> Path:
    """The register that holds the openings of a run, a job of a sweep, or a sweep."""
    inside = (run.absolute().parent / SWEEP_PLAN).exists()
    return (run.absolute().parents[1] if inside else run.absolute().parent) / OPENINGS


def entries(path: Path) -> list[JournalEvent]:
    """The entries of a register, none where there is no file. Raises DataError for damage."""
    return list(read(path)) if path.exists() else []
