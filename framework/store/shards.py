"""Shards of a run, each a finished run directory, merged into the run directory of the whole.

The whole has a chain of its own with every row and record of its shards, and keeps the shards in
`shards/`, under its seal. What it begins with names each shard and the last hash of its journal.
"""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from framework.errors import UserError
from framework.records import Row
from framework.rows import from_plain
from framework.store.answers import whole_answers
from framework.store.chain import read
from framework.store.directory import JOB_LOG, RunDirectory, drafted
from framework.store.journal import Clock, utc_now
from framework.store.seal import ENDS, JOURNAL, RECORD, verify_run
from framework.store.segments import CONTINUED
from framework.store.state import State, data_differ, first_event, load_finished, protocol_events
from framework.text.canonical import canonical_bytes, digest
from framework.text.reading import read_json

SHARDS: Final = "shards"
"""In a merged run the directory of its shards; in its first event what they were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """A row as compressed JSON, since a merge holds all, and where its record stands in answers."""

    packed: bytes
    start: int
    end: int

    @property
    def row(self) -> Row:
        return from_plain(read_json(zlib.decompress(self.packed)))


def merge(
    path: Path,
    started: Mapping[str, Any],
    manifest: Mapping[str, Any],
    shards: Sequence[Path],
    place: Callable[[Row], Any],
    clock: Clock = utc_now,
) -> None:
    """Make at `path`, in one step, a run that has all rows of its shards and only lacks its end.

    started, manifest : as `RunDirectory.create` takes them. place : the key by which rows and
    records are ordered. Raises UserError, with nothing written, for a shard that is unfinished or
    damaged or was begun on other data, a row that two of them have, and a `path` that is there.
    """
    told = []
    rows: dict[tuple[Any, ...], tuple[Any, Path, _Held]] = {}
    for shard in shards:
        state = load_finished(shard)
        for problem in verify_run(shard).problems:
            raise UserError(f"{shard}: {problem}")
        assert state.finished is not None
        if differ := data_differ(state.started.get("data"), started.get("data")):
            raise UserError(f"{shard} was begun on other data than the whole: {differ}")
        own: dict[tuple[Any, ...], tuple[Any, Path, _Held]] = {}
        for plain, _, start, end in _rows(shard):
            row = from_plain(plain)
            held = _Held(packed=zlib.compress(canonical_bytes(plain), 1), start=start, end=end)
            own[row.key] = place(row), shard, held  # of a case that was run again the last
        for key in own.keys() & rows.keys():
            raise UserError(f"{shard} has a row of {rows[key][1]} too: case {key[0]}")
        rows |= own
        told.append({"name": shard.name, "identity": state.started["identity"],
                     "head": state.finished["hash"], "rows": len(state.rows)})  # fmt: skip
    with drafted(path) as draft:
        for shard in shards:
            copied = draft / SHARDS / shard.name
            left = shutil.ignore_patterns(JOB_LOG)
            shutil.copytree(shard, copied, copy_function=_link, ignore=left)
        run = RunDirectory.begun_in(draft, {**started, SHARDS: told}, manifest, clock=clock)
        for shard in shards:
            for event in protocol_events(shard):
                run.write_event(event.type, event.payload)
        with ExitStack() as opened:
            answers = {shard: opened.enter_context(whole_answers(shard)) for shard in shards}
            for _, shard, held in sorted(rows.values(), key=lambda found: found[0]):
                run.add(held.row, _record(answers[shard], held))
        run.close()


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
    for row, record, _, _ in _rows(path):
        key = from_plain(row).key
        if not (first and key in found):
            found[key] = digest([row, record])
    return found


def _rows(path: Path) -> Iterator[tuple[dict[str, Any], str, int, int]]:
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


def _record(answers: BinaryIO, held: _Held) -> dict[str, Any]:
    answers.seek(held.start)
    record: dict[str, Any] = read_json(answers.read(held.end - held.start))
    return record


def _link(source: str, target: str) -> None:
    """The same file under another name, or a copy where the file system has no such thing."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
