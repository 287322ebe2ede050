"""Merging finished shards into the run directory of the whole."""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from framework.errors import UserError
from framework.records import Row
from framework.rows import from_plain
from framework.store.answers import whole_answers
from framework.store.directory import JOB_LOG, RunDirectory, drafted
from framework.store.seal import verify_run
from framework.store.shards import SHARDS, rows_of
from framework.store.state import data_differ, load_finished, protocol_events
from framework.text.canonical import canonical_bytes
from framework.text.reading import read_json


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
        for plain, _, start, end in rows_of(shard):
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
        run = RunDirectory.begun_in(draft, {**started, SHARDS: told}, manifest)
        for shard in shards:
            for event in protocol_events(shard):
                run.write_event(event.type, event.payload)
        with ExitStack() as opened:
            answers = {shard: opened.enter_context(whole_answers(shard)) for shard in shards}
            for _, shard, held in sorted(rows.values(), key=lambda found: found[0]):
                run.add(held.row, _record(answers[shard], held))
        run.close()


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
