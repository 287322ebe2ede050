"""`tracking.json`: which MLflow run a directory went to, so that nothing is made twice."""

from __future__ import annotations

import dataclasses
import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

TRACKING: Final = "tracking.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Where a directory was uploaded to. `complete` is False while anything may be missing there.

    uri : the store, without credentials.
    token : marks a sweep's parent run, and is written before the run is made: when the process dies
        in between, the next one finds the run by it. A run directory has its head hash for that.
    """

    uri: str
    experiment_id: str = ""
    run_id: str = ""
    token: str = ""
    complete: bool = False


def read_record(directory: Path) -> Record | None:
    """The record of a directory; None when there is none that can be read."""
    try:
        return Record(**json.loads((directory / TRACKING).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def write_record(directory: Path, record: Record) -> None:
    """Write the record in one step, its draft outside: a sealed directory gets no other file."""
    draft = directory.with_name(f".{directory.name}.{os.getpid()}.{TRACKING}")
    draft.write_text(json.dumps(dataclasses.asdict(record), indent=2) + "\n", encoding="utf-8")
    draft.replace(directory / TRACKING)


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold a directory against other processes; the lock goes with its holder."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
