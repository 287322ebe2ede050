"""The register of held-out cases opened: append-only and hash-chained, beside the runs.

Held-out cases judge what was chosen without them, once. Whoever opens them writes so here first,
whatever forks or runs again; and keeps the register's last hash in the run's own journal, so that
a register that was taken away, shortened or rewritten is found out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from framework.errors import DataError
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
        entries = _entries(path)
        same = [entry for entry in entries if entry.payload["digest"] == opened]
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


def flags(opening: Mapping[str, Any], path: Path | None = None) -> Iterator[str]:
    """What speaks against one opening, as `register` returned it, in a sentence each.

    The cases had been opened before; and, where `path` names a register, they were since, or it is
    missing, damaged, or no longer holds the entry.
    """
    if opening["number"] > 1:
        yield f"TEST had been opened before, by {', '.join(opening['before'])}"
    if path is None:
        return
    try:
        entries = _entries(path)
    except DataError as error:
        yield f"the register of what was opened is damaged: {error}"
        return
    if not entries:
        yield f"the register {path.name} is missing: whether TEST was opened again can't be told"
        return
    own = next((entry for entry in entries if entry.hash == opening["head"]), None)
    if own is None:
        yield f"the register {path.name} lacks this opening of TEST: shortened or rewritten"
        return
    later = [
        entry.payload["run"]
        for entry in entries
        if entry.seq > own.seq and entry.payload["digest"] == opening["digest"]
    ]
    if later:
        yield f"TEST was opened again since, by {', '.join(later)}"


def _entries(path: Path) -> list[JournalEvent]:
    return list(read(path)) if path.exists() else []
