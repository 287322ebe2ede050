"""Checkpoints: what the events of a closed segment tell of a run's state, without its records.

    segments/state-000001.jsonl.gz    {"payload":{"row":{...}},"type":"case.finished"}

Who wants the state of a long run reads these and the open journal. A checkpoint begins as its
segment does, with the digests of the files before it. Older runs have none: their journal is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from framework.errors import DataError
from framework.store.chain import Chain, read
from framework.store.event import GENESIS
from framework.store.segments import STATE, close_segment, follows, name_of, segment, unpacked
from framework.text.canonical import canonical_bytes, digest_entry
from framework.text.reading import read_json

_ENGINE: Final = ("run.", "journal.")
"""Events of these names tell of the state, and those of cases by their rows."""
_ROW: Final = b'{"payload":{"row":'
"""How the line of a case begins."""


class Told(NamedTuple):
    """What an event tells; hash and time are "" where it was read from a checkpoint."""

    type: str
    payload: Mapping[str, Any]
    hash: str = ""
    time: str = ""


def line_of(type_: str, payload: Mapping[str, Any]) -> bytes:
    """The line of an event in a checkpoint; empty for one that tells nothing of the state."""
    if type_ == "case.finished":
        payload = {"row": payload["row"]}
    elif not type_.startswith(_ENGINE):
        return b""
    return b'{"payload":%b,"type":"%b"}\n' % (canonical_bytes(payload), type_.encode())


def close_checkpoint(journal: Path, number: int) -> dict[str, str]:
    """Write the checkpoint of what stands in the open journal; see `close_segment`."""
    with journal.open("rb") as file:
        events = map(read_json, file)
        lines = (line_of(event["type"], event["payload"]) for event in events)
        return close_segment(journal.with_name(STATE), number, lines)


def has_checkpoints(journal: Path, number: int) -> bool:
    """Whether each closed segment of a run has one, up to a number."""
    numbers = range(1, number + 1)
    return all(segment(journal.with_name(STATE), n).exists() for n in numbers)


def told(journal: Path, *, rows: bool = True) -> Iterator[Told]:
    """What the events of a journal tell of the state, in order, and every event of the open one.

    rows : False leaves out those of checkpoints.

    Raises as `framework.store.read`, and DataError for a checkpoint that is not the one closed.
    """
    with journal.open("rb") as file:  # now: its writer may close a segment at any time
        number, n_events, head = follows(file.readline()) or (0, 0, GENESIS)
        if number and has_checkpoints(journal, number):
            file.seek(0)
            chain = Chain(file, str(journal), n_events, head)
            for at, event in enumerate(chain):
                if at == 0:
                    yield from _closed(journal, number, event.payload, rows)
                yield Told(event.type, event.payload, event.hash, event.time)
            if chain.last is None:
                raise DataError(journal, 1, "cut off")
            return
    yield from (Told(e.type, e.payload, e.hash, e.time) for e in read(journal))


def _closed(journal: Path, number: int, after: Mapping[str, Any], rows: bool) -> Iterator[Told]:
    """What the checkpoints up to a number hold; `after` is the `journal.continued` after them."""
    paths = [segment(journal.with_name(STATE), n) for n in range(1, number + 1)]
    for path in reversed(paths):  # each is checked before anything is read of it
        files = after.get("files")
        if not isinstance(files, dict) or files.get(name_of(path)) != digest_entry(path):
            raise DataError(path, None, "not the checkpoint that was closed")
        with unpacked(path) as lines:
            after = _event(path, lines.readline()).payload
    for path in paths:
        with unpacked(path) as lines:
            yield from (_event(path, line) for line in lines if rows or not line.startswith(_ROW))


def _event(path: Path, line: bytes) -> Told:
    try:
        event = Told(**read_json(line))
    except (ValueError, TypeError):  # told below, as what is no event at all is
        event = None
    if event is None or not isinstance(event.payload, dict):
        raise DataError(path, None, "holds a line of no checkpoint")
    return event
