"""Shards of a run, each a finished run directory, merged into the run directory of the whole.

The whole has a chain of its own with every row and record of its shards, and keeps the shards in
`shards/`, under its seal. What it begins with names each shard and the last hash of its journal.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from framework.rows import from_plain
from framework.store.chain import read
from framework.store.seal import ENDS, JOURNAL, RECORD, verify_run
from framework.store.segments import CONTINUED
from framework.store.state import State, first_event
from framework.text.canonical import digest

SHARDS: Final = "shards"
"""In a merged run the directory of its shards; in its first event what they were."""


def began(state: State) -> str:
    """When a run was begun; of a merged one, when the first of its shards was."""
    places = [state.path / SHARDS / shard["name"] for shard in state.started.get(SHARDS, ())]
    there = [place for place in places if (place / JOURNAL).is_file()]
    return min([state.began, *(first_event(place).time for place in there)])


def problems_of(path: Path) -> Iterator[str]:
    """Where a run is not what its shards give, or they are not what it says; a line each.

    Nothing is said of a run that was not merged. Raises UserError where there is no run.
    """
    known = first_event(path).payload.get(SHARDS)
    if known is None:
        return
    given: dict[tuple[Any, ...], str] = {}
    sound = True
    for shard in known:
        name = f"{SHARDS}/{shard['name']}"
        if not (path / name / JOURNAL).is_file():
            yield f"{name}: missing"
            sound = False
            continue
        for problem in verify_run(path / name, shard["head"]).problems:
            yield f"{name}: {problem}"
            sound = False
        if sound:
            given |= _digests(path / name)
    if not sound:
        return
    # The first of a case that was run again after the merge.
    whole = _digests(path, first=True)
    for case in sorted({key[0] for key, said in given.items() if whole.get(key) != said}):
        yield f"{JOURNAL}: case {case} is not as its shard has it"
    for case in sorted({key[0] for key in whole.keys() - given.keys()}):
        yield f"{JOURNAL}: case {case} is of no shard"


def _digests(path: Path, *, first: bool = False) -> dict[tuple[Any, ...], str]:
    """By key the digest of a row and its record: of one that was run again the first, or last."""
    found: dict[tuple[Any, ...], str] = {}
    for row, record, _, _ in rows_of(path):
        key = from_plain(row).key
        if not (first and key in found):
            found[key] = digest([row, record])
    return found


def rows_of(path: Path) -> Iterator[tuple[dict[str, Any], str, int, int]]:
    """Each row of a run as JSON data, its record's digest, and where that stands in all answers."""
    start = before = 0
    for event in read(path / JOURNAL):
        if event.type == CONTINUED:
            before = start
        if event.type != "case.finished":
            continue
        end = before + event.payload[ENDS]
        yield event.payload["row"], event.payload[RECORD], start, end
        start = end
